package authorize

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// This file resolves what words mean beyond their text: the environment that a command is started with, and files
// behind links.

// fileChangers are programs whose operands are checked as files: what they do to a link, they may do to its target.
var fileChangers = []string{
	"rm", "rmdir", "chmod", "chown", "chgrp", "mv", "cp", "find", "shred", "srm", "truncate", "dd", "tee", "ln", "install", "rsync", "tar", "unlink",
	"touch", "mkdir", "sed", "patch", "unzip", "zip", "gzip", "gunzip", "bzip2", "xz", "zstd", "make", "gmake", "cmake", "ninja",
}

// linkFollowers are the file changers that follow a link in the last element of a path.
var linkFollowers = []string{
	"cp", "truncate", "dd", "tee", "install", "tar", "touch", "sed", "patch", "unzip", "zip", "gzip", "gunzip", "make", "gmake", "cmake", "ninja",
}

// resolveLinks returns argv with its operands replaced by the files that they lead to through links, or nil if none
// does. It follows a link in the last element only if a slash follows: rm of a link removes the link.
func resolveLinks(cwd string, argv []string) []string {
	if len(argv) < 2 || !slices.Contains(fileChangers, filepath.Base(argv[0])) {
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
		if slices.Contains(linkFollowers, filepath.Base(argv[0])) {
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

// variants returns variants of a request for what its words really mean: with its environment, behind links, for a home
// behind a link.
func (a *Request) variants() (others []Request) {
	add := func(f func(b *Request)) {
		b := *a
		b.Settings, b.Also, b.Scripts = nil, nil, nil
		f(&b)
		others = append(others, b)
	}
	if len(a.Settings) > 0 {
		argv := a.Argv
		if a.Line != "" {
			argv = []string{firstNonEmpty(a.Shell, "sh"), "-c", a.Line}
		}
		add(func(b *Request) { b.Path, b.Line, b.Argv = "", "", slices.Concat([]string{"env"}, a.Settings, argv) })
	}
	argv := a.Argv
	if real := resolveLinks(a.Cwd, argv); real != nil {
		argv = real
		add(func(b *Request) { b.Argv = argv })
	}
	if a.Kind == Execution {
		if real := resolveMounts(a.Actor.PID, a.Cwd, a.Home, a.Argv); real != nil {
			add(func(b *Request) { b.Argv = real })
		}
	}
	if len(argv) < 2 || a.Home == "" || !slices.Contains(fileChangers, filepath.Base(argv[0])) {
		return others
	}
	if home, err := filepath.EvalSymlinks(a.Home); err == nil && home != filepath.Clean(a.Home) {
		add(func(b *Request) { b.Argv, b.Home = argv, home })
	}
	return others
}
