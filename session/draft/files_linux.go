package draft

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// beneathOnly keeps each opened path in its directory and on its file system.
const beneathOnly = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// stat is a file's metadata. The zero value is an absent file. Times are in ns since 1970.
type stat struct {
	Mode                uint32
	UID, GID, Nlink     uint32
	Ino                 uint64
	Size                int64
	Mtime, Ctime, Btime int64
	Blocks              int64 // of 512 bytes
	Dev, Rdev           uint64
	Mount               uint64
}

func (s stat) exists() bool       { return s.Mode != 0 }
func (s stat) format() uint32     { return s.Mode & unix.S_IFMT }
func (s stat) isDir() bool        { return s.format() == unix.S_IFDIR }
func (s stat) isFile() bool       { return s.format() == unix.S_IFREG }
func (s stat) isWhiteout() bool   { return s.format() == unix.S_IFCHR && s.Rdev == 0 }
func (s stat) permission() uint32 { return s.Mode & 0o7777 }

// typeName returns the name of a file's type in a Change.
func (s stat) typeName() string {
	switch s.format() {
	case unix.S_IFREG:
		return "file"
	case unix.S_IFDIR:
		return "dir"
	case unix.S_IFLNK:
		return "symlink"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	}
	return "device"
}

// statAt returns the stat of a name in a directory, or of the directory if name is empty. A missing file has the zero stat.
func statAt(dir int, name string) (stat, error) {
	var x unix.Statx_t
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	err := unix.Statx(dir, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME|unix.STATX_MNT_ID, &x)
	if errors.Is(err, unix.ENOENT) {
		return stat{}, nil
	}
	if err != nil {
		return stat{}, &os.PathError{Op: "statx", Path: name, Err: err}
	}
	ns := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	return stat{
		Mode: uint32(x.Mode), UID: x.Uid, GID: x.Gid, Nlink: x.Nlink, Ino: x.Ino, Size: int64(x.Size), Blocks: int64(x.Blocks),
		Mtime: ns(x.Mtime), Ctime: ns(x.Ctime), Btime: ns(x.Btime),
		Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Rdev: unix.Mkdev(x.Rdev_major, x.Rdev_minor), Mount: x.Mnt_id,
	}, nil
}

// openAt opens a name in a directory without following links or leaving the directory's file system.
func openAt(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat2(dir, name, &unix.OpenHow{
			Flags: uint64(flags) | unix.O_CLOEXEC, Mode: uint64(mode), Resolve: beneathOnly,
		})
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) { // EAGAIN: a rename raced with the check
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return fd, nil
	}
}

// openDir opens a directory in a directory.
func openDir(dir int, name string) (int, error) {
	return openAt(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// openRoot opens a directory by its absolute path.
func openRoot(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// maxOpenPath bounds the bytes of a path in one system call; the kernel's limit is 4096.
const maxOpenPath = 3000

// openRel opens a directory at a path relative to dir, which may be longer than the kernel's limit for paths. It returns a
// new descriptor also for the empty path.
func openRel(dir int, rel string) (int, error) {
	at := -1
	for rel != "" || at < 0 {
		part := rel
		if len(part) > maxOpenPath {
			part = part[:strings.LastIndexByte(part[:maxOpenPath], '/')]
		}
		rel = strings.TrimPrefix(rel[len(part):], "/")
		if part == "" {
			part = "."
		}
		from := dir
		if at >= 0 {
			from = at
		}
		next, err := openDir(from, part)
		closeFD(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

func closeFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// names returns the names in a directory, sorted.
func names(dir int) ([]string, error) {
	fd, err := openDir(dir, ".")
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	all, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	return all, nil
}

// procPath names a file in a directory for system calls that take no descriptor. It follows no link but /proc's.
func procPath(dir int, name string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", dir, name) }

// Attributes of overlays that the kernel makes with userxattr.
const (
	overlayPrefix = "user.overlay."
	escapePrefix  = "user.overlay.overlay."
	opaqueName    = "user.overlay.opaque"
	originName    = "user.overlay.origin"
)

// attributes holds a file's extended attributes, and the meaning of the overlay's.
type attributes struct {
	values   map[string]string // attributes that a program sees and a commit keeps
	overlay  []string          // names of the overlay's attributes
	opaque   bool
	copiedUp bool
	escaped  bool   // some of the program's names start with user.overlay. and are escaped
	unknown  string // an attribute that changes the meaning of the entry and that the kernel does not create here
}

// isCommitted reports whether a commit copies an attribute.
func isCommitted(name string) bool {
	return strings.HasPrefix(name, "user.") || name == capabilityName || strings.HasPrefix(name, "system.posix_acl_")
}

const capabilityName = "security.capability"

// attributesAt reads the attributes of a file or directory. In an upper directory, those of the overlay are recognized, and
// names that it has escaped are restored by one level.
func attributesAt(dir int, name string, s stat, upper bool) (a attributes, err error) {
	if !s.isDir() && !s.isFile() {
		return a, nil
	}
	path := procPath(dir, name)
	buf := make([]byte, 512)
	n, err := unix.Llistxattr(path, buf)
	for errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 4*len(buf))
		n, err = unix.Llistxattr(path, buf)
	}
	if errors.Is(err, unix.ENOTSUP) {
		return a, nil
	}
	if err != nil {
		return a, &os.PathError{Op: "listxattr", Path: name, Err: err}
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if !isCommitted(key) {
			continue
		}
		value, err := attribute(path, key)
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return a, &os.PathError{Op: "getxattr " + key, Path: name, Err: err}
		}
		if !upper || !strings.HasPrefix(key, overlayPrefix) {
			a.set(key, value)
			continue
		}
		if rest, ok := strings.CutPrefix(key, escapePrefix); ok {
			a.escaped = true
			a.set(overlayPrefix+rest, value)
			continue
		}
		a.overlay = append(a.overlay, key)
		switch key {
		case opaqueName:
			if a.opaque = value == "y"; !a.opaque {
				a.unknown = key + "=" + value
			}
		case originName:
			a.copiedUp = true
		case "user.overlay.impure", "user.overlay.uuid", "user.overlay.nlink":
		default: // redirect, metacopy, whiteout, protattr and later ones
			a.unknown = key
		}
	}
	return a, nil
}

// set adds an attribute.
func (a *attributes) set(name, value string) {
	if a.values == nil {
		a.values = map[string]string{}
	}
	a.values[name] = value
}

// attribute returns the value of an attribute.
func attribute(path, key string) (string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Lgetxattr(path, key, buf)
		if err == nil {
			return string(buf[:n]), nil
		}
		if !errors.Is(err, unix.ERANGE) || len(buf) > 1<<20 {
			return "", err
		}
		buf = make([]byte, 4*len(buf))
	}
}

// sameContent reports whether two files of equal type have the same content.
func sameContent(up int, upName string, low int, lowName string, u, l stat) (bool, error) {
	switch u.format() {
	case unix.S_IFLNK:
		a, err := readLink(up, upName)
		if err != nil {
			return false, err
		}
		b, err := readLink(low, lowName)
		return a == b, err
	case unix.S_IFREG:
	default:
		return u.Rdev == l.Rdev, nil
	}
	if u.Size != l.Size {
		return false, nil
	}
	if u.Ino == l.Ino && u.Dev == l.Dev {
		return true, nil
	}
	a, err := openFile(up, upName)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := openFile(low, lowName)
	if err != nil {
		return false, err
	}
	defer b.Close()
	return sameBytes(a, b)
}

// sameBytes reports whether two files have the same content.
func sameBytes(a, b io.Reader) (bool, error) {
	var bufs [2][64 << 10]byte
	for {
		n, errA := io.ReadFull(a, bufs[0][:])
		m, errB := io.ReadFull(b, bufs[1][:])
		if !bytes.Equal(bufs[0][:n], bufs[1][:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return n == m, nil
			}
			if err != nil {
				return false, err
			}
		}
	}
}

// openFile opens a regular file for reading. It does not wait if a fifo has replaced it.
func openFile(dir int, name string) (*os.File, error) {
	fd, err := openAt(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func readLink(dir int, name string) (string, error) {
	buf := make([]byte, 4097)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

// chmodAt sets the mode of a file. It does not follow symbolic links.
func chmodAt(dir int, name string, mode uint32) error {
	fd, err := openAt(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	s, err := statAt(fd, "")
	if err != nil {
		return err
	}
	if s.format() == unix.S_IFLNK {
		return &os.PathError{Op: "chmod", Path: name, Err: unix.ELOOP}
	}
	if err := unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode); err != nil {
		return &os.PathError{Op: "chmod", Path: name, Err: err}
	}
	return nil
}

// removeTree removes a file or a directory with all in it. It gives the owner the rights that it needs.
func removeTree(dir int, name string) error {
	err := unix.Unlinkat(dir, name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
		return &os.PathError{Op: "unlink", Path: name, Err: err}
	}
	if err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); err == nil {
		return nil
	}
	fd, err := openDir(dir, name)
	if errors.Is(err, fs.ErrPermission) {
		_ = chmodAt(dir, name, 0o700)
		fd, err = openDir(dir, name)
	}
	if err != nil {
		return err
	}
	defer closeFD(fd)
	_ = unix.Fchmod(fd, 0o700)
	all, err := names(fd)
	if err != nil {
		return err
	}
	for _, n := range all {
		if err := removeTree(fd, n); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); err != nil {
		return &os.PathError{Op: "rmdir", Path: name, Err: err}
	}
	return nil
}

// split returns the directory and the name of a relative path.
func split(rel string) (dir, name string) {
	i := strings.LastIndexByte(rel, '/')
	if i < 0 {
		return "", rel
	}
	return rel[:i], rel[i+1:]
}

// join appends a name to a relative path.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
