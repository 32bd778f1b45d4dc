package doctor

import "golang.org/x/sys/unix"

// freeBytes is how much may be written where a directory is.
func freeBytes(dir string) (int64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return fs.F_bavail * int64(fs.F_bsize), err
}
