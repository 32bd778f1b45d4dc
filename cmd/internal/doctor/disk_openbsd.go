package doctor

import "golang.org/x/sys/unix"

// freeBytes returns the free space of the file system at dir.
func freeBytes(dir string) (int64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return fs.F_bavail * int64(fs.F_bsize), err
}
