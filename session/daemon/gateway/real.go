package gateway

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// What words mean besides what they say: the settings that a command is started with, and the files behind links.

// changesFiles are programs whose operands are looked at as files: what they do to a link's name they may do to
// what is behind it.
var changesFiles = []string{
	"rm", "rmdir", "chmod", "chown", "chgrp", "mv", "cp", "find", "shred", "srm", "truncate", "dd", "tee", "ln", "install", "rsync", "tar", "unlink",
	"touch", "mkdir", "sed", "patch", "unzip", "zip", "gzip", "gunzip", "bzip2", "xz", "zstd", "make", "gmake", "cmake", "ninja",
}

// followsLast are those of them that follow a link in the last name of a path.
var followsLast = []string{
	"cp", "truncate", "dd", "tee", "install", "tar", "touch", "sed", "patch", "unzip", "zip", "gzip", "gunzip", "make", "gmake", "cmake", "ninja",
}

// behindLinks are argv with operands that lead through links by the names of their files; nil: there are none.
// The last name of a path is followed only where the path says so, with a slash at its end: rm of a link removes the link.
func behindLinks(cwd string, argv []string) []string {
	if len(argv) < 2 || !slices.Contains(changesFiles, filepath.Base(argv[0])) {
		return nil
	}
	var real []string
	for i, word := range argv[1:] {
		name, value, option := strings.Cut(word, "=") // of=/dev/sda, --target-directory=/
		if !option || strings.Contains(name, "/") {
			name, value = "", word
		} else {
			name += "="
		}
		if value == "" || value[0] == '-' && name == "" {
			continue
		}
		path := value
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		var behind string
		var err error
		if slices.Contains(followsLast, filepath.Base(argv[0])) {
			behind = rulebook.RealPath(path)
		} else if strings.HasSuffix(value, "/") || strings.HasSuffix(value, "/.") || strings.HasSuffix(value, "/..") {
			behind, err = filepath.EvalSymlinks(path)
		} else if behind, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			behind = filepath.Join(behind, filepath.Base(path))
		}
		if err != nil || behind == filepath.Clean(path) {
			continue
		}
		if real == nil {
			real = slices.Clone(argv)
		}
		real[i+1] = name + behind
	}
	return real
}

// besides are askings for what the words of this one really are: with its settings, behind links, for a home behind a link.
func (a *Ask) besides() (others []Ask) {
	add := func(f func(b *Ask)) {
		b := *a
		b.Settings, b.Also, b.Scripts = nil, nil, nil
		f(&b)
		others = append(others, b)
	}
	if len(a.Settings) > 0 {
		argv := a.Argv
		if a.Line != "" {
			argv = []string{firstOf(a.Shell, "sh"), "-c", a.Line}
		}
		add(func(b *Ask) { b.Path, b.Line, b.Argv = "", "", slices.Concat([]string{"env"}, a.Settings, argv) })
	}
	argv := a.Argv
	if real := behindLinks(a.Cwd, argv); real != nil {
		argv = real
		add(func(b *Ask) { b.Argv = argv })
	}
	if a.Kind == Execution {
		if real := behindMounts(a.Actor.PID, a.Cwd, a.Home, a.Argv); real != nil {
			add(func(b *Ask) { b.Argv = real })
		}
	}
	if len(argv) < 2 || a.Home == "" || !slices.Contains(changesFiles, filepath.Base(argv[0])) {
		return others
	}
	if home, err := filepath.EvalSymlinks(a.Home); err == nil && home != filepath.Clean(a.Home) {
		add(func(b *Ask) { b.Argv, b.Home = argv, home })
	}
	return others
}
