package draft

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// list returns the listed nodes as changes.
func (d *Draft) list(nodes []node) Changes {
	c := Changes{Root: d.info.Roots[0], State: d.info.State, Changes: []Change{}}
	if len(d.info.Roots) > 1 {
		c.Roots = d.info.Roots
	}
	sorted := listedNodes(nodes)
	slices.SortFunc(sorted, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.root, b.root), strings.Compare(a.rel, b.rel))
	})
	h := sha256.New()
	for _, n := range sorted {
		c.Changes = append(c.Changes, d.change(n))
		up := n.up
		if up.isWhiteout() { // one inode for all
			up = stat{Mode: up.Mode}
		}
		fmt.Fprintf(h, "%d %q %s %q %v %d %v\n", n.root, n.rel, n.kind, n.conflict, up.version(), up.Mtime, n.low.version())
	}
	c.ID = hex.EncodeToString(h.Sum(nil)[:12])
	return c
}

// listedNodes returns the nodes that are changes.
func listedNodes(nodes []node) (listed []*node) {
	for i := range nodes {
		if nodes[i].isListed() {
			listed = append(listed, &nodes[i])
		}
	}
	return listed
}

// change returns a node as a change.
func (d *Draft) change(n *node) Change {
	of := n.up
	if n.kind == Deleted {
		of = n.low
	}
	c := Change{
		Path: n.rel, Kind: n.kind, Type: of.typeName(), Size: of.Size, Mode: fmt.Sprintf("%04o", of.permission()),
		During: slices.Clone(n.during), LinkBroken: n.linkBroken,
	}
	if c.Path == "" {
		c.Path = "."
	}
	if of.isDir() {
		c.Size = 0
	}
	if n.root > 0 {
		c.Root = d.info.Roots[n.root]
	}
	if n.conflict != "" {
		c.Conflict = &n.conflict
	}
	return c
}

// target is a path that a caller has named.
type target struct {
	root int
	rel  string
}

// targets resolves paths as callers name them.
func (d *Draft) targets(paths []string) (all []target, err error) {
	for _, p := range paths {
		t, ok := d.target(p)
		if !ok {
			return nil, fmt.Errorf("draft: path %q is outside the roots (%s)", p, strings.Join(d.info.Roots, ", "))
		}
		all = append(all, t)
	}
	return all, nil
}

func (d *Draft) target(path string) (target, bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.info.Roots[0], path)
	}
	path = filepath.Clean(path)
	for i, r := range d.info.Roots {
		if beneath(path, r) {
			return target{i, strings.TrimPrefix(strings.TrimPrefix(path, r), "/")}, true
		}
	}
	return target{}, false
}

// contains reports whether a path is the target or in it.
func (t target) contains(root int, rel string) bool {
	return t.root == root && (t.rel == "" || beneath(rel, t.rel))
}

// choose returns the listed nodes that the paths select, in the order of the walk. Without paths, it returns all. With parents, it
// includes directories that the draft made, or made from other files, above a selected path. It includes the other files of
// a selected SQLite database.
func (d *Draft) choose(nodes []node, paths []string, parents bool) (chosen []*node, err error) {
	listed := listedNodes(nodes)
	if len(paths) == 0 {
		return listed, nil
	}
	ts, err := d.targets(paths)
	if err != nil {
		return nil, err
	}
	in := map[*node]bool{}
	used := make([]bool, len(ts))
	bases := map[pathKey]bool{}
	for _, n := range listed {
		for i, t := range ts {
			if t.contains(n.root, n.rel) {
				in[n], used[i] = true, true
				base, _ := databaseOf(n.rel)
				bases[pathKey{n.root, base}] = true
			}
		}
	}
	for i, t := range used {
		if !t {
			return nil, fmt.Errorf("%w: %q", ErrNoChange, paths[i])
		}
	}
	above := map[pathKey]bool{}
	for _, n := range listed {
		if base, _ := databaseOf(n.rel); bases[pathKey{n.root, base}] {
			in[n] = true
		}
		if in[n] && parents {
			for dir, _ := split(n.rel); dir != ""; dir, _ = split(dir) {
				above[pathKey{n.root, dir}] = true
			}
		}
	}
	for _, n := range listed {
		if in[n] || n.up.isDir() && !n.low.isDir() && above[pathKey{n.root, n.rel}] {
			chosen = append(chosen, n)
		}
	}
	return chosen, nil
}
