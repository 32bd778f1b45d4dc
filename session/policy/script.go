package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// script judges sh with a file, and source.
func (w *analyzer) script(operands []string, x *invocation) stream {
	out := stream{text: hole, set: true}
	if x.name == "crontab" {
		return out
	}
	rest := x.argv[1:]
	if hasShellOption(x.args, "c") && x.row.Lang == "sh" && x.name != "source" && x.name != "." {
		if len(operands) == 0 {
			return out
		}
		x.hasJudgedChildren = true
		defer w.giveArguments(operands[1:])()
		feed := w.feed
		defer func() { w.feed = feed }()
		w.feed = x.in
		return w.shellText(operands[0], x.name)
	}
	if x.name != "fish" || !x.hasJudgedChildren {
		switch {
		case len(operands) > 0 && !hasShellOption(x.args, "s") && operands[0] != "-":
			x.hasJudgedChildren = true
			if text, ok := w.pipes[operands[0]]; ok {
				defer w.giveArguments(operands)()
				return w.shellText(text, x.name)
			}
			if m, ok := w.createdAt(operands[0]); ok && m.source == "" {
				return w.runText(m.text, operands, x.in)
			}
			if operands[0] == "/dev/stdin" && x.in.set {
				defer w.giveArguments(operands)()
				return w.shellText(x.in.text, x.name)
			}
			if x.name == "source" || x.name == "." {
				w.invalidateSourced()
			}
			if onlyParses(x) {
				return out
			}
			x.runsProjectFile = w.fromProject(x.name, operands)
			if !isUsualSource(x.name, operands[0]) && !x.runsProjectFile {
				w.askAboutFile(x.argv)
			}
		case x.in.set && x.name != "source" && x.name != ".":
			x.hasJudgedChildren = true
			if hasShellOption(x.args, "s") {
				defer w.giveArguments(append([]string{x.name}, operands...))()
			}
			return w.shellText(x.in.text, x.name)
		}
	}
	if v, ok := x.args.Get("--rcfile", "--init-file"); ok {
		w.unknown(rest, "shells run the file "+v)
	}
	return out
}

// fromProject reports whether a sourced file is an unchanged project file that may also be run by its name, and no line
// has downloaded anything.
func (w *analyzer) fromProject(name string, operands []string) bool {
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
	return (preset == Hard || preset == Build) && !w.denial.fetched && !w.wrote && len(w.created) == 0 && w.isProjectFile(file) && !hasHole(w.cwd) && !w.unknownDir && !w.preset.anyLeaves(operands[1:])
}

// onlyParses reports whether a shell only parses a file and runs nothing of it.
func onlyParses(x *invocation) bool {
	return len(x.args.Options) == 1 && x.args.Options[0].Name == "-n" && x.row.Lang == "sh" && len(x.argv) > 2 && x.argv[1] == "-n" &&
		!strings.HasPrefix(x.argv[2], "+") && noexecShells.has(x.name)
}

// noexecShells are the shells in which -n has that meaning.
var noexecShells = words("sh bash dash ash zsh ksh mksh")

// invalidateSourced invalidates what an unread file may have set.
func (sh *shellState) invalidateSourced() {
	sh.sources = true
	sh.wordCount += len(sh.scope.vars) + len(sh.scope.lists) + len(sh.funcs) // a line of assignments and files in turn stays linear
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

// hasShellOption reports whether a one-letter option is given, perhaps in a cluster.
func hasShellOption(a programs.Args, letter string) bool { return a.Has("-" + letter) }

// isUsualSource reports whether a file is one that users often source.
func isUsualSource(name, file string) bool {
	if name != "source" && name != "." {
		return false
	}
	base := path.Base(file)
	switch base {
	case "activate", "activate.fish", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile",
		".zshenv", "nvm.sh", "cargo-env":
		return true
	}
	return isDirenv(file) || strings.HasSuffix(file, "/.cargo/env") || file == "/etc/profile" || file == "/etc/os-release"
}

// plainLine matches words that mean the same in every shell: a program and its arguments.
var plainLine = pattern.Lazy(`^[A-Za-z0-9_./-]+( [A-Za-z0-9_./:@%+,=-]+)*$`)

// judgeForeignShell requires approval for a line of a shell whose language is parsed as bash here: its special
// characters have other meanings.
func (w *analyzer) judgeForeignShell(l Line) {
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

// readerOf looks up the program that reads a line; code is false for shells, and for programs that may run one.
func readerOf(program string) (base string, row *programs.Program, code bool) {
	base = path.Base(strings.TrimPrefix(program, "-"))
	row = programs.Lookup(base)
	return base, row, base != "." && base != "/" && (row == nil || row.Lang != "" && row.Lang != "sh" && row.Lang != "cron")
}

// ReadsCode reports whether a program reads code of a known language other than shell.
func ReadsCode(program string) bool {
	_, row, code := readerOf(program)
	return code && row != nil
}

// judgeProgramInput judges a line that a program other than a shell reads: python, psql, an unknown program. It reports
// false for shells, and for programs that may run one (ssh, docker, sudo): their input is judged as a shell's.
func (w *analyzer) judgeProgramInput(l Line) bool {
	base, row, code := readerOf(l.Shell)
	if !code {
		return false
	}
	x := &invocation{name: base, argv: []string{base, clip(l.Text)}, row: row}
	c := Command{Argv: x.argv, Risk: Unknown}
	if row != nil {
		w.codes.code(row.Lang, l.Text, x)
	} else {
		w.downgradeDenials(func() { w.source(l.Text) }) // it may be a shell after all
	}
	switch w.engine.preset {
	case Off, Hard:
	default:
		w.ask(&c, "not reading", "what is typed into "+base+" is not known to only read")
	}
	w.record(c)
	return true
}
