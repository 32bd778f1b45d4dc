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
	written, writtenNs := st.Mtim.Unix()
	changed, changedNs := st.Ctim.Unix()
	return fmt.Sprintf("%x.%x.%x.%x.%x.%x.%x", st.Dev, st.Ino, st.Size, written, writtenNs, changed, changedNs)
}
