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

// rootTree is the file tree of a program.
//
// All mounts of the host are cloned before anything is mounted, by paths in which no link is followed: a path that has become
// a link since the rules were made is an error. The tree is then assembled at a path that the program does not see, and
// becomes its root.
type rootTree struct {
	fd             int   // descriptor of the top directory
	readOnlyMounts []int // made read-only at the end
}

// safeAttrs are attributes of all mounts that the program sees.
const safeAttrs = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// pendingMount is a mount that is not in place yet.
type pendingMount struct {
	fd         int
	path       string
	isDir      bool
	isReadOnly bool // made read-only at the end
	isOptional bool // skipped if its path does not exist
}

// makeRoot assembles the tree and enters it.
func makeRoot(ns *Namespaces) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	top, parts, err := cloneHost(ns)
	if err != nil {
		return err
	}
	// Any directory will do: its content is behind the new tree, and is removed with the old one.
	const base = "/tmp"
	if err := unix.MoveMount(top, "", unix.AT_FDCWD, base, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("create a tree: %w", err)
	}
	r := rootTree{fd: top}
	if !ns.HostRoot { // mount points are created in it
		r.readOnlyMounts = append(r.readOnlyMounts, top)
	}
	for _, p := range parts {
		if err := r.mountPart(p); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	if err := r.maskProc(); err != nil {
		return err
	}
	for _, m := range r.readOnlyMounts {
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

// cloneHost clones all needed mounts of the host.
func cloneHost(ns *Namespaces) (top int, parts []pendingMount, err error) {
	add := func(fd int, path string, dir, keep bool, err error) error {
		if err == nil {
			parts = append(parts, pendingMount{fd: fd, path: path, isDir: dir, isReadOnly: keep})
		}
		return err
	}
	if ns.HostRoot {
		top, _, err = cloneOf("/", safeAttrs|unix.MOUNT_ATTR_RDONLY)
	} else {
		top, err = newFS("tmpfs", safeAttrs, "mode", "0755")
	}
	if err != nil {
		return top, nil, err
	}
	proc, err := newFS("proc", safeAttrs|unix.MOUNT_ATTR_NOEXEC)
	if err := add(proc, "/proc", true, false, err); err != nil {
		return top, nil, fmt.Errorf("no private /proc from the kernel, as in containers that mask theirs: %w", err)
	}
	dev, err := deviceMounts()
	if err != nil {
		return top, nil, err
	}
	parts = append(parts, dev...)
	for _, m := range ns.Mounts {
		fd, dir, keep := -1, true, false
		switch m.Kind {
		case MountRead:
			fd, dir, err = cloneOf(m.Path, safeAttrs|unix.MOUNT_ATTR_RDONLY)
		case MountWrite:
			fd, dir, err = cloneOf(m.Path, safeAttrs)
		case MountDraft:
			if fd, err = overlay(m.Path, m.Upper, m.Work); err != nil && m.Optional {
				continue
			}
		case MountTmp:
			fd, err = newFS("tmpfs", safeAttrs, "mode", "1777")
		case MountHide:
			if fd, dir, keep, err = emptyCover(m.Path); errors.Is(err, unix.ENOENT) {
				continue
			}
		default:
			err = fmt.Errorf("no kind of mount %q", m.Kind)
		}
		if err := add(fd, m.Path, dir, keep, err); err != nil {
			return top, nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		parts[len(parts)-1].isOptional = m.Optional
	}
	if !ns.HostRoot {
		parts = append(parts, rootLinks()...)
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

// cloneAt returns a detached clone of the tree at a descriptor.
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

// emptyCover returns a cover for a hidden path: an empty directory, or a file that cannot be opened.
func emptyCover(path string) (fd int, dir, keep bool, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return -1, false, false, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		fd, err = newFS("tmpfs", safeAttrs, "mode", "0755", "size", "1m")
		return fd, true, true, err
	}
	fd, dir, err = cloneOf(os.DevNull, safeAttrs|unix.MOUNT_ATTR_RDONLY)
	return fd, dir, false, err
}

// deviceMounts returns the mounts of a private /dev.
func deviceMounts() (parts []pendingMount, err error) {
	dev, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID, "mode", "0755", "size", "1m")
	if err != nil {
		return nil, err
	}
	parts = append(parts, pendingMount{fd: dev, path: "/dev", isDir: true, isReadOnly: true})
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := filepath.Join("/dev", name)
		fd, dir, err := cloneOf(path, unix.MOUNT_ATTR_NOSUID)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		parts = append(parts, pendingMount{fd: fd, path: path, isDir: dir})
	}
	pts, err := newFS("devpts", unix.MOUNT_ATTR_NOSUID, "mode", "0620", "ptmxmode", "0666")
	if err != nil {
		return nil, fmt.Errorf("private terminals: %w", err)
	}
	shm, err := newFS("tmpfs", safeAttrs, "mode", "1777")
	if err != nil {
		return nil, err
	}
	parts = append(parts, pendingMount{fd: pts, path: "/dev/pts", isDir: true}, pendingMount{fd: shm, path: "/dev/shm", isDir: true})
	if tty := sys.TerminalOf(0); tty != "" { // a name for its terminal, for programs that look it up
		fd, dir, err := cloneOf(tty, unix.MOUNT_ATTR_NOSUID)
		if err != nil {
			return nil, fmt.Errorf("its terminal, %s: %w", tty, err)
		}
		parts = append(parts, pendingMount{fd: fd, path: "/dev/console", isDir: dir})
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		parts = append(parts, pendingMount{fd: -1, path: "/dev/" + name + "\x00" + to})
	}
	return parts, nil
}

// rootLinks returns the symbolic links in the host's root directory, such as /bin to /usr/bin.
func rootLinks() (parts []pendingMount) {
	entries, _ := os.ReadDir("/")
	for _, e := range entries {
		if to, err := os.Readlink("/" + e.Name()); err == nil {
			parts = append(parts, pendingMount{fd: -1, path: "/" + e.Name() + "\x00" + to})
		}
	}
	return parts
}

// mountPart mounts a part at its path, which it creates if needed.
func (r *rootTree) mountPart(p pendingMount) error {
	if link, to, ok := strings.Cut(p.path, "\x00"); ok {
		dir, err := r.createDirs(filepath.Dir(link))
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
	if p.isOptional && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)) {
		return unix.Close(p.fd)
	}
	if errors.Is(err, unix.ENOENT) {
		at, err = r.createTarget(p.path, p.isDir)
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if p.isReadOnly {
		r.readOnlyMounts = append(r.readOnlyMounts, p.fd)
	}
	return unix.MoveMount(p.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// open opens a path of the new tree without following links.
func (r *rootTree) open(path string) (int, error) {
	rel := strings.TrimPrefix(path, "/")
	if rel == "" {
		rel = "."
	}
	return unix.Openat2(r.fd, rel, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	})
}

// createDirs creates a directory of the new tree and those above it.
func (r *rootTree) createDirs(path string) (int, error) {
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

// createTarget creates a mount point.
func (r *rootTree) createTarget(path string, dir bool) (int, error) {
	if dir {
		return r.createDirs(path)
	}
	above, err := r.createDirs(filepath.Dir(path))
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

// kernelFiles are paths in /proc by which root controls the kernel.
var kernelFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/driver", "/proc/mtrr"}

// maskProc makes kernelFiles read-only.
func (r *rootTree) maskProc() error {
	for _, path := range kernelFiles {
		at, err := r.open(path)
		if err != nil {
			continue // this kernel lacks it
		}
		fd, _, err := cloneAt(at, safeAttrs|unix.MOUNT_ATTR_RDONLY)
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
