package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// builtin judges shell builtins and returns the output of simple programs. It reports false for commands that it leaves
// to the table.
func (w *analyzer) builtin(c *Command, x *invocation) (stream, bool) {
	args := x.argv[1:]
	none := stream{}
	if len(args) == 0 && w.looksLikeDir(x.argv[0]) { // autocd, which fish always has
		w.cwd, w.unknownDir = "", true
		return none, true
	}
	if (x.name == "unset" || x.name == "export") && slices.ContainsFunc(args, func(a string) bool {
		return a == "LONGTERM_AGENT" && x.name == "unset" || strings.HasPrefix(a, "LONGTERM_AGENT=")
	}) {
		w.ask(c, "hard:longterm", "it changes the caller's identity for longterm")
	}
	switch x.name {
	case "echo":
		if slices.Contains([]string{"sh", "dash", "ash", "mksh", "ksh", "zsh"}, path.Base(w.shell)) { // theirs takes escapes
			args = append([]string{"-e"}, args...)
		}
		return stream{text: echoOutput(args), set: true}, true
	case "printf":
		for _, a := range args {
			if strings.HasPrefix(a, "a[") || len(args) > 1 && args[0] == "-v" {
				w.judgeQuotedSubst(a)
			}
		}
		if len(args) > 1 && args[0] == "-v" {
			w.scope.put(args[1], printfOutput(args[2:]))
			return none, true
		}
		return stream{text: printfOutput(args), set: true}, true
	case "cat", "tee", "tac", "less", "more":
		return w.copyInput(c, x), true
	case "mktemp":
		return stream{text: "/tmp/" + notEmpty, set: true}, true
	case "ls", "dir":
		return w.lsOutput(x), true
	case "find":
		w.children(c, x)
		text := w.foundNames(x)
		if w.engine.preset == Build && x.args.Has("-L", "-H", "-follow") { // links lead out of the project
			text = hole
		}
		return stream{text: text, set: true}, true
	case "grep", "head", "tail", "sort", "uniq", "sed", "awk", "tr", "cut", "rev", "xxd", "base64", "rg",
		"gunzip", "zcat":
		return none, false
	case "which":
		return stream{text: whichOutput(x.args.Operands), set: true}, true
	case "command", "type", "whereis":
		if len(args) > 1 && (args[0] == "-v" && x.name == "command" || strings.Trim(args[0], "pP") == "-" && x.name == "type") {
			return stream{text: whichOutput(args[1:]), set: true}, true
		}
		return none, false
	case "cd", "pushd", "chdir":
		w.changeDir(x.args.Operands)
		if ops := x.args.Operands; len(ops) > 0 && !strings.HasPrefix(ops[0], "/") && !strings.HasPrefix(ops[0], ".") &&
			w.scope.get("CDPATH").set {
			w.cwd, w.unknownDir = "", true
		}
		if ops := x.args.Operands; len(ops) == 1 && w.scope.get(ops[0]).set { // cdable_vars
			w.cwd, w.unknownDir = "", true
		}
		return none, true
	case "popd":
		w.cwd, w.unknownDir = "", true
		return none, true
	case "read", "mapfile", "readarray", "getopts", "unset", "local", "typeset", "declare", "export", "readonly":
		w.variables(c, x)
		return none, true
	case "test", "[", "wait", "let", "[[":
		for _, a := range args {
			w.judgeQuotedSubst(a)
			if name, _, ok := strings.Cut(a, "="); ok && x.name == "let" {
				w.noteVariable(strings.TrimRight(name, " +-*/%&|^<>"))
			}
		}
		return none, true
	case "alias":
		for _, a := range args {
			if name, text, ok := strings.Cut(a, "="); ok {
				w.shellText(text, "the alias "+name)
				w.aliases[name] = strings.Fields(text)
				if w.engine.preset != Off && w.engine.preset != Hard && !w.isPlainAlias(name) {
					w.ask(c, "environment", "an alias changes what later commands run")
				}
			}
		}
		return none, true
	case "hash":
		if len(args) > 2 && args[0] == "-p" {
			w.aliases[args[2]] = []string{args[1]}
		}
		for _, a := range args {
			if name, to, ok := strings.Cut(a, "="); ok && path.Base(w.shell) == "zsh" {
				w.aliases[name] = []string{to}
			}
		}
		return none, false
	case "print":
		if path.Base(w.shell) == "zsh" && len(args) > 1 && strings.HasPrefix(args[0], "-") && strings.Contains(args[0], "P") &&
			strings.ContainsAny(strings.Join(args[1:], " "), "$`") {
			w.unknown(x.argv, "zsh runs what is in a prompt's words")
		}
		if path.Base(w.shell) == "zsh" {
			w.children(c, x)
			return stream{text: printOutput(args), set: true}, true
		}
		return none, false
	case "zargs":
		w.zargs(args)
		return none, false
	case "setopt", "unsetopt":
		w.zshOptions(args, x.name == "setopt")
		return none, false
	case "coproc": // of zsh, for which it is no command: what later commands print to >&p comes in
		if len(args) == 0 {
			return none, false
		}
		x.hasJudgedChildren = true
		return w.analyzeSubshell(func() stream { return w.run(args, stream{text: hole, set: true}) }), true
	case "shift":
		w.shiftArguments()
		return none, true
	case "set":
		ops := x.args.Operands
		if x.args.Dashes {
			w.args = append([]string{}, ops...)
		}
		for i, a := range args {
			if i > 0 && (args[i-1] == "-o" || args[i-1] == "+o") {
				w.zshOptions([]string{a}, args[i-1] == "-o")
			}
		}
		return none, true
	case "trap":
		if len(args) > 1 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 1 && args[0] != "-" && args[0] != "-p" && args[0] != "-l" {
			run := func() { w.shellText(args[0], "trap") }
			if slices.ContainsFunc(args[1:], trapsWithinLine) {
				run()
			} else {
				w.deferJudgement(run)
			}
		}
		return none, true
	case "bind":
		for i, a := range args {
			if a == "-x" && i+1 < len(args) {
				_, text, _ := strings.Cut(args[i+1], ":")
				w.judgePossibleShell(text, "bind")
			} else if _, typed, is := strings.Cut(a, "\":"); is { // a key that types
				w.judgePossibleShell(ansiC(strings.Trim(typed, " \"")), "bind")
			}
		}
		return none, true
	case "complete", "compgen":
		for i, a := range args {
			if (a == "-C" || a == "-W") && i+1 < len(args) {
				w.judgePossibleShell(args[i+1], x.name)
			}
		}
		return none, true
	case "fc", "r":
		if x.name == "fc" && !x.args.Has("-l") {
			w.ask(c, "unknown", "it runs a command of the history")
		}
		return none, true
	case "zstyle", "bindkey", "emulate":
		if x.name == "emulate" {
			w.emulates(args)
		}
		for i, a := range args {
			if (a == "-e" && x.name == "zstyle" || a == "-s" && x.name == "bindkey") && i+1 < len(args) {
				w.judgePossibleShell(ansiC(args[len(args)-1]), x.name)
			} else if a == "-c" && i+1 < len(args) {
				w.shellText(args[i+1], x.name)
			}
		}
		return none, false
	case "enable":
		if x.args.Has("-f") {
			w.ask(c, "unknown", "it loads code into the shell")
		}
		return none, true
	}
	return none, false
}

// isPlainAlias reports, for the preset build, another name of commands that were judged: one that no program has, or that of the program
// itself.
func (sh *shellState) isPlainAlias(name string) bool {
	words := sh.aliases[name]
	if sh.engine.preset != Build || len(words) == 0 || !isVariableName(name) || builtins.has(name) {
		return false
	}
	row := programs.Lookup(name)
	return words[0] == name || building.Lookup(name) == nil && (row == nil || !row.Reads)
}

// trapsWithinLine reports whether a trap condition runs between the commands of a line.
func trapsWithinLine(condition string) bool {
	switch strings.TrimPrefix(strings.ToUpper(condition), "SIG") {
	case "EXIT", "INT", "TERM", "HUP", "QUIT", "0", "1", "2", "3", "15":
		return false
	}
	return true
}

// looksLikeDir reports whether a word may be a directory and is unlikely to be a program.
func (fs *files) looksLikeDir(word string) bool {
	if !strings.Contains(word, "/") && word != ".." {
		return false
	}
	full, ok := fs.clean(word)
	return strings.HasSuffix(word, "/") || path.Base(word) == ".." || ok && (full == fs.home || full == "/" || fs.removalDanger(word) == fatal)
}

// whichOutput returns what which prints: where programs usually are.
func whichOutput(names []string) string {
	text := ""
	for _, n := range names {
		if !strings.HasPrefix(n, "/") {
			n = "/usr/bin/" + n
		}
		text += n + "\n"
	}
	return text
}

// echoOutput returns the output of echo.
func echoOutput(args []string) string {
	escapes, newline := false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0], "e")
		if strings.Contains(args[0], "n") {
			newline = ""
		}
		args = args[1:]
	}
	s := strings.Join(args, " ")
	if escapes {
		s = ansiC(s)
	}
	return s + newline
}

// printOutput returns what print of zsh prints, each word on a line.
func printOutput(args []string) string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		args = args[1:]
	}
	return strings.Join(args, "\n") + "\n"
}

// nulEscape matches the zero byte that separates words for xargs -0, in the notation of printf.
var nulEscape = pattern.Lazy(`\\(?:0{1,3}|x00?)([^0-9a-fA-F]|$)`)

// printfOutput returns the output of printf; the output of formats other than %s and %d is unknown.
func printfOutput(args []string) string {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	format, args := ansiC(nulEscape.ReplaceAllString(args[0], "\x00$1")), args[1:]
	var b strings.Builder
	for {
		used := false
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			arg := ""
			if format[i] != '%' && len(args) > 0 {
				arg, args, used = args[0], args[1:], true
			}
			switch format[i] {
			case '%':
				b.WriteByte('%')
			case 's', 'd', 'i', 'q':
				b.WriteString(arg)
			case 'b':
				b.WriteString(ansiC(arg))
			default:
				b.WriteString(hole)
				for i+1 < len(format) && strings.IndexByte("0123456789.*-+#l", format[i]) >= 0 {
					i++
				}
			}
		}
		if !used || len(args) == 0 || b.Len() > 64<<10 {
			return b.String()
		}
	}
}

// copyInput judges cat and tee: their output is their input, if they get no file.
func (w *analyzer) copyInput(c *Command, x *invocation) stream {
	w.children(c, x)
	if x.name == "tee" {
		for _, o := range x.args.Operands {
			w.noteWritten(o, x.in)
		}
		if w.engine.asksOfFiles() {
			for _, o := range x.args.Operands {
				if !isHarmlessTarget(o) {
					w.ask(c, "write", "it writes a file")
				}
			}
		}
		return x.in
	}
	if x.name == "tac" {
		return stream{text: hole, set: true}
	}
	if len(x.args.Operands) == 0 {
		return x.in
	}
	text := ""
	for _, o := range x.args.Operands {
		switch t, ok := w.pipes[o]; {
		case ok:
			text += t
		case o == "-" || o == "/dev/stdin":
			text += x.in.text
		case o == "/dev/null":
		default:
			if m, ok := w.createdAt(o); ok && m.source == "" {
				text += m.text
			} else {
				text += hole
			}
		}
	}
	return stream{text: text, set: true}
}

// lsOutput returns the output of ls: names, represented by globs.
func (w *analyzer) lsOutput(x *invocation) stream {
	text := ""
	for _, o := range x.args.Operands {
		if x.args.Has("-d") || hasGlob(o) {
			text += o + "\n"
		} else {
			text += globStar + "\n"
		}
	}
	if text == "" {
		text = globStar + "\n"
	}
	return stream{text: text, set: true}
}

// maxPath bounds the length of paths, in bytes (PATH_MAX). Without the bound, each of many cd commands would copy all
// before it.
const maxPath = 4096

// changeDir applies cd to the working directory.
func (fs *files) changeDir(operands []string) {
	switch {
	case len(operands) == 0:
		fs.cwd = fs.home
	case operands[0] == "-" || strings.HasPrefix(operands[0], "+") || hasHole(operands[0]):
		fs.cwd, fs.unknownDir = "", true
	default:
		given, _ := fs.absolute(operands[0])
		switch full, ok := fs.clean(operands[0]); {
		case len(full) > maxPath: // the shell stays where it is, or is where no path leads
			fs.cwd, fs.unknownDir = "", true
		case ok && !hasGlob(full) && full == stripProcRoot(path.Clean(given)): // else ".." leaves a link, in one of two ways
			fs.cwd, fs.unknownDir = full, false
		default:
			fs.cwd, fs.unknownDir = "", fs.unknownDir || fs.cwd != ""
		}
	}
}

// firstLines returns the value that read and mapfile set from a command's output. Only a few of the names that find
// prints are used, since many commands of a line may read the same.
func (fs *files) firstLines(in stream) string {
	if in.set && strings.Contains(in.text, everyProcess) {
		return everyProcess
	}
	for _, line := range strings.SplitN(in.text[:min(len(in.text), maxPath)], "\n", 16) {
		if line = strings.TrimSuffix(strings.TrimSpace(line), anyBelow); in.set && !hasHole(line) && fs.removalDanger(line) == fatal {
			return line + anyBelow
		}
		if full, ok := fs.clean(line); in.set && ok && !hasHole(full) && hasGlob(full) && fs.coversAll(full) { // ~/**/*
			return everyFileBelow(coveredDir(full))
		}
	}
	return hole
}

// variables judges commands that set variables by name.
func (w *analyzer) variables(c *Command, x *invocation) {
	args, piece := x.argv[1:], hole
	if x.name == "read" || x.name == "mapfile" || x.name == "readarray" {
		piece = w.firstLines(x.in)
		if n, given := x.args.Get("-u"); given {
			text, known := w.pipes["/dev/fd/"+n]
			piece = w.firstLines(stream{text: text, set: known})
		}
	}
	for i, a := range args {
		w.judgeQuotedSubst(a)
		if a == "-C" && i+1 < len(args) && x.name != "read" {
			w.judgePossibleShell(strings.TrimSuffix(strings.TrimSpace(args[i+1]), "#"), x.name)
		}
		name, text, ok := strings.Cut(a, "=")
		if strings.HasPrefix(a, "-") || name == "" {
			continue
		}
		if !ok {
			text = piece
			if x.name == "export" || x.name == "readonly" {
				continue
			}
			if x.name == "unset" && slices.Contains(loadVariables(), name) && !strings.HasPrefix(args[0], "-") {
				text = "" // it no longer names a program
			}
		}
		if strings.Contains(name, "[") {
			continue
		}
		if f := w.funcs[name]; f != nil && x.name == "unset" {
			w.funcs[name] = &function{body: f.body, text: f.text, unsure: true, before: f.before}
		}
		w.noteText(name, text)
		if (strings.HasSuffix(text, anyBelow) || text == everyProcess) && (x.name != "read" || x.args.Has("-a")) {
			w.scope.putList(name, []string{text, hole})
		}
	}
	if w.engine.preset == ReadOnly && (x.name == "read" || x.name == "unset") {
		c.Verdict = Allow
	}
}
