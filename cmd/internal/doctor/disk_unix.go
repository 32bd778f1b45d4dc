//go:build unix && !netbsd && !openbsd && !solaris

package doctor

import "golang.org/x/sys/unix"

// freeBytes is how much may be written where a directory is.
func freeBytes(dir string) (int64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return int64(fs.Bavail) * int64(fs.Bsize), err
}
