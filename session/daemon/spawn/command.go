//go:build unix

package spawn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// commandOf returns the argv to start: the given one, the user's shell for a line, or the plain shell.
func commandOf(n api.NewSession, env []string) (argv []string, shell bool, err error) {
	switch {
	case len(n.Argv) > 0 && n.Line != "":
		return nil, false, api.Errorf(api.CodeInvalid, "both argv and line given").WithHint("use one of them")
	case len(n.Argv) > 0:
		if strings.TrimSpace(n.Argv[0]) == "" {
			return nil, false, api.Errorf(api.CodeInvalid, "the command is empty").WithHint("name a program")
		}
		return n.Argv, false, nil
	case n.Line != "":
		if strings.TrimSpace(n.Line) == "" {
			return nil, false, api.Errorf(api.CodeInvalid, "the command is empty").WithHint("name a program")
		}
		return []string{UserShell(env), "-c", n.Line}, false, nil
	default:
		return []string{UserShell(env)}, true, nil
	}
}

// UserShell returns the shell that lines run in with an environment: $SHELL, else bash, else sh (R9).
func UserShell(env []string) string {
	if s := getenv(env, "SHELL"); s != "" {
		if _, err := os.Stat(s); err == nil {
			return s
		}
	}
	if p, err := lookPath("bash", env, "/"); err == nil {
		return p
	}
	return "/bin/sh"
}

// ProgramOf returns the program that a request executes first, by the caller's PATH and SHELL: where it is found, and
// its file with links resolved. Both are empty if it is not found.
func ProgramOf(n *api.NewSession) (found, file string) {
	env := n.Env
	if env == nil {
		env = os.Environ()
	}
	env = append(env[:len(env):len(env)], n.SetEnv...)
	name, dir := "", n.Cwd
	if len(n.Argv) > 0 {
		name = n.Argv[0]
	} else {
		name = UserShell(env)
	}
	if dir == "" {
		dir, _ = checkCwd("")
	}
	path, err := lookPath(name, env, dir)
	if err != nil {
		return "", ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return path, real
	}
	return path, path
}

// checkCwd returns a start directory as an absolute path, or an error if no session can start there.
func checkCwd(dir string) (string, error) {
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/"
		}
		return home, nil
	}
	if !filepath.IsAbs(dir) {
		return "", api.Errorf(api.CodeInvalid, "working directory %s is not absolute", dir)
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", api.Errorf(api.CodeInvalid, "working directory %s does not exist", dir).WithHint("create it or choose another with --cwd")
	case err != nil:
		return "", api.Errorf(api.CodeInvalid, "working directory %s: %v", dir, err)
	case !st.IsDir():
		return "", api.Errorf(api.CodeInvalid, "working directory %s is not a directory", dir)
	}
	return filepath.Clean(dir), nil
}

// lookPath finds a program as execvp would with the child's PATH and directory.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		p := name
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		return p, executable(p, name)
	}
	path := getenv(env, "PATH")
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	var denied error
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		p := filepath.Join(d, name)
		err := executable(p, name)
		if err == nil {
			return p, nil
		}
		var e *api.Error
		if errors.As(err, &e) && e.Code == api.CodeSpawn {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", noProgram(name, "check the name, or PATH, or give a path")
}

// noProgram returns the error for a missing program. A name with blanks is probably a line given as one word.
func noProgram(name, hint string) error {
	if words := strings.Fields(name); len(words) > 1 {
		hint = "this is one word; pass program and arguments as separate words, without quotes around all of them, or the line to a shell: sh -c " +
			shellquote.Line([]string{name})
	}
	return api.Errorf(api.CodeNoProgram, "%s: command not found", name).WithHint("%s", hint)
}

// executable returns an error unless p is an executable file.
func executable(p, name string) error {
	st, err := os.Stat(p)
	switch {
	case err != nil:
		return noProgram(name, "check the path "+p)
	case st.IsDir():
		return api.Errorf(api.CodeSpawn, "%s is a directory", p).WithHint("name a program")
	case st.Mode()&0o111 == 0:
		return api.Errorf(api.CodeSpawn, "%s is not executable", p).WithHint("chmod +x it, or run it through its interpreter")
	}
	return nil
}
