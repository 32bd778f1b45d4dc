package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// script judges sh with its own options, and source.
func (w *walk) script(operands []string, x *invocation) stream {
	out := stream{text: hole, is: true}
	if x.name == "crontab" {
		return out
	}
	rest := x.argv[1:]
	if shellOption(x.args, "c") && x.row.Lang == "sh" && x.name != "source" && x.name != "." {
		if len(operands) == 0 {
			return out
		}
		x.children = true
		args := w.args
		w.args = operands[min(len(operands), 2):]
		defer func() { w.args = args }()
		feed := w.feed
		defer func() { w.feed = feed }()
		w.feed = x.in
		return w.shellText(operands[0], x.name)
	}
	if x.name != "fish" || !x.children {
		switch {
		case len(operands) > 0 && !shellOption(x.args, "s") && operands[0] != "-":
			x.children = true
			if text, ok := w.pipes[operands[0]]; ok {
				return w.shellText(text, x.name)
			}
			if m, ok := w.madeAt(operands[0]); ok && m.source == "" {
				return w.runText(m.text, operands, x.in)
			}
			if operands[0] == "/dev/stdin" && x.in.is {
				return w.shellText(x.in.text, x.name)
			}
			if x.name == "source" || x.name == "." {
				w.sourced()
			}
			if onlyParses(x) {
				return out
			}
			x.ofProject = w.fromProject(x.name, operands)
			if !usualSource(x.name, operands[0]) && !x.ofProject {
				w.askAboutFile(x.argv)
			}
		case x.in.is && x.name != "source" && x.name != ".":
			x.children = true
			return w.shellText(x.in.text, x.name)
		}
	}
	if v, ok := x.args.Get("--rcfile", "--init-file"); ok {
		w.unknown(rest, "shells run the file "+v)
	}
	return out
}

// fromProject reports a file that is read as lines of this shell and may be run by its name as well: one of the project, that this line has not written, and
// no line that has got something from another machine.
func (w *walk) fromProject(name string, operands []string) bool {
	file := operands[0]
	if name != "source" && name != "." {
		return false
	}
	if !strings.Contains(file, "/") {
		if !strings.HasPrefix(file, ".") { // it is looked for in PATH first
			return false
		}
		file = "./" + file
	}
	preset := w.engine.preset
	return (preset == Hard || preset == Build) && !w.denial.fetched && !w.wrote && len(w.made) == 0 && w.projects(file) && !hasHole(w.cwd) && !w.lost && !w.preset.anyLeaves(operands[1:])
}

// onlyParses reports a shell that reads a file and runs nothing of it.
func onlyParses(x *invocation) bool {
	return len(x.args.Options) == 1 && x.args.Options[0].Name == "-n" && x.row.Lang == "sh" && len(x.argv) > 2 && x.argv[1] == "-n" &&
		!strings.HasPrefix(x.argv[2], "+") && parsers.has(x.name)
}

// parsers are the shells to which -n means that.
var parsers = words("sh bash dash ash zsh ksh mksh")

// sourced makes unknown what a file that nobody has read may have set.
func (sh *shellState) sourced() {
	sh.sources = true
	sh.heard += len(sh.scope.vars) + len(sh.scope.lists) + len(sh.funcs) // a line of assignments and files in turn stays linear
	for name, v := range sh.scope.vars {
		if v.text != hole {
			sh.scope.put(name, hole)
		}
	}
	for name := range sh.scope.lists {
		sh.scope.putList(name, []string{hole})
	}
	for name, f := range sh.funcs {
		sh.funcs[name] = &function{body: f.body, text: f.text, unsure: true, before: f.before}
	}
}

// shellOption reports whether a one-letter option is given, perhaps in a cluster.
func shellOption(a programs.Args, letter string) bool { return a.Has("-" + letter) }

// usualSource reports files that people source every day.
func usualSource(name, file string) bool {
	if name != "source" && name != "." {
		return false
	}
	base := path.Base(file)
	switch base {
	case "activate", "activate.fish", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile",
		".zshenv", "nvm.sh", "cargo-env":
		return true
	}
	return direnvs(file) || strings.HasSuffix(file, "/.cargo/env") || file == "/etc/profile" || file == "/etc/os-release"
}

// plainLine are words that mean the same to every shell: a program and what it is told.
var plainLine = pattern.Lazy(`^[A-Za-z0-9_./-]+( [A-Za-z0-9_./:@%+,=-]+)*$`)

// foreign asks about a line for a shell whose language is read here as if it were bash's: what it means by other
// signs than words is its own.
func (w *walk) foreign(l Line) {
	if w.engine.preset == Off || w.engine.preset == Hard || plainLine.MatchString(strings.TrimSpace(l.Text)) {
		return
	}
	base := path.Base(strings.TrimPrefix(l.Shell, "-"))
	switch base {
	case "nu", "elvish", "xonsh", "rc", "es", "csh", "tcsh":
		c := Command{Argv: []string{base, clip(l.Text)}, Risk: Unknown}
		w.ask(&c, "not reading", "what "+base+" makes of this line is not known")
		w.record(c)
	}
}

// reader looks up the program that reads a line; code is false of shells, and of programs behind which there may be one.
func reader(program string) (base string, row *programs.Program, code bool) {
	base = path.Base(strings.TrimPrefix(program, "-"))
	row = programs.Lookup(base)
	return base, row, base != "." && base != "/" && (row == nil || row.Lang != "" && row.Lang != "sh" && row.Lang != "cron")
}

// ReadsCode says that what a program reads is code of a language that is known here, and no shell's.
func ReadsCode(program string) bool {
	_, row, code := reader(program)
	return code && row != nil
}

// typed judges a line that a program reads which is no shell: python, psql, a program that is not known. It
// reports false for shells, and for programs behind which there may be one (ssh, docker, sudo): what they read
// is judged as a shell's.
func (w *walk) typed(l Line) bool {
	base, row, code := reader(l.Shell)
	if !code {
		return false
	}
	x := &invocation{name: base, argv: []string{base, clip(l.Text)}, row: row}
	c := Command{Argv: x.argv, Risk: Unknown}
	if row != nil {
		w.codes.code(row.Lang, l.Text, x)
	} else {
		w.only(func() { w.source(l.Text) }) // it may be a shell after all
	}
	switch w.engine.preset {
	case Off, Hard:
	default:
		w.ask(&c, "not reading", "what is typed into "+base+" is not known to only read")
	}
	w.record(c)
	return true
}
