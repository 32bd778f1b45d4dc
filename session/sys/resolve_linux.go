package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxLinks is the number of symbolic links that the kernel follows (MAXSYMLINKS).
const maxLinks = 40

// ResolvePath returns the file that a path refers to for a process; a relative path is below dir. It returns fs.ErrNotExist
// for a missing file. With another error, Path is resolved as far as possible.
func ResolvePath(pid int, dir, path string) (ResolvedFile, error) {
	if !strings.HasPrefix(path, "/") {
		path = dir + "/" + path
	}
	rootDir := rootOf(pid)
	done, todo := "", strings.Split(path, "/")
	var st, dirSt unix.Stat_t
	last, lastDir := "", "" // paths of st and dirSt
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = done[:max(0, strings.LastIndexByte(done, '/'))]
			continue
		}
		next := done + "/" + part
		if to, ok := selfLink(pid, next); ok {
			done = to
			continue
		}
		if last == done {
			dirSt, lastDir = st, last
		}
		last = next
		if err := unix.Lstat(rootDir+next, &st); err != nil {
			rest := strings.Join(append([]string{next}, todo...), "/")
			return ResolvedFile{Path: filepath.Clean(rest)}, &fs.PathError{Op: "lstat", Path: rest, Err: err}
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return ResolvedFile{Path: next}, &fs.PathError{Op: "follow", Path: next, Err: unix.ELOOP}
		}
		to, err := os.Readlink(rootDir + next)
		if err != nil {
			return ResolvedFile{Path: next}, err
		}
		if strings.HasPrefix(next, root+"/") && !strings.HasPrefix(to, "/") || strings.HasSuffix(to, " (deleted)") {
			return resolveMagicLink(rootDir+next, to) // memory, or a file without a name
		}
		if strings.HasPrefix(to, "/") {
			done = ""
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	if done == "" {
		done = "/"
	}
	f := ResolvedFile{Path: done, Mode: modeOf(st.Mode), LocalPath: rootDir + done}
	if last == done {
		f.Inode = inodeOf(&st)
		if lastDir != "" && lastDir == done[:strings.LastIndexByte(done, '/')] {
			f.Dir = inodeOf(&dirSt)
		}
	}
	if rootDir != "" {
		var ours unix.Stat_t
		err := unix.Stat(done, &ours)
		f.IsDifferentLocally = err == nil && (ours.Dev != st.Dev || ours.Ino != st.Ino)
	}
	return f, nil
}

// resolveMagicLink resolves a kernel link whose text is not a path.
func resolveMagicLink(path, text string) (ResolvedFile, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return ResolvedFile{Path: text}, err
	}
	return ResolvedFile{Path: text, Mode: modeOf(st.Mode), LocalPath: path}, nil
}

func inodeOf(st *unix.Stat_t) Inode {
	return Inode{
		IsKnown: true, Dev: st.Dev, Number: st.Ino, Size: st.Size, UID: st.Uid, IsRegular: st.Mode&unix.S_IFMT == unix.S_IFREG,
		Perm: fs.FileMode(st.Mode & 0o777), Modified: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix()),
	}
}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	if mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		m |= fs.ModeDir
	}
	return m
}

// selfLink returns the target of links that depend on the reading process.
func selfLink(pid int, path string) (to string, ok bool) {
	switch path {
	case root + "/self":
		return root + "/" + strconv.Itoa(pid), true
	case root + "/thread-self":
		return fmt.Sprintf("%s/%d/task/%d", root, pid, pid), true
	}
	return "", false
}

// rootOf returns the path of a process's root directory, or "" if it has our root and mounts.
func rootOf(pid int) string {
	if hasSameRoot(pid) {
		return ""
	}
	if ours := ownMountView(); ours[0] != "" && ours == mountView(pid) {
		return ""
	}
	at := procPath(pid, "root")
	if _, err := os.Stat(at + "/"); errors.Is(err, fs.ErrPermission) { // inaccessible: assume our root
		return "" // not ours to look at: as good as it gets
	}
	return at
}

// hasSameRoot reports whether a process's root directory is ours on the same mount. A mount belongs to one namespace, so
// paths then lead through the same mounts. It takes a third of the time of mountView, while the process waits. It returns
// false before Linux 6.8, which has no unique mount ids.
func hasSameRoot(pid int) bool {
	ours := ownRoot()
	return ours.mount != 0 && ours == statMounted(procPath(pid, "root"))
}

// mountedFile identifies a file on a mount. Mount ids are unique until reboot.
type mountedFile struct {
	mount, ino   uint64
	major, minor uint32
}

func statMounted(path string) mountedFile {
	const want = unix.STATX_INO | unix.STATX_MNT_ID_UNIQUE
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, want, &st); err != nil || st.Mask&want != want {
		return mountedFile{}
	}
	return mountedFile{st.Mnt_id, st.Ino, st.Dev_major, st.Dev_minor}
}

// ownRoot returns this process's root directory. It is read once, as this process never changes it.
var ownRoot = sync.OnceValue(func() mountedFile { return statMounted(procPath(0, "root")) })

// mountView returns a process's mount namespace and root directory; empty if hidden.
func mountView(pid int) [2]string {
	mounts, err := readLink(pid, "ns/mnt")
	top, topErr := readLink(pid, "root")
	if err != nil || topErr != nil {
		return [2]string{}
	}
	return [2]string{mounts, top}
}

// ownMountView returns this process's mount namespace and root directory. It is read once, since this process never changes
// them.
var ownMountView = sync.OnceValue(func() [2]string { return mountView(0) })

// OpenDirInRoot opens a directory by its absolute path in a process's mount namespace, below that process's root. Symbolic links
// cannot lead out of that root.
func OpenDirInRoot(pid int, path string) (*os.File, error) {
	name := "/proc/" + strconv.Itoa(pid) + "/root"
	root, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(root)
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(root, path, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
