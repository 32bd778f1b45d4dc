package doctor

import "golang.org/x/sys/unix"

// freeBytes is how much may be written where a directory is.
func freeBytes(dir string) (int64, error) {
	var fs unix.Statvfs_t
	err := unix.Statvfs(dir, &fs)
	return int64(fs.Bavail * fs.Frsize), err
}
