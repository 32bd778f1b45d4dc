//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// hasHardLinks reports whether a file has further names (hard links).
func hasHardLinks(path string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && sys.Nlink > 1
}

// ownerOf returns the user id of a file's owner.
func ownerOf(st os.FileInfo) (uid int, ok bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(sys.Uid), true
}
