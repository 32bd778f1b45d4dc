package prompt

import (
	"os"
	"path/filepath"
	"strings"
)

// Local completes from this machine's files: files of a directory, and programs in PATH. Its owner provides the other
// subjects as functions.
type Local struct {
	Dir  string
	Path string
	// Others list all candidates of a subject.
	Others map[Subject]func() []string
}

// Complete lists the completions of a word.
func (l *Local) Complete(what Subject, word string) []string {
	switch what {
	case Files:
		return l.files(word)
	case Commands:
		return append(l.programs(word), builtins...)
	}
	if f := l.Others[what]; f != nil {
		return f()
	}
	return nil
}

func (l *Local) files(word string) []string {
	dir, base := filepath.Split(word)
	at := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		at = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(l.Dir, at)
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil // nothing to complete
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || name[0] == '.' && base == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(at, name)); err == nil && info.IsDir() {
			name += "/"
		}
		list = append(list, dir+name)
	}
	return list
}

func (l *Local) programs(word string) []string {
	if word == "" {
		return nil // a list of all programs is of no help
	}
	var list []string
	for _, dir := range filepath.SplitList(l.Path) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // PATH names directories that are not there
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), word) {
				continue
			}
			if info, err := e.Info(); err == nil && (info.Mode()&0o111 != 0 || info.Mode()&os.ModeSymlink != 0) {
				list = append(list, e.Name())
			}
		}
	}
	return list
}

// builtins lists the builtin commands of shells.
var builtins = []string{"alias", "bg", "cd", "command", "echo", "eval", "exec", "exit", "export", "fg", "jobs", "kill", "printf", "pwd", "read", "set", "source", "test", "time", "trap", "type", "ulimit", "umask", "unset", "wait"}
