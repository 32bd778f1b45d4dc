//go:build unix

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FileID tells a file, links followed, from all others, and from what it is after a change. Empty: there is no such file.
func FileID(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return ""
	}
	return fileID(&st)
}

// FileIDOf is FileID of a descriptor's file.
func FileIDOf(fd int) string {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return ""
	}
	return fileID(&st)
}

func fileID(st *unix.Stat_t) string {
	written, writtenNs := st.Mtim.Unix()
	changed, changedNs := st.Ctim.Unix()
	return fmt.Sprintf("%x.%x.%x.%x.%x.%x.%x", st.Dev, st.Ino, st.Size, written, writtenNs, changed, changedNs)
}
