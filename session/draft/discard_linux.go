package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Discard removes changes, and leaves the roots as they are. Without paths it removes the draft and its directory; changes that
// an interrupted commit has applied stay applied. It returns ErrMounted if the session is running.
func (d *Draft) Discard(ctx context.Context, paths ...string) (res Result, err error) {
	unlock, err := d.lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	if d.isMounted() {
		return Result{}, ErrMounted
	}
	s, err := d.scan(ctx, nil)
	if len(paths) == 0 {
		if err == nil { // the rest of a draft that was being removed has no changes to list
			res.ID = d.list(s.nodes).ID
			for _, n := range listedNodes(s.nodes) {
				res.add(d, n, false)
			}
		}
		res.Empty = true
		return res, d.removeAll()
	}
	if err != nil {
		return Result{}, err
	}
	chosen, err := d.choose(s.nodes, paths, false)
	if err != nil {
		return Result{}, err
	}
	res.ID, res.Empty = d.list(s.nodes).ID, len(chosen) == len(listedNodes(s.nodes))
	x := &discarder{d: d, res: &res, dirs: map[pathKey]*node{}}
	if err := x.run(s.nodes, chosen); err != nil {
		return res, fmt.Errorf("draft: discard: %w", err)
	}
	for key := range d.seen.paths {
		if slices.ContainsFunc(chosen, func(n *node) bool { return n.root == key.root && beneath(key.path, n.rel) }) {
			d.seen.forget(key)
		}
	}
	return res, d.saveSeen()
}

// removeAll removes the draft's directory, draft.json last, so that an interrupted Discard can be repeated.
func (d *Draft) removeAll() error {
	dir, err := openRoot(d.dir)
	if err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	defer closeFD(dir)
	all, err := names(dir)
	if err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	for _, name := range append(slices.DeleteFunc(all, func(n string) bool { return n == infoName || n == lockName }), infoName, lockName) {
		if err := removeTree(dir, name); err != nil {
			return fmt.Errorf("draft: remove %s: %w", filepath.Join(d.dir, name), err)
		}
	}
	if err := os.Remove(d.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("draft: %w", err)
	}
	return nil
}

// discarder removes entries from upper directories.
type discarder struct {
	d    *Draft
	res  *Result
	dirs map[pathKey]*node // all directories, by path
}

// run discards the chosen nodes.
func (x *discarder) run(nodes []node, chosen []*node) error {
	in := map[pathKey]bool{}
	for _, n := range chosen {
		in[pathKey{n.root, n.rel}] = true
	}
	for i := range nodes {
		if n := &nodes[i]; n.up.isDir() {
			x.dirs[pathKey{n.root, n.rel}] = n
		}
	}
	converted := map[pathKey]bool{}
	for _, n := range chosen {
		if err := x.convertParents(n, in, converted); err != nil {
			return err
		}
	}
	for _, n := range slices.Backward(chosen) {
		if err := x.remove(n); err != nil {
			return fmt.Errorf("%q: %w", n.rel, err)
		}
		x.res.add(x.d, n, false)
	}
	return nil
}

// convertParents makes opaque directories above a discarded entry merged ones, the topmost first: only then the root's file
// shows again.
func (x *discarder) convertParents(n *node, in, converted map[pathKey]bool) error {
	var above []*node
	for dir, _ := split(n.rel); dir != ""; dir, _ = split(dir) {
		key := pathKey{n.root, dir}
		p := x.dirs[key]
		if p == nil || in[key] {
			return nil // discarded with its parent
		}
		if p.opaque && p.low.isDir() && !converted[key] {
			above = append(above, p)
		}
		converted[key] = true
	}
	for _, p := range slices.Backward(above) {
		if err := x.convert(p); err != nil {
			return fmt.Errorf("%q: %w", p.rel, err)
		}
	}
	return nil
}

// convert replaces the mark of an opaque directory by an entry for each name that it hides.
func (x *discarder) convert(p *node) error {
	r := x.d.Roots()[p.root]
	up, err := openIn(r.Upper, p.rel)
	if err != nil {
		return err
	}
	defer closeFD(up)
	low, err := openIn(r.Lower, p.rel)
	if err != nil {
		return err
	}
	defer closeFD(low)
	all, err := names(low)
	if err != nil {
		return err
	}
	for _, name := range all {
		u, err := statAt(up, name)
		if err != nil {
			return err
		}
		if !u.exists() {
			err = unix.Mknodat(up, name, unix.S_IFCHR, 0)
		} else if u.isDir() {
			err = unix.Lsetxattr(procPath(up, name), opaqueName, []byte("y"), 0)
		}
		if err != nil {
			return fmt.Errorf("hide %q: %w", name, err)
		}
	}
	if err := unix.Fremovexattr(up, opaqueName); err != nil && !errors.Is(err, unix.ENODATA) {
		return err
	}
	return nil
}

// openIn opens the directory rel in the directory with the absolute path root.
func openIn(root, rel string) (int, error) {
	fd, err := openRoot(root)
	if err != nil {
		return -1, err
	}
	defer closeFD(fd)
	return openRel(fd, rel)
}

// remove removes an entry with all in it. For the root itself, it resets the attributes.
func (x *discarder) remove(n *node) error {
	r := x.d.Roots()[n.root]
	if n.rel == "" {
		return errors.Join(copyOwnerMode(r), copyAttributes(r))
	}
	dir, name := split(n.rel)
	up, err := openIn(r.Upper, dir)
	if err != nil {
		return err
	}
	defer closeFD(up)
	err = removeTree(up, name) // for a hidden name, the entry that convert made
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	s, e := statAt(up, "")
	if e != nil || s.permission()&dirBits == dirBits {
		return err
	}
	if e := unix.Fchmod(up, s.permission()|dirBits); e != nil {
		return err
	}
	return errors.Join(removeTree(up, name), unix.Fchmod(up, s.permission()))
}

// copyAttributes sets the attributes of the upper directory to those of the root.
func copyAttributes(r Root) error {
	up, err := openRoot(r.Upper)
	if err != nil {
		return err
	}
	defer closeFD(up)
	low, err := openRoot(r.Lower)
	if err != nil {
		return err
	}
	defer closeFD(low)
	x, err := attributesAt(up, "", stat{Mode: unix.S_IFDIR}, true)
	if err != nil {
		return err
	}
	y, err := attributesAt(low, "", stat{Mode: unix.S_IFDIR}, false)
	if err != nil {
		return err
	}
	for key := range x.values {
		if _, ok := y.values[key]; ok {
			continue
		}
		if rest, ok := strings.CutPrefix(key, overlayPrefix); ok {
			key = escapePrefix + rest
		}
		if err := unix.Fremovexattr(up, key); err != nil && !errors.Is(err, unix.ENODATA) {
			return &os.PathError{Op: "removexattr " + key, Path: r.Upper, Err: err}
		}
	}
	for key, value := range y.values {
		if strings.HasPrefix(key, overlayPrefix) {
			continue
		}
		if err := unix.Fsetxattr(up, key, []byte(value), 0); err != nil {
			return &os.PathError{Op: "setxattr " + key, Path: r.Upper, Err: err}
		}
	}
	return nil
}
