package doctor

import "golang.org/x/sys/unix"

// freeBytes returns the free space of the file system at dir.
func freeBytes(dir string) (int64, error) {
	var fs unix.Statvfs_t
	err := unix.Statvfs(dir, &fs)
	return int64(fs.Bavail * fs.Frsize), err
}
