package draft

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"golang.org/x/sys/unix"
)

// add adds an entry of the tree. rel is relative to the tree's root. own reports that this commit has changed the entry's ctime.
func (t *treeState) add(rel string, s stat, own bool) {
	if s.isDir() {
		s.Size, s.Mtime, s.Ctime = 0, 0, 0
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %o %d %d %d", rel, s.Mode, s.Ino, s.Size, s.Mtime)
	t.Hash += h.Sum64()
	if !own {
		t.Newest = max(t.Newest, s.Ctime)
	}
}

// walkTree calls visit with a file or directory and all in it, until visit returns false.
func walkTree(ctx context.Context, dir int, name, rel string, s stat, visit func(rel string, s stat) bool) (more bool, err error) {
	if !visit(rel, s) {
		return false, nil
	}
	if !s.isDir() {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	fd, err := openDir(dir, name)
	if err != nil {
		return false, err
	}
	defer closeFD(fd)
	all, err := names(fd)
	if err != nil {
		return false, err
	}
	for _, child := range all {
		c, err := statAt(fd, child)
		if err != nil {
			return false, err
		}
		if !c.exists() {
			continue
		}
		if more, err := walkTree(ctx, fd, child, join(rel, child), c, visit); err != nil || !more {
			return more, err
		}
	}
	return true, nil
}

// removesTree reports whether a change removes a directory of the root with all in it.
func (n *node) removesTree() bool { return n.low.isDir() && n.kind != "" && !n.up.isDir() }

// treeOf returns the state of the tree that a change removes, as the scan has seen it, or nil. If the scan did not read all of
// it, since it conflicts, the state is read now.
func (d *Draft) treeOf(ctx context.Context, n *node) (*treeState, error) {
	if n.tree != nil || !n.removesTree() {
		return n.tree, nil
	}
	dir, name := split(n.rel)
	low, err := openIn(d.info.Roots[n.root], dir)
	if err != nil {
		return nil, err
	}
	defer closeFD(low)
	t := &treeState{}
	n.links = nil
	_, err = walkTree(ctx, low, name, "", n.low, func(rel string, s stat) bool {
		t.add(rel, s, false)
		if rel != "" && s.isFile() && s.Nlink > 1 {
			n.links = append(n.links, link{join(n.rel, rel), s})
		}
		return true
	})
	return t, err
}

// link is one name of a file with several names.
type link struct {
	rel  string
	stat stat
}

// linkedNames returns the names of files with several names that a change replaces or removes.
func (n *node) linkedNames() []link {
	if n.low.isFile() && n.low.Nlink > 1 {
		return []link{{n.rel, n.low}}
	}
	return n.links
}

// linkedFiles returns the hard-linked files for which the chosen changes replace or remove a name, if the draft replaces
// or removes more than one of their names.
func linkedFiles(nodes []node, chosen []*node) (list []linkedFile) {
	all, ours := map[linkKey]int{}, map[linkKey]stat{}
	for i := range nodes {
		for _, l := range nodes[i].linkedNames() {
			all[linkKey{nodes[i].root, l.stat.Ino}]++
		}
	}
	for _, n := range chosen {
		for _, l := range n.linkedNames() {
			ours[linkKey{n.root, l.stat.Ino}] = l.stat
		}
	}
	for k, s := range ours {
		if all[k] > 1 {
			list = append(list, linkedFile{k.root, k.ino, s.Mode, s.Size, s.Mtime})
		}
	}
	return list
}

// checkTree returns a conflict if a tree that the commit removes is not what the plan has. The tree may have a temporary name.
func (a *applier) checkTree(n *node, low int, name string) error {
	want := a.plan.steps[pathKey{n.root, n.rel}].Tree
	if want == nil {
		return nil
	}
	l, err := statAt(low, name)
	if err != nil {
		return err
	}
	var now treeState
	_, err = walkTree(a.ctx, low, name, "", l, func(rel string, s stat) bool {
		now.add(rel, s, a.changesCtime(n.root, s))
		return true
	})
	if err != nil && !isNoDir(err) {
		return err
	}
	if err == nil && now.Hash == want.Hash && now.Newest <= want.Newest {
		return nil
	}
	n.conflict = changedOutside + " during the commit"
	return &ConflictError{Changes: []Change{a.d.change(n)}}
}

// putBack renames a tree back to its name. If the name exists again, the tree stays, and the error has its name.
func (a *applier) putBack(n *node, low int, temp, name string, cause error) error {
	err := unix.Renameat2(low, temp, low, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system cannot exclude a new file
		err = unix.Renameat(low, temp, low, name)
	}
	if err == nil {
		return cause
	}
	a.keepTemps[temp] = true
	dir, _ := split(n.rel)
	return errors.Join(cause, fmt.Errorf("%q is now %q: %w", n.rel, join(dir, temp), &os.PathError{Op: "rename", Path: temp, Err: err}))
}

// checkLeftover returns an error for a tree at a temporary name that a crash has left and in which files are newer than
// in the plan.
func (a *applier) checkLeftover(root, fd int, rel, name string) error {
	l, err := statAt(fd, name)
	if err != nil || !l.isDir() {
		return err
	}
	var newest int64
	for _, s := range a.plan.steps {
		if s.Tree != nil && s.Root == root {
			newest = max(newest, s.Tree.Newest)
		}
	}
	all, err := walkTree(a.ctx, fd, name, "", l, func(_ string, s stat) bool {
		return s.isDir() || s.Ctime <= newest || a.changesCtime(root, s)
	})
	if err != nil || all {
		return nil // what cannot be read is of the removed tree
	}
	a.keepTemps[name] = true
	return fmt.Errorf("%q: files in this removed directory were "+changedOutside+"; it is kept, move them", join(rel, name))
}
