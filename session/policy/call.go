package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges a simple command, or follows its assignments if it has no command.
func (w *analyzer) call(c *syntax.CallExpr, in stream) stream {
	w.expand.guessed, w.expand.split = false, false
	argv := []string{}
	guessed := false
	for i, word := range c.Args {
		w.expand.command = i == 0
		argv = append(argv, w.expand.word(word)...)
		w.expand.command = false
		if i == 0 {
			guessed = w.expand.guessed
			w.expand.split = false // the name of a program is not judged whole: it has no blanks
		}
	}
	var whole []string
	if w.expand.split { // zsh expands a variable to one word unless the user's options split it: judge both
		whole = w.expand.wholeWords(c.Args)
	}
	mark := w.scope.mark()
	env := w.env
	for _, a := range c.Assigns {
		w.assign(a, len(argv) == 0)
	}
	if len(argv) == 0 {
		w.env = env
		return stream{}
	}
	if guessed {
		w.unknown(argv, "the program's name is uncertain: a default replaces it")
	}
	given := w.scope.mark()
	out := w.run(argv, in)
	if whole != nil {
		out = w.run(whole, in)
	}
	switch now := w.scope.mark(); {
	case len(c.Assigns) == 0:
	case now > given: // what the command itself has set stays: IFS= read x
		w.scope.undoRange(mark, given)
	default:
		w.scope.undo(min(mark, now))
	}
	w.env = env
	return out
}

// assign follows an assignment; keep states that it outlasts one command.
func (w *analyzer) assign(a *syntax.Assign, keep bool) {
	w.expand.followSubst(a.Index)
	if a.Name == nil {
		if a.Value != nil {
			w.expand.text(a.Value)
		}
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		var list []string
		for _, e := range a.Array.Elems {
			w.expand.followSubst(e.Index)
			if e.Value != nil {
				list = append(list, w.expand.word(e.Value)...)
			}
		}
		all := w.elements(name, list, a.Append)
		for i := 0; i+1 < len(list); i += 2 {
			w.zshTable(name, list[i], list[i+1])
		}
		between := " "
		if isCodeVariable(name) { // each of them is a separate line
			between = "\n"
		}
		w.setVariable(name, strings.Join(list, between), keep)
		w.scope.putList(name, all)
		w.zshPath(a, strings.Join(list, ":"), keep)
		return
	}
	if a.Naked && a.Value == nil {
		return
	}
	text := ""
	if a.Value != nil {
		text = w.expand.text(a.Value)
	}
	w.zshPath(a, text, keep)
	if a.Append {
		old := w.lookup(name)
		if !old.set {
			old.text = hole
		}
		text = old.text + text
	}
	if a.Index != nil {
		key := hole
		if word, ok := a.Index.(*syntax.Word); ok {
			key = w.expand.text(word)
		}
		w.zshTable(name, key, text)
		text = hole
	}
	w.setVariable(name, text, keep)
}

// maxElements is how many elements of an array are known that is put together by several assignments.
const maxElements = 64

// elements returns the elements of an array after a list is assigned or added.
func (sh *shellState) elements(name string, list []string, added bool) []string {
	old, known := sh.scope.lists[name]
	switch {
	case !added:
	case !known || len(old)+len(list) > maxElements:
		return []string{hole}
	default:
		list = slices.Concat(old, list)
	}
	if list == nil {
		return []string{}
	}
	return list
}

// setVariable sets a variable, and judges the ones that change what runs.
func (w *analyzer) setVariable(name, text string, keep bool) {
	w.scope.put(name, text)
	if isCodeVariable(name) && text != "" && !isPromptVariable(name) && !(w.engine.preset == Build && w.isHarmlessVariable(name, text)) {
		w.judgePossibleShell(optionText(name, text), "the variable "+name)
	}
	w.guesses.judgeValue(name, text, !keep)
	w.judgeQuotedSubst(text)
	switch {
	case (name == "NULLCMD" || name == "READNULLCMD") && path.Base(w.shell) == "zsh":
		w.unknown([]string{name + "=" + text}, "zsh runs it where a line has redirections and no command")
	case keep && changesMeaning(name):
		if name == "BASH_ENV" && text != "" {
			w.unknown([]string{name + "=" + text}, whyBashEnv)
		}
		w.judgeAssignment(name, text)
	case !keep:
		w.noteCommandVariable(name)
		if name == "BASH_ENV" || name == "ENV" {
			w.unknown([]string{name + "=" + text}, "shells run the file that "+name+" names")
		}
	}
}

// isPromptVariable reports whether a variable is a shell prompt, in which the shell runs only substitutions.
func isPromptVariable(name string) bool { return len(name) == 3 && strings.HasPrefix(name, "PS") }

// maxEnv bounds the variables of one command that are followed.
const maxEnv = 200

// noteCommandVariable records a variable that is set for one command and the programs it runs.
func (w *analyzer) noteCommandVariable(name string) {
	if len(w.env) < maxEnv {
		w.env = append(w.env[:len(w.env):len(w.env)], name)
	} else if !w.overBudget {
		w.overBudget = true
		w.unknown([]string{name + "=…"}, "more variables are set for one command than are judged")
	}
}

// whyBashEnv is why scripts are not known where this variable is set.
const whyBashEnv = "shells run the file that BASH_ENV names"

// judgeAssignment judges an assignment that lasts.
func (w *analyzer) judgeAssignment(name, text string) {
	c := Command{Argv: []string{name + "=" + text}}
	if w.engine.preset == ReadOnly || w.engine.preset == Listed || w.engine.preset == Build && name != "PATH" &&
		!w.isHarmlessVariable(name, text) {
		c.Verdict, c.Rule = Ask, "environment"
		c.Why = name + " changes what later commands run"
		c.Instead = "run the command without it, or by its full path"
	}
	w.record(c)
}

// builtins are commands that shells run themselves, regardless of PATH.
var builtins = fieldSet(": . [ [[ alias bg break builtin cd command continue declare dirs echo eval exec exit export false fg " +
	"getopts hash history jobs let local popd printf pushd pwd read readonly return set shift source test times trap true type " +
	"typeset ulimit umask unalias unset wait")

// mayBeFoundElsewhere reports whether a program is allowed by name while a PATH set by lines starts with directories that
// may contain another one: neither system directories nor common user ones.
func (sh *shellState) mayBeFoundElsewhere(name string) bool {
	switch sh.engine.preset {
	case Build, ReadOnly, Listed:
	default:
		return false
	}
	v := sh.scope.get("PATH")
	if !v.set || strings.Contains(name, "/") || builtins.has(name) {
		return false
	}
	for _, dir := range strings.Split(v.text, ":") {
		if dir == notEmpty { // as it was before
			return false
		}
		below, own := strings.CutPrefix(dir, sh.home+"/")
		switch {
		case own && sh.home != "" && (below == "bin" || below == "go/bin" || below == ".local/bin" || below == ".cargo/bin" || below == ".bun/bin" || below == ".deno/bin"):
		case dir == "/bin", dir == "/sbin", dir == "/snap/bin", strings.HasPrefix(dir, "/run/current-system/"):
		case strings.HasPrefix(dir, "/usr/") || strings.HasPrefix(dir, "/opt/") || strings.HasPrefix(dir, "/nix/store/"):
		default:
			return true
		}
		if strings.Contains(dir, "..") || hasHole(dir) {
			return true
		}
	}
	return false
}

// judgeQuotedSubst judges substitutions in text that arithmetic, test -v and prompts run although it is quoted.
func (w *analyzer) judgeQuotedSubst(text string) {
	if !strings.Contains(text, "$(") && !strings.Contains(text, "`") {
		return
	}
	if i := strings.IndexByte(text, '['); i < 0 || !strings.Contains(text[i:], "$(") &&
		!strings.Contains(text[i:], "`") {
		if !strings.HasPrefix(text, "$(") && !strings.HasPrefix(text, "`") {
			return
		}
	}
	w.judgePossibleShell(": \""+strings.ReplaceAll(text, `"`, "")+"\"", "text that is evaluated later")
}

// judgePossibleShell judges text that may be run: what would be denied needs approval.
func (w *analyzer) judgePossibleShell(text, how string) {
	quiet := w.quiet
	w.quiet = true
	w.shellText(text, how)
	w.quiet = quiet
}

// redirect follows a redirection. It returns the standard input that it sets, if any. The files that receive standard
// output are added to the list.
func (w *analyzer) redirect(r *syntax.Redirect, to *[]string) (stream, bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return stream{set: true}, true
		}
		var f fields
		w.expand.parts(&f, r.Hdoc.Parts, true)
		text := f.cur.String()
		if len(r.Word.Parts) == 1 && r.Word.Lit() != "" && !strings.Contains(r.Word.Lit(), `\`) {
			return stream{text: text, set: true}, true
		}
		// A quoted delimiter: the body is literal, backslashes included.
		var b strings.Builder
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				b.WriteString(l.Value)
			}
		}
		return stream{text: b.String(), set: true}, true
	case syntax.WordHdoc:
		return stream{text: w.expand.text(r.Word) + "\n", set: true}, true
	}
	targets := w.expand.word(r.Word)
	target := strings.Join(targets, " ")
	switch r.Op {
	case syntax.RdrIn:
		if text, ok := w.pipes[target]; ok {
			return stream{text: text, set: true}, true
		}
		w.readFrom(target)
		if m, ok := w.createdAt(target); ok && m.source == "" {
			if r.N != nil {
				w.pipes["/dev/fd/"+r.N.Value] = m.text
			}
			return stream{text: m.text, set: true}, r.N == nil || r.N.Value == "0"
		}
		return stream{text: hole, set: true}, r.N == nil || r.N.Value == "0"
	case syntax.DplIn:
		if text, ok := w.pipes["/dev/fd/"+target]; ok {
			return stream{text: text, set: true}, true
		}
		return stream{text: hole, set: true}, true
	case syntax.DplOut:
		if target == "-" || strings.Trim(target, "0123456789-") == "" {
			return stream{}, false
		}
	}
	w.writeFile(target, r.Op == syntax.AppOut || r.Op == syntax.AppAll)
	if r.N == nil || r.N.Value == "1" {
		*to = append(*to, target)
		if r.Op == syntax.AppOut || r.Op == syntax.AppAll {
			(*to)[len(*to)-1] = appended + target
		}
	}
	return stream{}, false
}

// readFrom judges a file that is read.
func (w *analyzer) readFrom(target string) {
	if w.engine.asksOfFiles() && w.isSecret(target) {
		w.record(Command{Argv: []string{"<", target}, Verdict: Ask, Rule: "secret", Why: target + " usually " +
			"holds secrets"})
	}
	if strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
		w.writeTo(target)
	}
}

// writeTo judges a file that the shell opens for writing.
func (w *analyzer) writeTo(target string) { w.writeFile(target, false) }

// Reasons about files that the machine needs.
const (
	whyOverwrites = "it may overwrite a file that the machine needs"
	whyAdds       = "it may add to a file that the machine needs"
)

// whyWritten returns the reason why writing a file needs approval.
func (fs *files) whyWritten(p string) string {
	if full, _ := fs.clean(p); fs.isEveryName(p) || fs.coversAll(full) {
		return "it may overwrite every file of a home or of the system"
	}
	return whyOverwrites
}

// writeFile judges a file that is written; adds means that the old content stays.
func (w *analyzer) writeFile(target string, adds bool) {
	c := Command{Argv: []string{">", target}}
	w.wrote = w.wrote || !isHarmlessTarget(target)
	switch w.overwriteDanger(target) {
	case fatal:
		w.deny(&c, "hard:device", "it writes over a disk", "write to a file, or name a partition image")
	case perhaps:
		why := w.whyWritten(target)
		if adds && why == whyOverwrites {
			why = whyAdds
		}
		w.ask(&c, "hard:overwrite", why)
	default:
		if w.engine.asksOfFiles() && !isHarmlessTarget(target) {
			w.ask(&c, "write", "it writes a file")
		} else if w.engine.preset == Build && w.isOutside(target) {
			w.ask(&c, "write", "it writes a file outside of the working directory: "+target)
		} else if w.engine.preset == Build && isDirenv(target) {
			w.ask(&c, "write", "direnv runs it in a user's shell: "+target)
		}
	}
	if c.Verdict != Allow {
		w.record(c)
	}
}

// isHarmlessTarget reports whether a redirection's target changes no file, such as /dev/null.
func isHarmlessTarget(t string) bool {
	return t == "/dev/null" || t == "/dev/stdout" || t == "/dev/stderr" || t == "/dev/tty" ||
		t == "/dev/fd/1" || t == "/dev/fd/2"
}

// declare judges a function when it is declared: it may be called later, on another line.
func (w *analyzer) declare(f *syntax.FuncDecl) {
	names := f.Names
	if f.Name != nil {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		w.stmt(f.Body, stream{})
		return
	}
	_, piped := f.Body.Cmd.(*syntax.BinaryCmd) // then shells declare it in a subshell
	unsure := piped || w.unsure > 0
	for _, n := range names {
		var before *function
		if unsure {
			before = w.funcs[n.Value]
		}
		w.funcs[n.Value] = &function{body: f.Body, text: w.parsed, unsure: unsure, before: before}
	}
	text := w.parsed
	w.deferJudgement(func() { w.judgeDeclaration(names, f.Body, text) })
}

// judgeDeclaration judges the body of a function before its first call.
func (w *analyzer) judgeDeclaration(names []*syntax.Lit, body *syntax.Stmt, text string) {
	outside, args, parsed := w.direct, w.args, w.parsed
	w.direct, w.args, w.parsed = false, nil, text
	for _, n := range names {
		w.active = append(w.active, frame{n.Value, w.forks})
	}
	w.branch(func() stream { return w.stmt(body, stream{text: hole, set: true}) })
	w.active = w.active[:len(w.active)-len(names)]
	w.direct, w.args, w.parsed = outside, args, parsed
}

// function is a declared shell function.
type function struct {
	body   *syntax.Stmt
	text   string    // text that contains body
	unsure bool      // the name may still have its earlier meaning
	before *function // its earlier meaning; nil: a program
}

// judgeCall judges a command whose name is a function's.
func (w *analyzer) judgeCall(f *function, argv []string, in stream) stream {
	outs := []stream{w.callFunction(f.body, f.text, argv, in)}
	for f.unsure {
		if f = f.before; f == nil {
			outs = append(outs, w.branch(func() stream { return w.judgeProgram(argv, in) }))
			break
		}
		outs = append(outs, w.callFunction(f.body, f.text, argv, in))
	}
	return joinBranches(outs...)
}

// judgeProgram judges a command as the program of its name, ignoring functions and aliases.
func (w *analyzer) judgeProgram(argv []string, in stream) stream {
	name := argv[0]
	f, words := w.funcs[name], w.aliases[name]
	delete(w.funcs, name)
	delete(w.aliases, name)
	out := w.run(argv, in)
	if f != nil {
		w.funcs[name] = f
	}
	if words != nil {
		w.aliases[name] = words
	}
	return out
}

// callFunction follows a call of a function that the line declares. Its assignments may be local, or come after a
// return.
func (w *analyzer) callFunction(body *syntax.Stmt, text string, argv []string, in stream) stream {
	for _, f := range w.active {
		if f.name == argv[0] {
			if w.forks > f.forks {
				c := Command{Argv: argv}
				w.deny(&c, "hard:forkbomb", "the function starts itself endlessly", "")
				w.record(c)
			}
			return stream{text: hole, set: true}
		}
	}
	if w.steps > maxSteps || len(w.active) > maxNested {
		return stream{text: hole, set: true}
	}
	outside, args := w.direct, w.args
	w.direct, w.args = false, append([]string{}, argv[1:]...)
	w.active = append(w.active, frame{argv[0], w.forks})
	parsed := w.parsed
	w.parsed = text
	out := w.branch(func() stream { return w.stmt(body, in) })
	w.parsed = parsed
	w.active = w.active[:len(w.active)-1]
	w.direct, w.args = outside, args
	return out
}

// declClause judges export, declare, local, readonly and typeset.
func (w *analyzer) declClause(d *syntax.DeclClause) {
	reference := d.Variant.Value == "nameref"
	words := []string{d.Variant.Value}
	for _, a := range d.Args {
		if a.Naked && a.Name == nil {
			text := w.expand.text(a.Value)
			w.judgeQuotedSubst(text)
			reference = reference || strings.HasPrefix(text, "-") && strings.ContainsAny(text, "nrluci")
			words = append(words, text)
			continue
		}
		w.assign(a, true)
		if a.Name == nil {
			continue
		}
		words = append(words, w.assignment(a))
		if reference || d.Variant.Value == "local" && len(w.active) == 0 {
			w.scope.put(a.Name.Value, hole) // outside of functions, local fails
		}
		if reference || d.Variant.Value == "readonly" {
			w.scope.fix(a.Name.Value)
		}
		if target := w.scope.get(a.Name.Value); reference && a.Value != nil && target.set {
			name := w.expand.text(a.Value)
			w.scope.put(name, hole)
			w.scope.fix(name)
		}
	}
	if d.Variant.Value == "export" && len(words) > 1 {
		w.checkExport(words)
		return
	}
	w.run(words[:1], stream{})
}

// assignment returns the written form: NAME=VALUE, or the name alone.
func (sh *shellState) assignment(a *syntax.Assign) string {
	if a.Naked && a.Value == nil {
		return a.Name.Value
	}
	return a.Name.Value + "=" + sh.scope.get(a.Name.Value).text
}

// checkExport checks the variables of an export. Its assignments were evaluated before.
func (w *analyzer) checkExport(argv []string) {
	row, words, args := resolve("export", argv)
	x := &invocation{name: "export", argv: argv, words: words, row: row, args: args}
	c := Command{Argv: argv}
	w.preset.matchRules(&c, x)
	w.preset.applyPreset(&c, x)
	for _, a := range argv[1:] {
		name, value, set := strings.Cut(a, "=")
		w.guesses.judgeValue(name, value, true)
		if w.engine.preset == Build && set && !changesMeaning(name) && !w.isHarmlessVariable(name, value) { // else assigned has asked
			w.ask(&c, "environment", name+" may change what later commands do")
		}
	}
	c.Risk = w.preset.risk(&c, x)
	w.record(c)
}
