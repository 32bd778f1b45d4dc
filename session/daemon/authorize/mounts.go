package authorize

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/sys"
)

// resolveMounts returns argv with its operands renamed to what they are outside of the process's mount namespace, or
// nil if none differs. Every user can mount a home or a directory of the system under another name there, or a disk's
// file at another place.
func resolveMounts(pid int, cwd, home string, argv []string) []string {
	if pid <= 0 || len(argv) < 2 || !slices.Contains(fileChangers, filepath.Base(argv[0])) {
		return nil
	}
	var kept []os.FileInfo // of the protected ones, when there is something to compare them with
	names := policy.ProtectedDirs(home)
	var real []string
	for i, word := range argv[1:] {
		name, value, option := strings.Cut(word, "=")
		if !option || strings.Contains(name, "/") {
			name, value = "", word
		} else {
			name += "="
		}
		if value == "" || value[0] == '-' && name == "" {
			continue
		}
		path, st := fileSeenBy(pid, cwd, value)
		if st == nil || path == "" {
			continue
		}
		behind := ""
		switch mode := st.Mode(); {
		case mode.IsDir():
			if kept == nil {
				kept = make([]os.FileInfo, len(names))
				for k, n := range names {
					kept[k], _ = os.Stat(n) // not there: nothing is it
				}
			}
			if k := slices.IndexFunc(kept, func(one os.FileInfo) bool { return one != nil && os.SameFile(one, st) }); k >= 0 {
				behind = names[k]
			}
		case mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0 && !strings.HasPrefix(path, "/dev/"):
			behind = "/dev/block/" + filepath.Base(path)
		}
		if behind == "" || behind == path {
			continue
		}
		if real == nil {
			real = slices.Clone(argv)
		}
		real[i+1] = name + behind
	}
	return real
}

// fileSeenBy returns the file that a path means to a process. It follows a link in the last element only if a slash
// follows.
func fileSeenBy(pid int, cwd, path string) (string, os.FileInfo) {
	if !filepath.IsAbs(path) {
		path = cwd + "/" + path
	}
	dir, base := filepath.Split(path)
	if base == "" || base == "." || base == ".." {
		dir, base = path, ""
	}
	f, err := sys.ResolvePath(pid, cwd, dir)
	if err != nil || f.LocalPath == "" {
		return "", nil
	}
	st, err := os.Lstat(filepath.Join(f.LocalPath, base))
	if err != nil {
		return "", nil
	}
	return filepath.Join(f.Path, base), st
}
