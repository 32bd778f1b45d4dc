package draft

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// Bits that the owner needs to change a directory, or the attributes of a file.
const (
	dirBits  = 0o700
	fileBits = 0o200
)

// dirsWithoutPermission returns the directories at and above the chosen changes to which the owner has no full rights.
func dirsWithoutPermission(nodes []node, chosen []*node) (list []dirModes) {
	in := map[pathKey]bool{}
	for _, n := range chosen {
		in[pathKey{n.root, n.rel}] = true
		for rel := n.rel; rel != ""; {
			rel, _ = split(rel)
			key := pathKey{n.root, rel}
			if in[key] && rel != "" {
				break
			}
			in[key] = true
		}
	}
	for i := range nodes {
		n := &nodes[i]
		if !n.up.isDir() || !in[pathKey{n.root, n.rel}] {
			continue
		}
		m := dirModes{Root: n.root, Path: rawPath(n.rel), Upper: n.up.permission()}
		if n.low.isDir() {
			m.Lower = n.low.permission()
		}
		if m.Upper&dirBits != dirBits || n.low.isDir() && m.Lower&dirBits != dirBits {
			list = append(list, m)
		}
	}
	return list
}

// applyModes gives nodes the modes of the plan if an interrupted commit has added bits for the owner.
func (p *plan) applyModes(nodes []node) {
	modes := map[pathKey]dirModes{}
	for _, m := range p.Modes {
		modes[pathKey{m.Root, string(m.Path)}] = m
	}
	for i := range nodes {
		n := &nodes[i]
		key := pathKey{n.root, n.rel}
		if m, ok := modes[key]; ok {
			if n.up.isDir() && n.up.permission() == m.Upper|dirBits {
				n.up.Mode = unix.S_IFDIR | m.Upper
			}
			if n.low.isDir() && n.low.permission() == m.Lower|dirBits {
				n.low.Mode = unix.S_IFDIR | m.Lower
			}
		}
		if s, ok := p.steps[key]; ok && n.up.isFile() && s.Upper.Ino == n.up.Ino && n.up.Mode == s.Upper.Mode|fileBits {
			n.up.Mode = s.Upper.Mode
		}
	}
}

// addOwnerPermissions gives the owner full rights to the directories of the plan. Directories of other users stay as they
// are.
func (a *applier) addOwnerPermissions() error {
	for _, m := range a.plan.Modes {
		for _, side := range []struct {
			root int
			mode uint32
			is   bool
		}{{a.roots[m.Root].up, m.Upper, true}, {a.roots[m.Root].low, m.Lower, m.Lower != 0}} {
			if !side.is || side.mode&dirBits == dirBits {
				continue
			}
			if err := swapMode(side.root, string(m.Path), side.mode, side.mode|dirBits); err != nil && !errors.Is(err, fs.ErrPermission) {
				return err
			}
		}
	}
	return nil
}

// restoreModes gives directories their modes back, except those of the root that finishDir has given others.
func (a *applier) restoreModes() (failed error) {
	for _, m := range slices.Backward(a.plan.Modes) {
		key := pathKey{m.Root, string(m.Path)}
		up, err := modeOf(a.roots[m.Root].up, string(m.Path))
		failed = errors.Join(failed, err)
		_, planned := a.plan.steps[key]
		if m.Lower&dirBits != dirBits && m.Lower != 0 && !(planned && (a.finished[key] || up == 0)) {
			failed = errors.Join(failed, swapMode(a.roots[m.Root].low, string(m.Path), m.Lower|dirBits, m.Lower))
		}
		if up != 0 && m.Upper&dirBits != dirBits {
			failed = errors.Join(failed, swapMode(a.roots[m.Root].up, string(m.Path), m.Upper|dirBits, m.Upper))
		}
	}
	return failed
}

// swapMode sets the mode of a directory to to, if it is from.
func swapMode(root int, rel string, from, to uint32) error {
	now, err := modeOf(root, rel)
	if err != nil || now != from {
		return err
	}
	if rel == "" {
		return unix.Fchmod(root, to)
	}
	dir, name := split(rel)
	at, err := openRel(root, dir)
	if err != nil {
		return err
	}
	defer closeFD(at)
	return chmodAt(at, name, to)
}

// modeOf returns the permissions of a directory, or zero without one.
func modeOf(root int, rel string) (uint32, error) {
	dir, name := split(rel)
	at, err := openRel(root, dir)
	if isNoDir(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer closeFD(at)
	s, err := statAt(at, name)
	if err != nil || !s.isDir() {
		return 0, err
	}
	return s.permission(), nil
}

// removeAttribute removes an attribute of an entry, also of a file that its owner cannot write.
func removeAttribute(n *node, up int, name, key string) error {
	err := unix.Lremovexattr(procPath(up, name), key)
	if errors.Is(err, fs.ErrPermission) && n.up.isFile() {
		if err = chmodAt(up, name, n.up.permission()|fileBits); err == nil {
			err = unix.Lremovexattr(procPath(up, name), key)
		}
	}
	if errors.Is(err, unix.ENODATA) {
		return nil
	}
	return err
}

// restoreMode gives an entry back the mode that removeAttribute, also of an interrupted commit, has changed.
func restoreMode(n *node, up int, name string) error {
	if !n.up.isFile() {
		return nil
	}
	now, err := statAt(up, name)
	if err != nil || now.Ino != n.up.Ino || now.Mode != n.up.Mode|fileBits || now.Mode == n.up.Mode {
		return err
	}
	return chmodAt(up, name, n.up.permission())
}
