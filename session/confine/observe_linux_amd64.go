package confine

import "golang.org/x/sys/unix"

func init() {
	for nr, c := range map[uint32]pathCall{
		unix.SYS_OPEN: {-1, 0, 1, "read"}, unix.SYS_CREAT: {-1, 0, -1, "make"}, unix.SYS_MKDIR: {-1, 0, -1, "make"},
		unix.SYS_RMDIR: {-1, 0, -1, "make"}, unix.SYS_UNLINK: {-1, 0, -1, "make"}, unix.SYS_RENAME: {-1, 1, -1, "make"},
		unix.SYS_RENAMEAT: {2, 3, -1, "make"}, unix.SYS_SYMLINK: {-1, 1, -1, "make"}, unix.SYS_LINK: {-1, 1, -1, "make"},
		unix.SYS_CHMOD: {-1, 0, -1, "write"}, unix.SYS_MKNOD: {-1, 0, -1, "make"},
	} {
		observedCalls[nr] = c
	}
}
