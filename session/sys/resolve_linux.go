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

// maxLinks is how many symbolic links the kernel follows (MAXSYMLINKS).
const maxLinks = 40

// FileOf finds what a path is for a process, a relative one below dir. fs.ErrNotExist is returned for what is not there;
// with another error Path is as far as it was followed.
func FileOf(pid int, dir, path string) (File, error) {
	if !strings.HasPrefix(path, "/") {
		path = dir + "/" + path
	}
	at := rootOf(pid)
	done, todo := "", strings.Split(path, "/")
	var st, dirSt unix.Stat_t
	last, lastDir := "", "" // whose these are
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
		if err := unix.Lstat(at+next, &st); err != nil {
			rest := strings.Join(append([]string{next}, todo...), "/")
			return File{Path: filepath.Clean(rest)}, &fs.PathError{Op: "lstat", Path: rest, Err: err}
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return File{Path: next}, &fs.PathError{Op: "follow", Path: next, Err: unix.ELOOP}
		}
		to, err := os.Readlink(at + next)
		if err != nil {
			return File{Path: next}, err
		}
		if strings.HasPrefix(next, root+"/") && !strings.HasPrefix(to, "/") || strings.HasSuffix(to, " (deleted)") {
			return magic(at+next, to) // memory, or a file without a name any more
		}
		if strings.HasPrefix(to, "/") {
			done = ""
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	if done == "" {
		done = "/"
	}
	f := File{Path: done, Mode: modeOf(st.Mode), At: at + done}
	if last == done {
		f.Inode = inodeOf(&st)
		if lastDir != "" && lastDir == done[:strings.LastIndexByte(done, '/')] {
			f.Dir = inodeOf(&dirSt)
		}
	}
	if at != "" {
		var ours unix.Stat_t
		err := unix.Stat(done, &ours)
		f.Elsewhere = err == nil && (ours.Dev != st.Dev || ours.Ino != st.Ino)
	}
	return f, nil
}

// magic is a link of the kernel's own, which leads to what its text does not name.
func magic(path, text string) (File, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return File{Path: text}, err
	}
	return File{Path: text, Mode: modeOf(st.Mode), At: path}, nil
}

func inodeOf(st *unix.Stat_t) Inode {
	return Inode{
		Known: true, Dev: st.Dev, Number: st.Ino, Size: st.Size, UID: st.Uid, Regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
		Perm: fs.FileMode(st.Mode & 0o777), Written: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix()),
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

// selfLink is where links lead that are other ones for whoever reads them.
func selfLink(pid int, path string) (to string, ok bool) {
	switch path {
	case root + "/self":
		return root + "/" + strconv.Itoa(pid), true
	case root + "/thread-self":
		return fmt.Sprintf("%s/%d/task/%d", root, pid, pid), true
	}
	return "", false
}

// rootOf names a process's root directory for us; empty: it is ours, with the mounts that we have.
func rootOf(pid int) string {
	if sameRoot(pid) {
		return ""
	}
	if ours := ownView(); ours[0] != "" && ours == viewOf(pid) {
		return ""
	}
	at := path(pid, "root")
	if _, err := os.Stat(at + "/"); errors.Is(err, fs.ErrPermission) {
		return "" // not ours to look at: as good as it gets
	}
	return at
}

// sameRoot says that a process's root directory is ours, on the very mount that ours is on: as each mount is in one
// namespace, paths lead through the same mounts then. It costs a process that waits a third of viewOf. Before Linux 6.8
// nothing tells mounts for good, and it is false.
func sameRoot(pid int) bool {
	ours := ownRoot()
	return ours.mount != 0 && ours == mounted(path(pid, "root"))
}

// mountedFile is a file on a mount. The number of a mount is given to no other one, while the machine runs.
type mountedFile struct {
	mount, ino   uint64
	major, minor uint32
}

func mounted(path string) mountedFile {
	const want = unix.STATX_INO | unix.STATX_MNT_ID_UNIQUE
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, want, &st); err != nil || st.Mask&want != want {
		return mountedFile{}
	}
	return mountedFile{st.Mnt_id, st.Ino, st.Dev_major, st.Dev_minor}
}

// ownRoot is ours, which stays what it is.
var ownRoot = sync.OnceValue(func() mountedFile { return mounted(path(0, "root")) })

// viewOf are a process's mounts and root directory; empty where they are not for us to know.
func viewOf(pid int) [2]string {
	mounts, err := readLink(pid, "ns/mnt")
	top, topErr := readLink(pid, "root")
	if err != nil || topErr != nil {
		return [2]string{}
	}
	return [2]string{mounts, top}
}

// ownView is ours, which stays what it is.
var ownView = sync.OnceValue(func() [2]string { return viewOf(0) })
