package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// root is the tree of files that is made for a program.
//
// Everything that is taken over from the host is cloned before anything is mounted, by paths in which no link is
// followed: what has become a link since the rules were made is an error. Then it is put together at a place that the
// program does not see, which becomes its root.
type root struct {
	fd     int   // of its topmost directory
	hidden []int // mounts that become read-only in the end
}

// plain are attributes of all that the program sees.
const plain = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// part is a mount that is not in place yet.
type part struct {
	fd   int
	path string
	dir  bool
	keep bool // it becomes read-only in the end
	skip bool // ignored if its place does not exist
}

// makeRoot makes the tree and enters it.
func makeRoot(ns *Namespaces) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	top, parts, err := gather(ns)
	if err != nil {
		return err
	}
	// Any directory does: what it had is behind the new tree, and goes with the old one.
	const base = "/tmp"
	if err := unix.MoveMount(top, "", unix.AT_FDCWD, base, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("create a tree: %w", err)
	}
	r := root{fd: top}
	if !ns.Whole { // places for mounts are made in it
		r.hidden = append(r.hidden, top)
	}
	for _, p := range parts {
		if err := r.put(p); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	if err := r.maskProc(); err != nil {
		return err
	}
	for _, m := range r.hidden {
		if err := unix.MountSetattr(m, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	if err := unix.Fchdir(r.fd); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("enter the tree: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := os.Chdir(ns.Dir); err != nil {
		return fmt.Errorf("working directory not accessible inside; add it to read or write of the profile: %w", err)
	}
	return nil
}

// gather clones all that is needed of the host's tree.
func gather(ns *Namespaces) (top int, parts []part, err error) {
	add := func(fd int, path string, dir, keep bool, err error) error {
		if err == nil {
			parts = append(parts, part{fd: fd, path: path, dir: dir, keep: keep})
		}
		return err
	}
	if ns.Whole {
		top, _, err = cloneOf("/", plain|unix.MOUNT_ATTR_RDONLY)
	} else {
		top, err = newFS("tmpfs", plain, "mode", "0755")
	}
	if err != nil {
		return top, nil, err
	}
	proc, err := newFS("proc", plain|unix.MOUNT_ATTR_NOEXEC)
	if err := add(proc, "/proc", true, false, err); err != nil {
		return top, nil, fmt.Errorf("no private /proc from the kernel, as in containers that mask theirs: %w", err)
	}
	dev, err := ownDevices()
	if err != nil {
		return top, nil, err
	}
	parts = append(parts, dev...)
	for _, m := range ns.Mounts {
		fd, dir, keep := -1, true, false
		switch m.Kind {
		case MountRead:
			fd, dir, err = cloneOf(m.Path, plain|unix.MOUNT_ATTR_RDONLY)
		case MountWrite:
			fd, dir, err = cloneOf(m.Path, plain)
		case MountDraft:
			fd, err = overlay(m.Path, m.Upper, m.Work)
		case MountTmp:
			fd, err = newFS("tmpfs", plain, "mode", "1777")
		case MountHide:
			if fd, dir, keep, err = nothing(m.Path); errors.Is(err, unix.ENOENT) {
				continue
			}
		default:
			err = fmt.Errorf("no kind of mount %q", m.Kind)
		}
		if err := add(fd, m.Path, dir, keep, err); err != nil {
			return top, nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		parts[len(parts)-1].skip = m.Optional
	}
	if !ns.Whole {
		parts = append(parts, links()...)
	}
	return top, parts, nil
}

// cloneOf returns a detached clone of a host tree.
func cloneOf(path string, attrs uint64) (fd int, dir bool, err error) {
	at, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, false, err
	}
	defer unix.Close(at)
	return cloneAt(at, attrs)
}

func cloneAt(at int, attrs uint64) (fd int, dir bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return -1, false, err
	}
	fd, err = unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return -1, false, err
	}
	return fd, st.Mode&unix.S_IFMT == unix.S_IFDIR, unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attrs})
}

// newFS returns a new detached file system.
func newFS(kind string, attrs int, options ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for i := 0; i < len(options); i += 2 {
		if err := unix.FsconfigSetString(fs, options[i], options[i+1]); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attrs)
}

// nothing returns a cover for a hidden path: an empty directory, or a file that cannot be opened.
func nothing(path string) (fd int, dir, keep bool, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return -1, false, false, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		fd, err = newFS("tmpfs", plain, "mode", "0755", "size", "1m")
		return fd, true, true, err
	}
	fd, dir, err = cloneOf(os.DevNull, plain|unix.MOUNT_ATTR_RDONLY)
	return fd, dir, false, err
}

// ownDevices returns the entries of a private /dev.
func ownDevices() (parts []part, err error) {
	dev, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID, "mode", "0755", "size", "1m")
	if err != nil {
		return nil, err
	}
	parts = append(parts, part{fd: dev, path: "/dev", dir: true, keep: true})
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := filepath.Join("/dev", name)
		fd, dir, err := cloneOf(path, unix.MOUNT_ATTR_NOSUID)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		parts = append(parts, part{fd: fd, path: path, dir: dir})
	}
	pts, err := newFS("devpts", unix.MOUNT_ATTR_NOSUID, "mode", "0620", "ptmxmode", "0666")
	if err != nil {
		return nil, fmt.Errorf("private terminals: %w", err)
	}
	shm, err := newFS("tmpfs", plain, "mode", "1777")
	if err != nil {
		return nil, err
	}
	parts = append(parts, part{fd: pts, path: "/dev/pts", dir: true}, part{fd: shm, path: "/dev/shm", dir: true})
	if tty := sys.TerminalOf(0); tty != "" { // a name for its own terminal, for programs that look it up
		fd, dir, err := cloneOf(tty, unix.MOUNT_ATTR_NOSUID)
		if err != nil {
			return nil, fmt.Errorf("its terminal, %s: %w", tty, err)
		}
		parts = append(parts, part{fd: fd, path: "/dev/console", dir: dir})
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		parts = append(parts, part{fd: -1, path: "/dev/" + name + "\x00" + to})
	}
	return parts, nil
}

// links returns the symbolic links in the host's root directory, such as /bin to /usr/bin.
func links() (parts []part) {
	entries, _ := os.ReadDir("/")
	for _, e := range entries {
		if to, err := os.Readlink("/" + e.Name()); err == nil {
			parts = append(parts, part{fd: -1, path: "/" + e.Name() + "\x00" + to})
		}
	}
	return parts
}

// put moves a part to its place, and creates the place if needed.
func (r *root) put(p part) error {
	if link, to, ok := strings.Cut(p.path, "\x00"); ok {
		dir, err := r.makeAll(filepath.Dir(link))
		if err != nil {
			return err
		}
		defer unix.Close(dir)
		if err := unix.Symlinkat(to, dir, filepath.Base(link)); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		return nil
	}
	at, err := r.open(p.path)
	if p.skip && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)) {
		return unix.Close(p.fd)
	}
	if errors.Is(err, unix.ENOENT) {
		at, err = r.make(p.path, p.dir)
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if p.keep {
		r.hidden = append(r.hidden, p.fd)
	}
	return unix.MoveMount(p.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// open opens a path of the new tree; no link leads anywhere.
func (r *root) open(path string) (int, error) {
	rel := strings.TrimPrefix(path, "/")
	if rel == "" {
		rel = "."
	}
	return unix.Openat2(r.fd, rel, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	})
}

// makeAll makes a directory of the new tree and those above it.
func (r *root) makeAll(path string) (int, error) {
	at, err := r.open("/")
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if err != nil || name == "" {
			break
		}
		if err = unix.Mkdirat(at, name, 0o755); err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.EROFS) {
			break
		}
		var next int
		next, err = unix.Openat2(at, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY, Resolve: unix.RESOLVE_NO_SYMLINKS})
		_ = unix.Close(at)
		at = next
	}
	return at, err
}

// make makes a place for a mount.
func (r *root) make(path string, dir bool) (int, error) {
	if dir {
		return r.makeAll(path)
	}
	above, err := r.makeAll(filepath.Dir(path))
	if err != nil {
		return -1, err
	}
	defer unix.Close(above)
	fd, err := unix.Openat(above, filepath.Base(path), unix.O_CREAT|unix.O_EXCL|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, err
	}
	_ = unix.Close(fd)
	return r.open(path)
}

// kernelFiles are places in /proc by which root controls the kernel.
var kernelFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/driver", "/proc/mtrr"}

// maskProc makes them read-only.
func (r *root) maskProc() error {
	for _, path := range kernelFiles {
		at, err := r.open(path)
		if err != nil {
			continue // this kernel has it not
		}
		fd, _, err := cloneAt(at, plain|unix.MOUNT_ATTR_RDONLY)
		if err == nil {
			err = unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
		}
		_ = unix.Close(at)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
