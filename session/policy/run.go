package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/bound"
	"github.com/longterm-dev/longterm/session/policy/programs"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// run judges a command whose words are known, and the commands that it runs. It returns what the
// command prints, as far as that is known.
func (w *analyzer) run(argv []string, in stream) stream {
	if w.nested++; w.nested > maxNested {
		w.nested--
		w.unknown(argv, "it is nested too deep to be judged")
		return stream{text: hole, set: true}
	}
	defer func() { w.nested-- }()
	w.wordCount += len(argv)
	if w.runs++; w.runs > w.budget || w.wordCount > maxWords {
		if w.runs <= w.budget+1 {
			w.unknown([]string{"…"}, "it runs too many commands to be judged")
			w.runs = w.budget + 1
		}
		return stream{text: hole, set: true}
	}
	name := argv[0]
	if name == "" {
		return stream{}
	}
	if f := w.funcs[name]; f != nil {
		return w.judgeCall(f, argv, in)
	}
	if words := w.aliases[name]; len(words) > 0 && words[0] != name {
		// Shells know an alias from the next line on only, and not at all where the name is quoted.
		out := w.run(append(words[:len(words):len(words)], argv[1:]...), in)
		return joinBranches(out, w.branch(func() stream { return w.judgeProgram(argv, in) }))
	}
	if words := w.aliases[name]; len(words) > 0 {
		argv = append(words[:len(words):len(words)], argv[1:]...)
	}
	if out, ok := w.runCreated(argv, in); ok {
		return out
	}
	if isHistoryWord(name) && w.hasHistory() {
		w.unknown(argv, "an interactive shell replaces it by a line of its history")
		return stream{text: hole, set: true}
	}
	if hasHole(name) || hasGlob(name) || strings.ContainsFunc(name, isOddRune) {
		w.unknown(argv, "which program runs is not known before it runs")
		if hasHole(name) {
			w.guesses.guess(argv[1:])
		}
		return stream{text: hole, set: true}
	}
	base := strings.TrimPrefix(path.Base(strings.ReplaceAll(name, `\`, "/")), "^") // nu's sign of programs that are not its own
	if end := len(base) - len(".exe"); end > 0 && strings.EqualFold(base[end:], ".exe") && programs.Lookup(strings.ToLower(base[:end])) != nil {
		base = strings.ToLower(base[:end]) // a program of Windows, as WSL starts it
	}
	if path.Base(w.shell) == "zsh" {
		if name == "-" && len(argv) > 1 {
			return w.run(argv[1:], in) // it starts a command as a login shell would
		}
		base = strings.TrimPrefix(strings.TrimPrefix(base, "="), "zf_")
	}
	if sub, ok := strings.CutPrefix(base, "git-"); ok && programs.Lookup(base) == nil && programs.Sub("git "+programs.Full("git", sub)) != nil {
		argv = append([]string{"git", sub}, argv[1:]...) // git keeps its subcommands as programs too
		base = "git"
	}
	if base == "hub" && len(argv) > 1 { // it hands to git what is not its own
		w.run(append([]string{"git"}, argv[1:]...), in)
	}
	if len(argv) > 1 && base == "coreutils" {
		if prog, is := strings.CutPrefix(argv[1], "--coreutils-prog="); is {
			return w.run(append([]string{prog}, argv[2:]...), in)
		}
	}
	if base == "node" || base == "nodejs" { // its letters are no cluster
		if i := slices.Index(argv, "-pe"); i > 0 {
			argv = slices.Concat(argv[:i], []string{"-e"}, argv[i+1:])
		}
	}
	if base == "sg" && len(argv) > 2 && argv[2] != "-c" { // -c is optional
		argv = slices.Concat(argv[:2], []string{"-c"}, argv[2:])
	}
	row, words, args := resolve(base, argv)
	c := Command{Argv: argv}
	x := &invocation{name: base, argv: argv, words: words, row: row, args: args, in: in}
	if w.visit != nil {
		w.visit(x, !w.piped)
	}
	for _, name := range w.env {
		w.delegated.judgeLoadVariable(x, name, w.scope.get(name).text)
	}
	w.delegated.judgeLineLoadVariables(x)
	w.delegated.judgeOptionVariables(x)
	w.denial.fetched = w.denial.fetched || downloaders.has(base)
	w.denial.applyDenials(&c, x)
	w.preset.matchRules(&c, x)
	out, special := w.builtin(&c, x)
	if !special {
		out = w.children(&c, x)
	}
	if printsProjectNames(x) {
		out = stream{text: projectNames + "\n", set: true}
	}
	if names := w.namesAnywhere(x); names != "" {
		out = stream{text: names + "\n", set: true}
	}
	if names := w.passedNames(x); names != "" {
		out = stream{text: names + "\n", set: true}
	}
	if printsAllPIDs(x) {
		out = stream{text: everyProcess + "\n", set: true}
	}
	w.preset.applyPreset(&c, x)
	if c.Verdict == Allow && w.mayBeFoundElsewhere(name) {
		w.ask(&c, "environment", "PATH was changed, and may lead to another program of that name")
	}
	c.Risk = w.preset.risk(&c, x)
	w.record(c)
	return out
}

// downloaders are programs that print or write data from other machines.
var downloaders = words("curl wget wget2 aria2c axel http https xh lynx w3m links elinks nc ncat netcat socat ssh scp sftp ftp lftp")

// isOddRune reports runes that look like blanks but are part of a word for the shell.
func isOddRune(r rune) bool {
	switch {
	case r == '\r', r == 0xa0, r == 0xad, r == 0xfeff, r >= 0x2000 && r <= 0x200f, r >= 0x2028 &&
		r <= 0x202f, r == 0x205f, r == 0x3000,
		r == 0x85, r >= 0x2060 && r <= 0x2064, r == 0xfffd:
		return true
	}
	return r < ' ' && r != '\n' && r != '\t'
}

// invocation is a parsed command.
type invocation struct {
	name  string // without its directory
	argv  []string
	words []string // with the subcommand, without options before it: "git", "push", …
	row   *programs.Program
	args  programs.Args
	in    stream // standard input

	foundPaths        []string // paths that find matches, once computed
	runsProjectFile   bool     // it runs a file of the project
	hasJudgedChildren bool     // it ran commands that were judged on their own
}

type option = programs.Option

// resolve finds the row of a program or its subcommand.
func resolve(base string, argv []string) (*programs.Program, []string, programs.Args) {
	row := programs.Lookup(base)
	if row == nil {
		return nil, append([]string{base}, argv[1:]...), unknownProgram.Parse(argv[1:])
	}
	if row.Old && len(argv) > 1 && argv[1] != "" && argv[1][0] != '-' {
		return row, append([]string{base, "-" + argv[1]}, argv[2:]...), row.Parse(row.Spread(argv[1:]))
	}
	args := row.Parse(argv[1:])
	words := append([]string{base}, argv[1:]...)
	if len(args.Operands) == 0 {
		return row, words, args
	}
	from := 1 + args.FirstOperandIndex
	if args.FirstOperandIndex < 0 || from > len(argv) {
		return row, words, args
	}
	rest := argv[from:]
	if usual := programs.Short(base, rest); len(usual) != len(rest) || usual[0] != rest[0] {
		argv = slices.Concat(argv[:from], usual)
		rest, args, words = usual, row.Parse(argv[1:]), append([]string{base}, argv[1:]...)
	}
	name := base
	best := row
	used := 0
	for i := 0; i < len(rest) && i < 2; i++ {
		name += " " + rest[i]
		if sub := programs.Sub(name); sub != nil {
			best, used = sub, i+1
		}
	}
	if used > 0 {
		return best, append([]string{base}, rest...), best.Parse(rest[used:])
	}
	if row.Stop || row.SubOnly {
		words = append([]string{base}, rest...)
	}
	return row, words, args
}

// unknownProgram parses the arguments of programs that are not in the table.
var unknownProgram = programs.Unknown()

// children judges the commands that a program runs by its own means.
func (w *analyzer) children(c *Command, x *invocation) stream {
	if rest, ok := w.noteBinds(x); ok && len(rest) > 0 {
		x.hasJudgedChildren = true
		return w.wrap.runArgv(rest, x)
	}
	w.delegated.projectFiles(x)
	if x.row == nil {
		if !textPrograms.has(x.name) {
			w.guesses.guess(x.argv[1:])
			w.guesses.commandsIn(x)
		}
		if x.in.set {
			w.guesses.escapes(x.in.text)
		}
		return stream{text: hole, set: true}
	}
	outside := w.direct
	w.direct = false
	defer func() { w.direct = outside }()
	row := x.row
	out, done := w.judgeOptions(c, x)
	if done {
		return out
	}
	// it gets the words after the user
	if shell, given := x.args.Get("-s", "--shell"); given && (x.name == "su" || x.name == "runuser") && len(x.args.Operands) > 0 {
		w.run(append([]string{shell}, x.args.Operands[1:]...), x.in)
	}
	if (x.name == "su" && !x.hasJudgedChildren || x.name == "ssh" && len(x.args.Operands) == 1) && x.in.set {
		x.hasJudgedChildren = true
		return w.shellText(x.in.text, x.name)
	}
	operands := x.args.Operands
	if len(operands) > row.Skip {
		operands = operands[row.Skip:]
	} else {
		operands = nil
	}
	w.denial.judgeTargets(c, x)
	w.delegated.operandCode(x)
	w.noteEffects(x)
	if row.Run == programs.RunNothing && row.Lang == "" && !row.Reads && !textPrograms.has(x.name) {
		w.guesses.guessDestroyers(x.argv[1:])
	}
	if !textPrograms.has(x.name) && !row.Reads && (row.Lang == "" || row.Lang == "make") {
		w.guesses.commandsIn(x)
	}
	if containers.has(x.name) && w.engine.denies && slices.ContainsFunc(x.argv[1:min(len(x.argv), 8)], containerExec.has) {
		w.guesses.guess(x.argv[1:])
	}
	w.delegated.inputAsFile(x)
	given, done := w.judgeOperands(operands, x)
	if startsShell.has(x.name) && !x.hasJudgedChildren && x.in.set {
		x.hasJudgedChildren = true
		return w.shellText(x.in.text, x.name)
	}
	if done {
		return given
	}
	if row.Run == programs.RunFirstCode {
		return out
	}
	return w.judgeInput(operands, x, out)
}

// containers are programs that run a command of their words in a container; containerExec are their subcommands that do
// so.
const (
	containers    = words("docker podman nerdctl ctr crictl kubectl oc lxc incus docker-compose podman-compose buildah finch")
	containerExec = words("exec run create rsh debug shell task tasks t c containers compose container")
)

// startsShell are programs that start a shell without a command argument; that shell reads their input.
var startsShell = words("newgrp nsenter unshare chroot setarch linux32 linux64 i386 script fakeroot fakechroot sg capsh doas proot firejail nix-shell " +
	"unbuffer machinectl login systemd-run")

// judgeOptions judges the values of a program's options: commands, code, programs, files. It returns the program's
// output then, and whether nothing else has to be judged.
func (w *analyzer) judgeOptions(c *Command, x *invocation) (out stream, done bool) {
	row := x.row
	out = stream{text: hole, set: true, endless: x.name == "yes"}
	w.delegated.compilerParts(x)
	for i, o := range x.args.Options {
		switch {
		case row.TakesShellCode(o.Name) && o.HasValue:
			x.hasJudgedChildren = true
			if x.name == "fish" {
				restore := w.giveArguments(append([]string{x.name}, x.args.Operands...))
				out = w.analyzeFish(o.Value)
				restore()
				continue
			}
			if x.name == "env" { // split words precede the others
				if strings.ContainsAny(o.Value, `\$#`) {
					w.unknown(x.argv, "what env makes of its text is not what a shell would")
				}
				text := "env"
				for _, before := range x.args.Options[:i] {
					text += " " + before.Name
					if before.HasValue && strings.HasPrefix(before.Name, "--") {
						text += "=" + shellquote.Word(before.Value)
					} else if before.HasValue {
						text += " " + shellquote.Word(before.Value)
					}
				}
				text += " " + o.Value
				for _, word := range x.args.Operands {
					text += " " + shellquote.Word(word)
				}
				return w.shellText(text, x.name), true
			}
			feed := w.feed
			if x.name == "split" { // its pieces
				w.feed = x.in
			}
			out = w.shellText(execValue(o.Value), x.name)
			w.feed = feed
		case row.TakesCommand(o.Name) && len(o.Argv) > 0:
			x.hasJudgedChildren = true
			w.wrap.runEach(o.Argv, x)
		case row.TakesCode(o.Name) && o.HasValue:
			x.hasJudgedChildren = true
			w.codes.code(row.Lang, o.Value, x)
		case row.TakesScript(o.Name) && row.Lang == "sh":
			w.unknown(x.argv, "it runs commands from a file")
		case row.TakesOutputFile(o.Name) && o.HasValue && (strings.HasPrefix(o.Value, "|") || strings.HasPrefix(o.Value, "!")):
			w.shellText(o.Value[1:], x.name)
		case row.TakesOutputFile(o.Name) && o.HasValue:
			w.denial.judgeTarget(c, o.Value)
		case row.TakesProgram(o.Name) && o.HasValue:
			w.delegated.runsNamed(x, o.Value)
		case row.TakesLoadedCode(o.Name) && o.HasValue:
			w.codes.loadCode(x, o.Value)
		case o.HasValue && row.Lang != "" && row.Lang != "sh" && w.delegated.loadedText(o.Value) != "":
			w.codes.code(row.Lang, w.delegated.loadedText(o.Value), x)
		}
	}
	return out, false
}

// judgeOperands judges operands that are a command, shell text, a script or code. It reports false if they are none of
// these, or if the program also uses its input.
func (w *analyzer) judgeOperands(operands []string, x *invocation) (stream, bool) {
	row := x.row
	switch row.Run {
	case programs.RunArgv:
		return w.wrap.runArgv(operands, x), true
	case programs.RunShell:
		if x.name == "watch" && x.args.Has("-x", "--exec") {
			return w.wrap.runArgv(operands, x), true
		}
		if x.name == "parallel" && (len(operands) > 0 && (x.in.set || slices.ContainsFunc(operands, func(o string) bool { return strings.HasPrefix(o, ":::") })) ||
			x.args.Has("-a", "--arg-file")) {
			return w.wrap.parallel(operands, x), true
		}
		if len(operands) > 0 {
			x.hasJudgedChildren = true
			feed := w.feed
			defer func() { w.feed = feed }()
			w.feed = x.in
			if typingPrograms.has(x.name) {
				return w.wrap.judgeTypedText(operands, x), true
			}
			return w.shellText(strings.Join(operands, " "), x.name), true
		}
	case programs.RunFirstShell:
		if len(operands) > 0 {
			x.hasJudgedChildren = true
			return w.shellText(operands[0], x.name), true
		}
	case programs.RunScript:
		return w.script(operands, x), true
	case programs.RunPerhaps:
		w.guesses.findDestroyer(strings.Join(x.argv[1:], " "))
		for _, a := range x.argv[1:] {
			if text, piped := w.pipedIn(a); piped {
				w.guesses.findDestroyerInLines(text)
			} else if strings.ContainsAny(a, " \t") && len(a) <= bound.MaxShort {
				w.guesses.shellGuess(a) // several commands; one changes into the directory where the next removes
			}
		}
	case programs.RunFirstCode:
		if len(operands) > 0 && !w.preset.hasCode(x) {
			w.codes.code(row.Lang, operands[0], x)
		}
	}
	return stream{}, false
}

// typingPrograms type text into other terminals.
var typingPrograms = words("kitty kitten wezterm zellij screen")

// typedLines returns typed text with line breaks for the notations of the Enter key.
func typedLines(text string) string {
	return strings.NewReplacer("^M", "\n", `\n`, "\n", `\r`, "\n", `\015`, "\n", "^J", "\n").Replace(text)
}

// inputAsFile judges standard input that an option names as the file of code: make -f -, awk -f -.
func (ho *delegations) inputAsFile(x *invocation) {
	switch x.row.Lang {
	case "make", "awk", "sed", "vim":
	default:
		return
	}
	for i, a := range x.argv {
		if !x.in.set || i == 0 || a != "-f-" && !(strings.HasPrefix(x.argv[i-1], "-") && (a == "-" || a == "/dev/stdin")) {
			continue
		}
		if hasHole(x.in.text) {
			ho.unknown(x.argv, "what "+x.name+" runs is not known before it runs")
		}
		ho.code(x.row.Lang, x.in.text, x)
		return
	}
}

// judgeInput judges standard input, or a file that the line created, as the code of an interpreter. It returns the
// program's output, or out if that is unknown.
func (w *analyzer) judgeInput(operands []string, x *invocation, out stream) stream {
	row := x.row
	if row.StdinRun && (len(operands) == 0 || isStdin(operands[0]) || row.Lang == "sh" || row.StdinAlways) &&
		x.in.set && !w.preset.hasCode(x) && !w.inputIsData(x) {
		x.hasJudgedChildren = true
		if row.Lang == "sh" {
			return w.shellText(x.in.text, x.name)
		}
		if hasHole(x.in.text) && row.Lang != "sql" && row.Lang != "vim" && row.Lang != "m4" && row.Lang != "console" {
			w.unknown(x.argv, "what "+x.name+" runs is not known before it runs")
		}
		w.codes.code(row.Lang, x.in.text, x)
	} else if row.StdinRun && len(operands) > 0 && !w.preset.hasCode(x) {
		if text, ok := w.pipes[operands[0]]; ok {
			x.hasJudgedChildren = true
			if hasHole(text) {
				w.unknown(x.argv, "what "+x.name+" runs is not known before it runs")
			}
			w.codes.code(row.Lang, text, x)
			return out
		}
		if isDescriptor(operands[0]) {
			w.unknown(x.argv, "what "+x.name+" runs is not known before it runs")
		}
		if m, ok := w.createdAt(operands[0]); ok && m.source == "" {
			x.hasJudgedChildren = true
			if hasHole(m.text) {
				w.unknown(x.argv, "what it runs is written by the same line, and not known before")
			}
			w.codes.code(row.Lang, m.text, x)
		}
	}
	return out
}

// dataModules are python modules that read standard input as data.
var dataModules = words("json.tool json pytest unittest mypy black flake8 isort base64 gzip tokenize pip venv")

// inputIsData reports whether python runs a module instead of its input.
func (w *analyzer) inputIsData(x *invocation) bool {
	module, _, is := pythonModule(x, strings.TrimRight(x.name, "0123456789."))
	return is && dataModules.has(module) && w.scope.get("PYTHONINSPECT").text == ""
}

// noteEffects records files that a program creates, which later commands of the line may run or remove.
func (w *analyzer) noteEffects(x *invocation) {
	if before := len(w.created); before < maxCreated {
		defer func() {
			if len(w.created) > before {
				for full := range w.created {
					w.noteChanged(full)
				}
			}
		}()
	}
	if x.name == "sed" || x.name == "gsed" || x.name == "perl" || x.name == "ruby" {
		w.noteEdited(x)
	}
	w.noteLists(x)
	switch x.name {
	case "cp", "mv", "ln", "install", "gcp":
		w.noteCopies(x)
	case "rsync", "scp":
		if ops := x.args.Operands; len(ops) > 1 && !slices.ContainsFunc(ops, func(o string) bool { return strings.Contains(o, ":") }) {
			w.addCopies(ops[:len(ops)-1], ops[len(ops)-1], false)
		}
	case "dd", "dcfldd", "dc3dd":
		w.noteDD(x)
	case "objcopy", "gobjcopy", "llvm-objcopy", "strip", "llvm-strip", "ditto", "patchelf", "upx":
		w.noteRewritten(x)
	case "mknod":
		if ops := x.args.Operands; len(ops) > 1 && strings.Trim(ops[1], "b") == "" {
			if full, ok := w.createdKey(ops[0]); ok {
				w.created[full] = createdFile{source: "/dev/sda", link: true} // any disk
			}
		}
	case "mount":
		w.noteMount(x)
	case "bindfs":
		if ops := x.args.Operands; len(ops) > 1 {
			w.noteMountedOver(ops[0], ops[1])
		}
	case "sshfs", "curlftpfs", "s3fs", "gcsfuse", "davfs2", "mount.nfs", "mount.cifs", "mount.davfs", "ntfs-3g", "mount.ntfs-3g", "guestmount", "afpfs", "glusterfs", "goofys":
		if ops := x.args.Operands; len(ops) > 0 {
			w.noteMountedOver(hole, ops[min(1, len(ops)-1)])
		}
	case "rclone":
		if ops := x.args.Operands; len(ops) > 2 && ops[0] == "mount" {
			w.noteMountedOver(hole, ops[2])
		}
	case "curl", "wget":
		if out, ok := x.args.Get("-o", "--output", "-O", "--output-document"); ok && out != "" {
			w.noteWritten(out, stream{})
		}
	}
}

// hasCode reports whether a command has code of an interpreter in its words.
func (pr *presets) hasCode(x *invocation) bool {
	for _, o := range x.args.Options {
		if x.row.TakesCode(o.Name) || x.row.TakesScript(o.Name) {
			return true
		}
	}
	return false
}

// execValue strips the prefix of the command in tar's --checkpoint-action=exec=COMMAND.
func execValue(v string) string {
	v = strings.TrimPrefix(v, "exec=")
	if strings.HasPrefix(v, "sh:") {
		return v[3:]
	}
	return v
}

// judgeTargets judges the files that a program changes.
func (h *hardRules) judgeTargets(c *Command, x *invocation) {
	ops := x.args.Operands
	switch x.row.WriteTo {
	case programs.LastOperand:
		if dir, has := x.args.Get("-t", "--target-directory"); has {
			for _, p := range ops {
				h.judgeTarget(c, dir+"/"+path.Base(p))
			}
			return
		}
		if len(ops) < 2 {
			return
		}
		ops = ops[len(ops)-1:]
	case programs.OperandsAfterFirst:
		if len(ops) < 2 {
			return
		}
		ops = ops[1:]
	case programs.FirstOperand:
		ops = ops[:min(1, len(ops))]
	case programs.NoTargets:
		return
	}
	for _, p := range ops {
		if !h.namesCore(p, x) {
			h.judgeTarget(c, p)
		}
	}
}

// namesCore reports whether tee writes a program to corePattern: the kernel runs it only behind a |.
func (h *hardRules) namesCore(p string, x *invocation) bool {
	full, ok := h.clean(p)
	return ok && full == corePattern && x.name == "tee" && x.in.set && !hasHole(x.in.text) && !strings.Contains(x.in.text, "|")
}

// judgeTarget judges one file that a program changes.
func (h *hardRules) judgeTarget(c *Command, p string) {
	switch h.overwriteDanger(p) {
	case fatal:
		h.deny(c, "hard:device", "it writes over a disk", "write to a file")
	case perhaps:
		why := h.whyWritten(p)
		if adds := path.Base(c.Argv[0]) == "tee" && slices.ContainsFunc(c.Argv[1:], func(a string) bool { return a == "-a" || a == "--append" }); adds && why == whyOverwrites {
			why = whyAdds
		}
		h.ask(c, "hard:overwrite", why)
	}
}
