package shell

import (
	"maps"
	"path"
	"strings"
)

// Told is the guess after a line that prints what the shell is like, pwd, env or set, has
// printed it.
func (g Guess) Told(line, output string) Guess {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return g
	}
	args := strings.Join(fields[1:], " ")
	switch fields[0] {
	case "pwd":
		if args == "" || args == "-P" || args == "-L" {
			lines := strings.Fields(output)
			if dir := strings.TrimSpace(output); len(lines) > 0 && !strings.Contains(dir, "\n") {
				g.found(dir)
			}
		}
	case "env", "printenv":
		if args == "" {
			g.told(parseLines(output), true)
		}
	case "export":
		if args == "" || args == "-p" {
			if env, err := ParseDeclarations(output); err == nil {
				g.told(env, true)
			}
		}
	case "set":
		if args == "" {
			g.told(parseLines(output), false)
		}
	}
	return g
}

// found takes a directory that the shell itself printed.
func (g *Guess) found(dir string) {
	if !path.IsAbs(dir) {
		return
	}
	if dir = path.Clean(dir); dir != g.Cwd {
		g.move(dir)
	}
	g.Sure = true
}

// told takes what the shell printed of its variables.
func (g *Guess) told(env Env, exported bool) {
	if len(env) == 0 {
		return
	}
	g.found(strings.Trim(env["PWD"], `'"`))
	if exported {
		g.base, g.Env = env, nil
	}
}

// Environ is what the shell may export: what it printed of it, and what lines did since;
// nil when it has printed nothing.
func (g Guess) Environ() Env {
	if g.base == nil {
		return nil
	}
	env := maps.Clone(g.base)
	for name, value := range g.Env {
		if value == nil {
			delete(env, name)
		} else {
			env[name] = *value
		}
	}
	return env
}

// parseLines reads NAME=value, one a line. The further lines of a value are left out:
// nothing tells them from the next variable.
func parseLines(s string) Env {
	env := Env{}
	for line := range strings.Lines(s) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if ok && isName(name) {
			env[name] = value
		}
	}
	return env
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], i > 0) {
			return false
		}
	}
	return s != ""
}
