//go:build unix

package executions

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// Which files are what their name says, because only root writes there.

// rootsPlaces are where packages put what they bring.
var rootsPlaces = []string{"/usr/", "/opt/", "/nix/store/", "/snap/"}

// ofRoot reports whether a file where packages are, and the directory that it is in, are root's and nobody else writes them.
func ofRoot(file sys.File) bool {
	if file.Elsewhere || !slices.ContainsFunc(rootsPlaces, func(dir string) bool { return strings.HasPrefix(file.Path, dir) }) {
		return false
	}
	return rootWritesInode(file.Inode, file.At) && rootWritesInode(file.Dir, filepath.Dir(file.At))
}

// rootWritesInode is rootWrites of a file that was looked at, or may not have been.
func rootWritesInode(of sys.Inode, path string) bool {
	if !of.Known {
		return rootWrites(path)
	}
	return of.UID == 0 && of.Perm&0o022 == 0
}

// rootWrites reports whether only root writes a file.
func rootWrites(path string) bool {
	st, err := os.Stat(path)
	if err != nil {
		return false
	}
	of, ok := st.Sys().(*syscall.Stat_t)
	return ok && of.Uid == 0 && st.Mode().Perm()&0o022 == 0
}

// systemName is the name in the system's directories by which a file of root's elsewhere was executed; "" where it was not.
func systemName(m *wire.Execution, file sys.File) string {
	if m.Path == "" || filepath.Clean(m.Path) != m.Path || !slices.Contains(programDirs, filepath.Dir(m.Path)) || slices.Contains(programDirs, filepath.Dir(file.Path)) {
		return ""
	}
	st, err := os.Lstat(m.Path)
	if err != nil || st.Mode()&fs.ModeSymlink == 0 || !ofRoot(file) || !rootWrites(filepath.Dir(m.Path)) {
		return ""
	}
	if of, ok := st.Sys().(*syscall.Stat_t); !ok || of.Uid != 0 {
		return ""
	}
	return m.Path
}
