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

// This file decides which files can be trusted by their name, because only root can write them.

// packageDirs lists the directories in which packages install files.
var packageDirs = []string{"/usr/", "/opt/", "/nix/store/", "/snap/"}

// isRootPackage reports whether a packaged file and its directory belong to root and only root can write them.
func isRootPackage(file sys.ResolvedFile) bool {
	if file.IsDifferentLocally || !slices.ContainsFunc(packageDirs, func(dir string) bool { return strings.HasPrefix(file.Path, dir) }) {
		return false
	}
	return rootWritesInode(file.Inode, file.LocalPath) && rootWritesInode(file.Dir, filepath.Dir(file.LocalPath))
}

// rootWritesInode reports whether only root can write a file, by its inode if that was read, else by its path.
func rootWritesInode(of sys.Inode, path string) bool {
	if !of.IsKnown {
		return rootWrites(path)
	}
	return of.UID == 0 && of.Perm&0o022 == 0
}

// rootWrites reports whether only root can write a file.
func rootWrites(path string) bool {
	st, err := os.Stat(path)
	if err != nil {
		return false
	}
	of, ok := st.Sys().(*syscall.Stat_t)
	return ok && of.Uid == 0 && st.Mode().Perm()&0o022 == 0
}

// systemName returns the name in a system directory by which a root-owned file elsewhere was executed, or "".
func systemName(m *wire.Execution, file sys.ResolvedFile) string {
	if m.Path == "" || filepath.Clean(m.Path) != m.Path || !slices.Contains(programDirs, filepath.Dir(m.Path)) || slices.Contains(programDirs, filepath.Dir(file.Path)) {
		return ""
	}
	st, err := os.Lstat(m.Path)
	if err != nil || st.Mode()&fs.ModeSymlink == 0 || !isRootPackage(file) || !rootWrites(filepath.Dir(m.Path)) {
		return ""
	}
	if of, ok := st.Sys().(*syscall.Stat_t); !ok || of.Uid != 0 {
		return ""
	}
	return m.Path
}
