package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Names in the directory of stored versions: DIR/undo/COMMAND/manifest, and a file for each copy.
const (
	undoName     = "undo"
	manifestName = "manifest"
)

// SaveVersions scans like Scan, and stores the versions of the changed files for Undo. All versions of a draft take at most
// limit bytes; commands beyond that cannot be undone. It returns the number of changed paths.
func (d *Draft) SaveVersions(ctx context.Context, command int, limit int64) (int, error) {
	unlock, err := d.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	var touched []pathKey
	if err := d.scanCommand(ctx, command, func(key pathKey) { touched = append(touched, key) }); err != nil {
		return 0, err
	}
	if len(touched) == 0 {
		return 0, nil
	}
	slices.SortFunc(touched, func(a, b pathKey) int {
		if a.root != b.root {
			return a.root - b.root
		}
		return strings.Compare(a.path, b.path)
	})
	dir := filepath.Join(d.dir, undoName, strconv.Itoa(command))
	if err := os.RemoveAll(dir); err != nil {
		return 0, fmt.Errorf("draft: %w", err)
	}
	used, err := sizeOf(filepath.Join(d.dir, undoName))
	if err != nil {
		return 0, fmt.Errorf("draft: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("draft: %w", err)
	}
	all := make([]savedState, 0, len(touched))
	for i, key := range touched {
		s, err := d.saveVersion(key, filepath.Join(dir, strconv.Itoa(i+1)), i+1, limit-used)
		if err != nil {
			return 0, fmt.Errorf("draft: save %q: %w", key.path, err)
		}
		if s.File > 0 {
			used += s.Size
		}
		all = append(all, s)
	}
	b, err := encodeSaved(all)
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, manifestName), atomicfile.Options{Sync: atomicfile.Content}, b)
	}
	if err != nil {
		return 0, fmt.Errorf("draft: %w", err)
	}
	return len(touched), nil
}

// sizeOf returns the bytes of the files in a directory.
func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var in fs.FileInfo
			if in, err = e.Info(); err == nil {
				total += in.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}

// saveVersion returns the state of a path. It copies a file's content to the file at path if the content has at most room
// bytes. A path that its owner cannot read is recorded as not stored.
func (d *Draft) saveVersion(key pathKey, path string, number int, room int64) (s savedState, err error) {
	s, err = d.readVersion(key, path, number, room)
	if errors.Is(err, fs.ErrPermission) {
		s.NotStored, s.File = true, 0
		return s, nil
	}
	return s, err
}

// readVersion works like saveVersion, and returns an error for a path that cannot be read.
func (d *Draft) readVersion(key pathKey, path string, number int, room int64) (s savedState, err error) {
	s = savedState{Root: key.root, Path: rawPath(key.path)}
	dir, name := split(key.path)
	up, err := openIn(d.Roots()[key.root].Upper, dir)
	if isNoDir(err) {
		s.Lower = true
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer closeFD(up)
	u, err := statAt(up, name)
	if err != nil {
		return s, err
	}
	if s.Lower = !u.exists(); s.Lower || u.isWhiteout() {
		return s, nil
	}
	x, err := attributesAt(up, name, u, true)
	if err != nil {
		return s, err
	}
	s.Mode, s.UID, s.GID, s.Mtime, s.Size, s.Opaque = u.Mode, u.UID, u.GID, u.Mtime, u.Size, x.opaque
	for k, v := range x.values {
		if s.Attrs == nil {
			s.Attrs = map[string][]byte{}
		}
		s.Attrs[k] = []byte(v)
	}
	switch u.format() {
	case unix.S_IFLNK:
		to, err := readLink(up, name)
		s.Target = []byte(to)
		return s, err
	case unix.S_IFREG:
	default:
		return s, nil
	}
	if u.Size > room {
		s.NotStored = true
		return s, nil
	}
	from, err := openFile(up, name)
	if err != nil {
		return s, err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return s, err
	}
	s.File = number
	return s, errors.Join(copyContent(to, from, u.Size), to.Close())
}

// Undo makes the files of a draft what they were before a command: it undoes this command and all later ones. It writes through
// merged, the root as the running session sees it, since the kernel does not notice changes of the upper directory. The
// caller opens it. Hard links, and the attributes of the root itself, are not restored. It returns the restored paths.
func (d *Draft) Undo(ctx context.Context, command int, merged func(root string) (*os.File, error)) (paths []string, err error) {
	unlock, err := d.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	u := &undo{d: d, targetStates: map[pathKey]storedVersion{}, unchanged: map[pathKey]storedVersion{}}
	if err := u.load(command); err != nil {
		return nil, err
	}
	for i, r := range d.Roots() {
		m, err := merged(r.Lower)
		if err != nil {
			return nil, fmt.Errorf("draft: undo in %s: %w", r.Lower, err)
		}
		done, err := u.restoreRoot(ctx, i, r, m)
		_ = m.Close()
		if paths = append(paths, done...); err != nil {
			return paths, fmt.Errorf("draft: undo in %s: stopped after %d paths: %w", r.Lower, len(paths), err)
		}
	}
	return paths, nil
}

// storedVersion is a saved state and the directory of its copies.
type storedVersion struct {
	savedState
	dir string
}

// undo is the state of a running Undo.
type undo struct {
	d            *Draft
	targetStates map[pathKey]storedVersion // states before the command of the paths that changed since
	unchanged    map[pathKey]storedVersion // states before the command of all other paths
	low          int                       // descriptors of the root's directory, the upper one and the merged one
	up           int
	merged       int
	rootIndex    int // index of the root
}

// load reads the manifests.
func (u *undo) load(command int) error {
	at := filepath.Join(u.d.dir, undoName)
	entries, err := os.ReadDir(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("draft: %w", err)
	}
	var numbers []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	later := map[pathKey]bool{}
	for _, n := range numbers {
		dir := filepath.Join(at, strconv.Itoa(n))
		f, err := os.Open(filepath.Join(dir, manifestName))
		if err != nil {
			return fmt.Errorf("draft: %w", err)
		}
		all, err := decodeSaved(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("draft: %s: %w", dir, err)
		}
		for _, s := range all {
			key := pathKey{s.Root, string(s.Path)}
			if n < command {
				u.unchanged[key] = storedVersion{s, dir}
			} else {
				later[key] = true
			}
		}
	}
	if len(later) == 0 {
		return fmt.Errorf("%w: no changes are stored for command %d or later", ErrNotUndoable, command)
	}
	for key := range later {
		v, ok := u.unchanged[key]
		if !ok {
			v = storedVersion{savedState: savedState{Root: key.root, Path: rawPath(key.path), Lower: true}}
		}
		if v.NotStored {
			return fmt.Errorf("%w: %q exceeded the limit of stored versions", ErrNotUndoable, key.path)
		}
		u.targetStates[key] = v
	}
	return nil
}

// IsMergedView reports whether an open directory is a root as the running session sees it, and not the root itself.
func IsMergedView(merged *os.File, root string) bool {
	low, err := openRoot(root)
	if err != nil {
		return false
	}
	defer closeFD(low)
	return isOverlayOf(int(merged.Fd()), low)
}

// isOverlayOf reports whether a directory is on an overlay, and on another file system than the root: else it could be the root
// itself, which must not change.
func isOverlayOf(merged, low int) bool {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(merged, &fs); err != nil || fs.Type != unix.OVERLAYFS_SUPER_MAGIC {
		return false
	}
	m, err := statAt(merged, "")
	if err != nil {
		return false
	}
	l, err := statAt(low, "")
	return err == nil && m.Dev != l.Dev
}

// restoreRoot restores the paths of one root, parents first.
func (u *undo) restoreRoot(ctx context.Context, number int, r Root, merged *os.File) (done []string, err error) {
	if u.low, err = openRoot(r.Lower); err != nil {
		return nil, err
	}
	defer closeFD(u.low)
	if u.up, err = openRoot(r.Upper); err != nil {
		return nil, err
	}
	defer closeFD(u.up)
	if !isOverlayOf(int(merged.Fd()), u.low) {
		return nil, ErrNoView
	}
	u.rootIndex, u.merged = number, int(merged.Fd())
	var order []string
	for key := range u.targetStates {
		if key.root == number {
			order = append(order, key.path)
		}
	}
	slices.Sort(order)
	for _, rel := range order {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := u.restore(u.targetStates[pathKey{number, rel}]); err != nil {
			return done, fmt.Errorf("%q: %w", rel, err)
		}
		done = append(done, rel)
	}
	return done, nil
}

// restore gives one path its earlier state.
func (u *undo) restore(v storedVersion) error {
	rel := string(v.Path)
	dir, name := split(rel)
	at, err := openRel(u.merged, dir)
	if isNoDir(err) {
		return nil // the directory did not exist before either, or is restored with all in it
	}
	if err != nil {
		return err
	}
	defer closeFD(at)
	if v.Lower {
		return u.restoreLower(at, name, rel)
	}
	now, err := statAt(at, name)
	if err != nil {
		return err
	}
	if v.Mode == 0 {
		return removeTree(at, name)
	}
	if v.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := u.makeDir(at, name, rel, now, !v.Opaque && !u.wasHidden(rel)); err != nil {
			return err
		}
		return setMeta(at, name, v.savedState)
	}
	temp := ".longterm-undo"
	if err := removeTree(at, temp); err != nil {
		return err
	}
	switch v.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		err = copyNew(filepath.Join(v.dir, strconv.Itoa(v.File)), at, temp, v.Size)
	case unix.S_IFLNK:
		err = unix.Symlinkat(string(v.Target), at, temp)
	default:
		err = unix.Mknodat(at, temp, v.Mode, 0)
	}
	if err == nil {
		err = setMeta(at, temp, v.savedState)
	}
	if err == nil && now.isDir() {
		err = removeTree(at, name)
	}
	if err == nil {
		err = unix.Renameat(at, temp, at, name)
	}
	return err
}

// restoreLower shows the root's file again, unless a directory above hid it before the command.
func (u *undo) restoreLower(at int, name, rel string) error {
	dir, _ := split(rel)
	low, err := openRel(u.low, dir)
	if err != nil && !isNoDir(err) {
		return err
	}
	defer closeFD(low)
	var l stat
	if err == nil && !u.wasHidden(rel) {
		if l, err = statAt(low, name); err != nil {
			return err
		}
	}
	now, err := statAt(at, name)
	switch {
	case err != nil:
		return err
	case !l.exists():
		return removeTree(at, name)
	case l.isDir():
		if err := u.makeDir(at, name, rel, now, true); err != nil {
			return err
		}
		s, err := lowerState(low, name, l)
		if err != nil {
			return err
		}
		return setMeta(at, name, s)
	}
	if err := removeTree(at, name); err != nil {
		return err
	}
	return u.copyTree(low, at, name, rel)
}

// wasHidden reports whether a directory above a path was opaque before the command.
func (u *undo) wasHidden(rel string) bool {
	for dir, _ := split(rel); dir != ""; dir, _ = split(dir) {
		v, ok := u.targetStates[pathKey{u.rootIndex, dir}]
		if !ok {
			v, ok = u.unchanged[pathKey{u.rootIndex, dir}]
		}
		if ok && v.Opaque {
			return true
		}
	}
	return false
}

// isHidden reports whether a directory, or one above, is opaque now.
func (u *undo) isHidden(rel string) (bool, error) {
	for ; rel != ""; rel, _ = split(rel) {
		up, err := openRel(u.up, rel)
		if isNoDir(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		x, err := attributesAt(up, "", stat{Mode: unix.S_IFDIR}, true)
		closeFD(up)
		if err != nil || x.opaque {
			return x.opaque, err
		}
	}
	return false, nil
}

// makeDir makes a directory unless it exists. If it is merged, and was made just now or is opaque, it gets the root's entries
// that are missing, other than those that are restored next.
func (u *undo) makeDir(at int, name, rel string, now stat, merged bool) error {
	fill := merged
	if now.isDir() {
		hidden, err := u.isHidden(rel)
		if err != nil {
			return err
		}
		fill = fill && hidden
	} else {
		if err := removeTree(at, name); err != nil {
			return err
		}
		if err := unix.Mkdirat(at, name, 0o755); err != nil {
			return err
		}
	}
	low, err := openRel(u.low, rel)
	if isNoDir(err) || !fill {
		closeFD(low)
		return nil
	}
	if err != nil {
		return err
	}
	defer closeFD(low)
	to, err := openDir(at, name)
	if err != nil {
		return err
	}
	defer closeFD(to)
	return u.copyEntries(low, to, rel)
}

// copyEntries copies the entries of a directory of the root that are missing and not restored on their own.
func (u *undo) copyEntries(low, to int, rel string) error {
	all, err := names(low)
	if err != nil {
		return err
	}
	for _, child := range all {
		path := join(rel, child)
		if _, ok := u.targetStates[pathKey{u.rootIndex, path}]; ok {
			continue
		}
		if v, ok := u.unchanged[pathKey{u.rootIndex, path}]; ok && !v.Lower {
			continue // restored or deleted before the command
		}
		if now, err := statAt(to, child); err != nil || now.exists() {
			if err != nil {
				return err
			}
			continue
		}
		if err := u.copyTree(low, to, child, path); err != nil {
			return fmt.Errorf("%q: %w", child, err)
		}
	}
	return nil
}

// lowerState returns the metadata of a file of the root as the session sees it.
func lowerState(low int, name string, l stat) (savedState, error) {
	s := savedState{Mode: l.Mode, UID: l.UID, GID: l.GID, Mtime: l.Mtime, Attrs: map[string][]byte{}}
	x, err := attributesAt(low, name, l, false)
	for k, v := range x.values {
		if !strings.HasPrefix(k, overlayPrefix) {
			s.Attrs[k] = []byte(v)
		}
	}
	return s, err
}

// copyTree copies a file or a directory of the root.
func (u *undo) copyTree(low, to int, name, rel string) error {
	l, err := statAt(low, name)
	if err != nil {
		return err
	}
	s, err := lowerState(low, name, l)
	if err != nil {
		return err
	}
	switch l.format() {
	case unix.S_IFDIR:
		if err := unix.Mkdirat(to, name, 0o700); err != nil {
			return err
		}
		from, err := openDir(low, name)
		if err != nil {
			return err
		}
		defer closeFD(from)
		in, err := openDir(to, name)
		if err != nil {
			return err
		}
		defer closeFD(in)
		if err := u.copyEntries(from, in, rel); err != nil {
			return err
		}
	case unix.S_IFREG:
		err = copyNew(procPath(low, name), to, name, l.Size)
	case unix.S_IFLNK:
		var target string
		if target, err = readLink(low, name); err == nil {
			err = unix.Symlinkat(target, to, name)
		}
	default:
		err = unix.Mknodat(to, name, l.Mode, 0)
	}
	if err != nil {
		return err
	}
	return setMeta(to, name, s)
}

// copyNew copies a file to a new file in a directory.
func copyNew(path string, dir int, name string, size int64) error {
	from, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	fd, err := openAt(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	return errors.Join(copyContent(to, from, size), to.Close())
}

// setMeta gives a file that this package has made the owner, attributes, mode and time of a saved state.
func setMeta(dir int, name string, s savedState) error {
	if err := chownAt(dir, name, stat{UID: s.UID, GID: s.GID}); err != nil {
		return err
	}
	if s.Mode&unix.S_IFMT != unix.S_IFLNK {
		x, err := attributesAt(dir, name, stat{Mode: s.Mode}, false)
		if err != nil {
			return err
		}
		for key := range x.values {
			if _, ok := s.Attrs[key]; !ok {
				if err := unix.Lremovexattr(procPath(dir, name), key); err != nil && !errors.Is(err, unix.ENODATA) {
					return err
				}
			}
		}
		for key, value := range s.Attrs {
			if err := unix.Lsetxattr(procPath(dir, name), key, value, 0); err != nil {
				return err
			}
		}
		if err := chmodAt(dir, name, s.Mode&0o7777); err != nil {
			return err
		}
	}
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	return unix.UtimesNanoAt(dir, name, times(stat{Mtime: s.Mtime}), unix.AT_SYMLINK_NOFOLLOW)
}
