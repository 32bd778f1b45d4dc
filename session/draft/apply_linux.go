package draft

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of a batch of copies, which share one sync before they are renamed.
const (
	batchFiles = 256
	batchBytes = 64 << 20
)

// copySet is a file of the upper directory and the places in the root where its copy goes.
type copySet struct {
	nodes []*node
	temps []string
}

// remove deletes the root's file or directory, and then its whiteout. A directory leaves its name in one step.
func (a *applier) remove(n *node) error {
	up, low, name, err := a.parents(n)
	if err != nil {
		return err
	}
	l, done, err := a.verify(n, up, low, name)
	if err != nil {
		return err
	}
	switch {
	case done:
	case l.isDir():
		if err := a.checkTree(n, low, name); err != nil {
			return err
		}
		temp := a.newTempName(n)
		if err := a.step("rename", n); err != nil {
			return err
		}
		if err := unix.Renameat(low, name, low, temp); err != nil {
			return &os.PathError{Op: "rename", Path: name, Err: err}
		}
		if err := a.checkTree(n, low, temp); err != nil { // no process opens files in it by name at its new place
			return a.putBack(n, low, temp, name, err)
		}
		a.recordRemoved(n)
		if err := a.step("remove tree", n); err != nil {
			return err
		}
		if err := removeTree(low, temp); err != nil {
			return err
		}
	default:
		if err := a.step("unlink", n); err != nil {
			return err
		}
		if err := unix.Unlinkat(low, name, 0); err != nil {
			return &os.PathError{Op: "unlink", Path: name, Err: err}
		}
	}
	a.recordRemoved(n)
	a.count(n, false)
	if n.hidden || a.mustKeep(n) {
		return nil
	}
	if !a.movesEach(n) {
		a.prune = append(a.prune, n)
		return nil
	}
	return a.unlinkEntry(n, up, name)
}

// unlinkEntry removes an entry that is no directory from the upper directory.
func (a *applier) unlinkEntry(n *node, up int, name string) error {
	if err := a.step("unlink entry", n); err != nil {
		return err
	}
	if err := unix.Unlinkat(up, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "unlink", Path: name, Err: err}
	}
	return nil
}

// makeDir makes a directory in the root unless it exists. Only the owner may enter it until its entries are there.
func (a *applier) makeDir(n *node) error {
	if n.rel == "" {
		a.dirsToFinish = append(a.dirsToFinish, n)
		return nil
	}
	up, low, name, err := a.parents(n)
	if err != nil {
		return err
	}
	l, _, err := a.verify(n, up, low, name)
	if err != nil {
		return err
	}
	a.dirsToFinish = append(a.dirsToFinish, n)
	if l.isDir() {
		return nil
	}
	if err := a.step("mkdir", n); err != nil {
		return err
	}
	at := name
	if l.exists() {
		at = a.newTempName(n)
	}
	if err := unix.Mkdirat(low, at, 0o700); err != nil {
		return &os.PathError{Op: "mkdir", Path: name, Err: err}
	}
	if !l.exists() {
		return a.recordWrittenDir(n, low, name)
	}
	return a.exchange(n, low, at, name)
}

// exchange swaps a temporary file with a file of another type at its place, and removes the other.
func (a *applier) exchange(n *node, low int, temp, name string) error {
	if err := a.checkTree(n, low, name); err != nil {
		return err
	}
	if err := a.step("exchange", n); err != nil {
		return err
	}
	old := temp
	err := unix.Renameat2(low, temp, low, name, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system cannot; the name is missing for a moment
		old = a.newTempName(n)
		if err = unix.Renameat(low, name, low, old); err == nil {
			err = unix.Renameat(low, temp, low, name)
		}
	}
	if err != nil {
		return &os.PathError{Op: "rename", Path: name, Err: err}
	}
	if err := a.checkTree(n, low, old); err != nil {
		again := a.newTempName(n)
		if e := unix.Renameat(low, name, low, again); e != nil {
			a.keepTemps[old] = true
			return errors.Join(err, &os.PathError{Op: "rename", Path: name, Err: e})
		}
		return a.putBack(n, low, old, name, err)
	}
	if n.up.isDir() {
		err = a.recordWrittenDir(n, low, name)
	} else {
		err = a.recordWritten(n, low, name)
	}
	if err != nil {
		return err
	}
	if err := a.step("remove tree", n); err != nil {
		return err
	}
	return removeTree(low, old)
}

// clearOpaque removes the opaque mark of a directory in the upper directory, once the root's directory has nothing that
// the mark hides. Directories in it that are opaque only through it get their own mark first.
func (a *applier) clearOpaque(n *node) error {
	if !n.opaque || n.rel == "" {
		return nil
	}
	up, err := openRel(a.roots[n.root].up, n.rel)
	if err != nil {
		return err
	}
	defer closeFD(up)
	low, err := openRel(a.roots[n.root].low, n.rel)
	if err != nil {
		return err
	}
	defer closeFD(low)
	if err := a.markEntries(n, up, low); err != nil {
		return err
	}
	if err := a.step("clear opaque", n); err != nil {
		return err
	}
	if a.d.keepOpaque {
		return nil
	}
	if err := unix.Fremovexattr(up, opaqueName); err != nil && !errors.Is(err, unix.ENODATA) {
		return &os.PathError{Op: "removexattr", Path: n.rel, Err: err}
	}
	return nil
}

// markEntries marks the directories in an opaque directory as opaque where the root has a directory of the name.
func (a *applier) markEntries(n *node, up, low int) error {
	all, err := names(up)
	if err != nil {
		return err
	}
	for _, name := range all {
		u, err := statAt(up, name)
		if err != nil {
			return err
		}
		l, err := statAt(low, name)
		if err != nil {
			return err
		}
		if !u.isDir() || !l.isDir() {
			continue
		}
		if err := a.step("mark opaque", n); err != nil {
			return err
		}
		if err := unix.Lsetxattr(procPath(up, name), opaqueName, []byte("y"), 0); err != nil {
			return &os.PathError{Op: "setxattr", Path: name, Err: err}
		}
	}
	return nil
}

// applyFile applies an entry that is not a directory to the root.
func (a *applier) applyFile(n *node) error {
	k := linkKey{n.root, n.up.Ino}
	several := n.up.isFile() && n.up.Nlink > 1
	if !a.movesEach(n) || n.escaped || several && a.mustCopy(k) {
		set := &copySet{nodes: []*node{n}}
		if several {
			set.nodes = a.chosenLinks[k]
			if set.nodes[len(set.nodes)-1] != n {
				return nil // the last name makes them all, once all their directories exist
			}
		}
		return a.makeCopies(set)
	}
	up, low, name, err := a.parents(n)
	if err != nil {
		return err
	}
	l, done, err := a.verify(n, up, low, name)
	if err != nil {
		return err
	}
	if done {
		a.count(n, false)
		return errors.Join(a.unlinkEntry(n, up, name), a.recordWritten(n, low, name))
	}
	x, err := attributesAt(up, name, n.up, true)
	if err != nil {
		return err
	}
	for _, key := range x.overlay {
		if err := a.step("removexattr", n); err != nil {
			return err
		}
		if err := removeAttribute(n, up, name, key); err != nil {
			return &os.PathError{Op: "removexattr", Path: name, Err: err}
		}
	}
	if err := restoreMode(n, up, name); err != nil {
		return err
	}
	if l.isDir() {
		return a.replaceDir(n, up, low, name)
	}
	if err := a.step("rename", n); err != nil {
		return err
	}
	if err := unix.Renameat(up, name, low, name); err != nil {
		return &os.PathError{Op: "rename", Path: name, Err: err}
	}
	a.count(n, false)
	return a.recordWritten(n, low, name)
}

// replaceDir replaces the root's directory by an entry. The name always exists.
func (a *applier) replaceDir(n *node, up, low int, name string) error {
	temp := a.newTempName(n)
	if err := a.step("link", n); err != nil {
		return err
	}
	if err := unix.Linkat(up, name, low, temp, 0); err != nil {
		return &os.PathError{Op: "link", Path: name, Err: err}
	}
	if err := a.exchange(n, low, temp, name); err != nil {
		return err
	}
	a.count(n, false)
	return errors.Join(a.unlinkEntry(n, up, name), a.recordWritten(n, low, name)) // the unlink changes the ctime
}

// mustCopy reports whether a file with several names must be copied: not all of its names are chosen, or one of them
// must stay.
func (a *applier) mustCopy(k linkKey) bool {
	for _, c := range a.plan.Copy {
		if c.Root == k.root && c.Ino == k.ino {
			return true
		}
	}
	for _, n := range a.chosenLinks[k] {
		if a.mustKeep(n) {
			return true
		}
	}
	return false
}

// makeCopies makes a temporary copy at each place of a set. flush renames them.
func (a *applier) makeCopies(set *copySet) error {
	again := false
	var first stat
	for i, n := range set.nodes {
		up, low, name, err := a.parents(n)
		if err != nil {
			return err
		}
		l, done, err := a.verify(n, up, low, name)
		if err != nil {
			return err
		}
		if i == 0 {
			first = l
		}
		again = again || !done || l.Ino != first.Ino
	}
	if !again {
		for _, n := range set.nodes {
			_, low, name, err := a.parents(n)
			if err == nil {
				err = a.recordWritten(n, low, name)
			}
			if err != nil {
				return err
			}
		}
		a.countCopies(set)
		return nil
	}
	a.pending = append(a.pending, set)
	for i, n := range set.nodes {
		temp := a.newTempName(n)
		set.temps = append(set.temps, temp)
		if err := a.step("copy", n); err != nil {
			return err
		}
		up, low, name, err := a.parents(n)
		if err != nil {
			return err
		}
		if i == 0 {
			err = a.copyFile(n, up, name, low, temp)
		} else {
			err = a.linkCopy(set, n, temp)
		}
		if err != nil {
			return err
		}
	}
	a.pendingBytes += set.nodes[0].up.Size
	if len(a.pending) >= batchFiles || a.pendingBytes >= batchBytes {
		return a.flush()
	}
	return nil
}

// linkCopy links the first temporary copy of a set to another place.
func (a *applier) linkCopy(set *copySet, n *node, temp string) error {
	first, _ := split(set.nodes[0].rel)
	from, err := openRel(a.roots[n.root].low, first)
	if err != nil {
		return err
	}
	defer closeFD(from)
	dir, _ := split(n.rel)
	to, err := openRel(a.roots[n.root].low, dir)
	if err != nil {
		return err
	}
	defer closeFD(to)
	if err := unix.Linkat(from, set.temps[0], to, temp, 0); err != nil {
		return &os.PathError{Op: "link", Path: n.rel, Err: err}
	}
	return nil
}

// flush syncs the temporary copies and renames them.
func (a *applier) flush() error {
	synced := map[int]bool{}
	for _, set := range a.pending {
		if root := set.nodes[0].root; !synced[root] {
			synced[root] = true
			if err := unix.Syncfs(a.roots[root].low); err != nil {
				return &os.PathError{Op: "syncfs", Path: a.d.info.Roots[root], Err: err}
			}
		}
	}
	for len(a.pending) > 0 {
		set := a.pending[0]
		for i, n := range set.nodes {
			if err := a.place(n, set.temps[i], len(set.nodes) > 1); err != nil {
				return a.wrapErr(n, err)
			}
		}
		a.countCopies(set)
		a.pending = a.pending[1:]
	}
	a.pendingBytes = 0
	return nil
}

// countCopies counts the nodes of a set.
func (a *applier) countCopies(set *copySet) {
	for _, n := range set.nodes {
		a.count(n, true)
		if !a.mustKeep(n) {
			a.prune = append(a.prune, n)
		}
	}
}

// place renames a temporary copy to its place.
func (a *applier) place(n *node, temp string, linked bool) error {
	up, low, name, err := a.parents(n)
	if err != nil {
		return err
	}
	l, done, err := a.verify(n, up, low, name)
	if err != nil {
		return err
	}
	if done && !linked {
		return errors.Join(a.recordWritten(n, low, name), removeTree(low, temp))
	}
	if l.isDir() {
		return a.exchange(n, low, temp, name)
	}
	if err := a.step("rename copy", n); err != nil {
		return err
	}
	if err := unix.Renameat(low, temp, low, name); err != nil {
		return &os.PathError{Op: "rename", Path: name, Err: err}
	}
	return a.recordWritten(n, low, name)
}

// copyFile copies an entry to a temporary name, with its mode, owner, attributes and times. It fails if the session writes the
// file at the time.
func (a *applier) copyFile(n *node, up int, name string, low int, temp string) error {
	var err error
	switch n.up.format() {
	case unix.S_IFREG:
		return a.copyRegular(n, up, name, low, temp)
	case unix.S_IFLNK:
		var to string
		if to, err = readLink(up, name); err == nil {
			err = unix.Symlinkat(to, low, temp)
		}
	default:
		if err = unix.Mknodat(low, temp, n.up.Mode, int(n.up.Rdev)); err == nil {
			err = chmodAt(low, temp, n.up.permission())
		}
	}
	if err == nil {
		err = chownAt(low, temp, n.up)
	}
	if err == nil {
		err = unix.UtimesNanoAt(low, temp, times(n.up), unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}

// times returns a file's modification time for utimensat, which leaves the access time unchanged.
func times(s stat) []unix.Timespec {
	return []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(s.Mtime)}
}

// chownAt sets the owner if it is not the process's.
func chownAt(dir int, name string, s stat) error {
	now, err := statAt(dir, name)
	if err != nil || now.UID == s.UID && now.GID == s.GID {
		return err
	}
	if err := unix.Fchownat(dir, name, int(s.UID), int(s.GID), unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "chown", Path: name, Err: err}
	}
	return nil
}

// copyRegular copies the content of a regular file to a temporary name.
func (a *applier) copyRegular(n *node, up int, name string, low int, temp string) (err error) {
	from, err := openFile(up, name)
	if err != nil {
		return err
	}
	defer from.Close()
	fd, err := openAt(low, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), temp)
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := copyContent(to, from, n.up.Size); err != nil {
		return err
	}
	x, err := attributesAt(up, name, n.up, true)
	if err != nil {
		return err
	}
	if err := chownAt(low, temp, n.up); err != nil { // before the mode: chown clears setuid bits
		return err
	}
	if _, ok := x.values[capabilityName]; ok && !n.setID { // set by the session since the check
		n.conflict = writtenDuring
		return &ConflictError{Changes: []Change{a.d.change(n)}}
	}
	for key, value := range x.values {
		if err := unix.Fsetxattr(fd, key, []byte(value), 0); err != nil {
			return &os.PathError{Op: "setxattr " + key, Path: name, Err: err}
		}
	}
	if err := unix.Fchmod(fd, n.up.permission()); err != nil {
		return &os.PathError{Op: "chmod", Path: name, Err: err}
	}
	if err := unix.UtimesNanoAt(low, temp, times(n.up), unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "utimes", Path: name, Err: err}
	}
	now, err := statAt(int(from.Fd()), "")
	if err == nil && (now.Size != n.up.Size || now.Mtime != n.up.Mtime || now.Ino != n.up.Ino) {
		n.conflict = writtenDuring
		return &ConflictError{Changes: []Change{a.d.change(n)}}
	}
	return err
}

// copyContent copies a file: by sharing its blocks if the file system can, or else without its holes.
func copyContent(to, from *os.File, size int64) error {
	if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil {
		return nil
	}
	for at := int64(0); at < size; {
		data, err := unix.Seek(int(from.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		if err != nil {
			return &os.PathError{Op: "seek", Path: from.Name(), Err: err}
		}
		hole, err := unix.Seek(int(from.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			return &os.PathError{Op: "seek", Path: from.Name(), Err: err}
		}
		if _, err := to.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := from.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(to, from, hole-data); err != nil {
			return fmt.Errorf("copy: %w", err)
		}
		at = hole
	}
	return to.Truncate(size)
}

// finishDir gives a directory of the root the attributes of the entry, and removes the entry if it is empty.
func (a *applier) finishDir(n *node) error {
	up, err := openRel(a.roots[n.root].up, n.rel)
	if err != nil {
		return err
	}
	defer closeFD(up)
	low, err := openRel(a.roots[n.root].low, n.rel)
	if err != nil {
		return err
	}
	defer closeFD(low)
	if err := errors.Join(a.copyDirAttributes(n, up, low), a.recordWrittenDir(n, low, "")); err != nil {
		return err
	}
	a.finished[pathKey{n.root, n.rel}] = true
	a.count(n, false)
	if n.rel == "" || !a.movesEach(n) {
		return nil
	}
	dir, name := split(n.rel)
	parent, err := openRel(a.roots[n.root].up, dir)
	if err != nil {
		return err
	}
	defer closeFD(parent)
	if err := a.step("rmdir entry", n); err != nil {
		return err
	}
	err = unix.Unlinkat(parent, name, unix.AT_REMOVEDIR)
	if err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "rmdir", Path: n.rel, Err: err}
	}
	return nil
}

// copyDirAttributes sets owner, attributes, mode and, for a directory that the draft made, times.
func (a *applier) copyDirAttributes(n *node, up, low int) error {
	l, err := statAt(low, "")
	if err != nil {
		return err
	}
	x, err := attributesAt(up, "", n.up, true)
	if err != nil {
		return err
	}
	y, err := attributesAt(low, "", l, false)
	if err != nil {
		return err
	}
	if err := a.step("set attributes", n); err != nil {
		return err
	}
	if l.UID != n.up.UID || l.GID != n.up.GID {
		if err := unix.Fchown(low, int(n.up.UID), int(n.up.GID)); err != nil {
			return &os.PathError{Op: "chown", Path: n.rel, Err: err}
		}
	}
	for key, value := range x.values {
		if old, ok := y.values[key]; ok && old == value {
			continue
		}
		if err := unix.Fsetxattr(low, key, []byte(value), 0); err != nil {
			return &os.PathError{Op: "setxattr " + key, Path: n.rel, Err: err}
		}
	}
	for key := range y.values {
		if _, ok := x.values[key]; ok || strings.HasPrefix(key, overlayPrefix) {
			continue
		}
		if err := unix.Fremovexattr(low, key); err != nil && !errors.Is(err, unix.ENODATA) {
			return &os.PathError{Op: "removexattr " + key, Path: n.rel, Err: err}
		}
	}
	if err := unix.Fchmod(low, n.up.permission()); err != nil {
		return &os.PathError{Op: "chmod", Path: n.rel, Err: err}
	}
	if n.kind == Meta {
		return nil
	}
	return unix.UtimesNanoAt(low, "", times(n.up), unix.AT_EMPTY_PATH)
}

// finish makes the roots durable, and then removes the entries that were copied. Marks of opaque directories go first.
func (a *applier) finish(chosen []*node) error {
	for i, r := range a.roots {
		if err := unix.Syncfs(r.low); err != nil {
			return &os.PathError{Op: "syncfs", Path: a.d.info.Roots[i], Err: err}
		}
	}
	for _, n := range chosen {
		if n.up.isDir() && a.roots[n.root].copyAll && !a.mustKeep(n) {
			if err := a.clearOpaque(n); err != nil {
				return a.wrapErr(n, err)
			}
		}
	}
	for _, n := range a.prune {
		if err := a.pruneEntry(n, 0); err != nil {
			return a.wrapErr(n, err)
		}
	}
	for _, n := range slices.Backward(a.dirsToFinish) { // entries precede their parents
		if n.rel != "" && a.roots[n.root].copyAll && !a.mustKeep(n) {
			if err := a.pruneEntry(n, unix.AT_REMOVEDIR); err != nil {
				return a.wrapErr(n, err)
			}
		}
	}
	return nil
}

// pruneEntry removes an entry from the upper directory.
func (a *applier) pruneEntry(n *node, flags int) error {
	dir, name := split(n.rel)
	up, err := openRel(a.roots[n.root].up, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closeFD(up)
	if err := a.step("unlink entry", n); err != nil {
		return err
	}
	err = unix.Unlinkat(up, name, flags)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
		return &os.PathError{Op: "unlink", Path: n.rel, Err: err}
	}
	return nil
}

// removeTemporary removes the temporary files of a commit that has failed.
func (a *applier) removeTemporary() error {
	var failed error
	for key := range a.temps {
		failed = errors.Join(failed, a.sweepDir(key, false))
	}
	return failed
}

// isNoDir reports whether opening a path failed because it, or a parent, is missing or not a directory.
func isNoDir(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// sweepDir removes this commit's temporary files from a directory of a root. With check, they were left by a crash.
func (a *applier) sweepDir(key pathKey, check bool) error {
	fd, err := openRel(a.roots[key.root].low, key.path)
	if isNoDir(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closeFD(fd)
	all, err := names(fd)
	if err != nil {
		return err
	}
	for _, name := range all {
		if strings.HasPrefix(name, a.tempPrefix()) && !a.keepTemps[name] {
			if check {
				if err := a.checkLeftover(key.root, fd, key.path, name); err != nil {
					return err
				}
			}
			if err := removeTree(fd, name); err != nil {
				return err
			}
		}
	}
	return nil
}
