package sandbox

import (
	"os"
	"strconv"
)

// isDir reports whether a path is a directory, without following links.
func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}

// uidGid returns the user and group of this process for docker.
func uidGid() string { return strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid()) }
