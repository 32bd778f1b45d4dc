package shell

import (
	"maps"
	"path"
	"strings"
)

// Update returns the guess after the output of a line that prints the shell's state: pwd, env or set.
func (g Guess) Update(line, output string) Guess {
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
				g.setCwd(dir)
			}
		}
	case "env", "printenv":
		if args == "" {
			g.setVariables(parseLines(output), true)
		}
	case "export":
		if args == "" || args == "-p" {
			if env, err := ParseDeclarations(output); err == nil {
				g.setVariables(env, true)
			}
		}
	case "set":
		if args == "" {
			g.setVariables(parseLines(output), false)
		}
	}
	return g
}

// setCwd sets a directory that the shell itself printed.
func (g *Guess) setCwd(dir string) {
	if !path.IsAbs(dir) {
		return
	}
	if dir = path.Clean(dir); dir != g.Cwd {
		g.setDir(dir)
	}
	g.IsCertain = true
}

// setVariables records variables that the shell printed. exported is set if they are all of its exported ones.
func (g *Guess) setVariables(env Env, exported bool) {
	if len(env) == 0 {
		return
	}
	g.setCwd(strings.Trim(env["PWD"], `'"`))
	if exported {
		g.printedEnv, g.Env = env, nil
	}
}

// Environ returns the variables that the shell probably exports: those that it printed, with later changes. It returns
// nil if it has printed none.
func (g Guess) Environ() Env {
	if g.printedEnv == nil {
		return nil
	}
	env := maps.Clone(g.printedEnv)
	for name, value := range g.Env {
		if value == nil {
			delete(env, name)
		} else {
			env[name] = *value
		}
	}
	return env
}

// parseLines parses lines of NAME=value. It omits the further lines of a value, which cannot be distinguished from
// other variables.
func parseLines(s string) Env {
	env := Env{}
	for line := range strings.Lines(s) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if ok && IsVariableName(name) {
			env[name] = value
		}
	}
	return env
}
