package rulebook

import (
	"io/fs"
	"os"
)

const openFlags = os.O_RDONLY

// identity distinguishes a file from its predecessor.
type identity struct{ size, mtime int64 }

// identityOf returns the identity of a file.
func identityOf(st fs.FileInfo) identity { return identity{st.Size(), st.ModTime().UnixNano()} }

// deviceOf returns 0 on Windows: project files are searched for up to the root of the drive.
func deviceOf(fs.FileInfo) uint64 { return 0 }

// isNotDirectory reports whether an error means that a parent of a path is no directory.
func isNotDirectory(error) bool { return false }

// lstat reports whether a path exists.
func lstat(path string) error {
	_, err := os.Lstat(path)
	return err
}
