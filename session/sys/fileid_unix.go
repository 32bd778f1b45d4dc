//go:build unix

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FileID identifies a file, following links, and its current version. It returns "" for a missing file.
func FileID(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return ""
	}
	return fileID(&st)
}

// FileIDOf returns the FileID of a descriptor's file.
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
