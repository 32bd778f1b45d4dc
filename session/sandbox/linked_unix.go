//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// otherNames says that a file has names besides this one.
func otherNames(path string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && sys.Nlink > 1
}
