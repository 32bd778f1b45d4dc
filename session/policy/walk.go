package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/bound"
	"mvdan.cc/sh/v3/syntax"
)

// Limits of work beyond the line's own length: loops and functions are followed again for each known
// value only while steps last, expansions are known only while they are short.
const (
	maxSteps  = 5000
	maxSpent  = 1 << 20
	maxRuns   = 20000   // commands
	maxWords  = 150000  // words of all commands
	maxTaken  = 4 << 20 // bytes of shell text within shell text
	maxNested = 24      // shell text in shell text, wrappers in wrappers
)

// walk is the way through one line: its statements, and the commands that they run. What it comes by on the way is the
// business of its parts, each with its own methods: those of them that have to follow more of the line have a host.
type walk struct {
	shellState
	verdicts

	expand  expander   // words: what the shell makes of them
	denial  hardRules  // the built-in denials
	preset  presets    // what presets and rules say of a command
	codes   codeReader // code of other languages
	ways    handovers  // operands, options and variables by which programs are given code
	wrap    wrapping   // programs that run the command that they are given
	guesses guesser    // programs that are not known

	active []frame // functions that are followed or declared
	forks  int     // pipes and background commands around the place
	runs   int     // commands judged, of at most budget
	budget int
	taken  int // bytes of shell text that was parsed

	feed    stream // standard input of shell text
	crowded bool   // there were more than are followed
	visit   func(x *invocation, last bool)
	later   []func() // what is judged by what is known when the line is over
	cut     bool     // a shell would wait for more of it
	unread  bool     // it is one line, and bash cannot parse it
	piped   bool     // the output of the command is read by another
}

// host follows more of the line for a part of the walk: shell text, or a command whose words are known.
type host interface {
	source(text string) stream
	shellText(text, how string) stream
	run(argv []string, in stream) stream

	perhapsShell(text, how string) // what would be denied is asked about
	mayAsk(f func())               // what f would deny or ask about is one question
	only(f func())                 // of f only the denials count, and as questions
}

// shared is what the parts of a walk share.
type shared struct {
	host
	*shellState
	*verdicts
}

type frame struct {
	name  string
	forks int
}

// stream is what is known of a command's input or output.
type stream struct {
	text string // with marks; hole where it is not known
	is   bool   // false: the terminal, or nothing

	endless bool // it never ends by itself
}

func newWalk(e *Engine, l Line) *walk {
	w := &walk{budget: maxRuns + min(len(l.Text), bound.MaxShort), shellState: newShell(e, l)}
	w.at = &w.files
	all := shared{w, &w.shellState, &w.verdicts}
	w.expand = expander{line: w, shellState: &w.shellState, verdicts: &w.verdicts}
	w.guesses = guesser{all}
	w.denial = hardRules{shared: all, guesses: &w.guesses}
	w.preset = presets{&w.shellState, &w.verdicts}
	w.codes = codeReader{shared: all, writeTo: w.writeTo}
	w.ways = handovers{&w.codes}
	w.wrap = wrapping{hardRules: &w.denial, forCommand: w.forCommand}
	return w
}

// line judges the whole line.
func (w *walk) line(l Line) {
	defer w.over()
	if strings.ContainsAny(l.Text, "\x00"+holes+globs) {
		w.unknown([]string{l.Text}, "the line has control characters in it")
		return
	}
	switch l.Shell {
	case "powershell", "pwsh", "cmd":
		w.codes.windows(l.Text)
		return
	case "fish":
		w.whole = true
		w.cut = goesOn(l.Text)
		w.fish(l.Text)
		return
	case "", "bash", "zsh", "sh", "mksh", "ksh":
		w.whole = true
	default:
		if w.typed(l) {
			return
		}
		w.foreign(l)
	}
	w.cut = w.whole && goesOn(l.Text) && !strings.Contains(l.Text, "<<")
	w.source(l.Text)
	if strings.Contains(l.Text, "\r") {
		// Some shells take a carriage return for the end of a line.
		w.source(strings.ReplaceAll(strings.ReplaceAll(l.Text, "\r\n", "\n"), "\r", "\n"))
	}
}

// atEnd judges what runs later, with the variables that there are then: now it is only judged for denials, as it may be run at
// any time. Within what is perhaps not run, or in another shell, now is all that is known.
func (w *walk) atEnd(f func()) {
	if w.unsure > 0 {
		f()
		return
	}
	commands, worst, refused := w.commands, w.worst, w.refused
	w.refused = nil
	f()
	if w.refused == nil {
		w.commands, w.worst, w.refused = commands, worst, refused
		w.later = append(w.later, f)
	}
}

// over judges what was put off to the end of the line.
func (w *walk) over() {
	for i := 0; i < len(w.later); i++ {
		w.later[i]()
	}
	w.later = nil
}

// goesOn reports whether a text ends in a backslash, with which the next line belongs to it.
func goesOn(text string) bool { return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 }

// source judges shell text. Text in which something is not known is judged as far as it is.
func (w *walk) source(text string) stream {
	if strings.TrimSpace(text) == "" {
		return stream{}
	}
	if w.nested++; w.nested > maxNested {
		w.nested--
		w.unknown([]string{clip(text)}, "it is nested too deep to be judged")
		return stream{text: hole, is: true}
	}
	defer func() { w.nested-- }()
	if w.taken += len(text); w.taken > maxTaken || bound.TooDeep(text) {
		w.unknown([]string{clip(text)}, "it is too long or nested too deep to be judged")
		return stream{text: hole, is: true}
	}
	text = w.longForms(text)
	if len(text) > bound.MaxShort {
		return w.longSource(text)
	}
	file, err := syntax.NewParser(syntax.Variant(w.variant())).Parse(strings.NewReader(text), "")
	if err != nil {
		w.unread = w.unread || w.whole && w.nested == 1 && w.shell == "bash" && !waits(err) && !readAtRunTime(text)
		for _, v := range []syntax.LangVariant{syntax.LangZsh, syntax.LangMirBSDKorn} {
			if f, e := syntax.NewParser(syntax.Variant(v)).Parse(strings.NewReader(text), ""); e == nil {
				w.unknown([]string{clip(text)}, "shells do not agree on how it is read")
				return w.stmts(f.Stmts, stream{})
			}
		}
		w.cut = w.cut || w.whole && w.nested == 1 && waits(err)
		w.unknown([]string{clip(text)}, "it cannot be parsed: "+err.Error())
		if file != nil {
			w.stmts(file.Stmts, stream{})
		}
		return stream{text: hole, is: true}
	}
	outside := w.parsed
	w.parsed = text
	defer func() { w.parsed = outside }()
	return w.stmts(file.Stmts, w.feed)
}

// longSource judges long shell text statement by statement, as it is parsed, and stops where it is too much.
func (w *walk) longSource(text string) stream {
	outside := w.parsed
	w.parsed = text
	defer func() { w.parsed = outside }()
	var out strings.Builder
	known := false
	var err error
	for s, failed := range syntax.NewParser(syntax.Variant(w.variant())).StmtsSeq(strings.NewReader(text)) {
		if err = failed; err != nil {
			break
		}
		if o := w.stmt(s, w.feed); o.is {
			if out.WriteString(o.text); out.Len() > 64<<10 {
				out.Reset()
				out.WriteString(hole)
			}
			known = true
		}
		if w.runs > w.budget || w.heard > maxWords {
			break
		}
	}
	if err != nil {
		w.cut = w.cut || w.whole && w.nested == 1 && waits(err)
		w.unknown([]string{clip(text)}, "it cannot be parsed: "+err.Error())
		return stream{text: hole, is: true}
	}
	return stream{text: out.String(), is: known}
}

// readAtRunTime reports text of which bash runs a part before it finds what the parser finds at once: it reads lines one
// by one, and arithmetic and expansions only when they are their turn.
func readAtRunTime(text string) bool {
	return strings.ContainsAny(text, "\r\n$`") || slices.ContainsFunc([]string{"((", "let", "]=", "]+="}, func(s string) bool { return strings.Contains(text, s) })
}

// waits reports an error by which a shell would ask for more.
func waits(err error) bool {
	return syntax.IsIncomplete(err) || strings.Contains(err.Error(), "unclosed here-document")
}

func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// shellText judges text that a shell gets by other ways than the line: -c, eval, standard input.
func (w *walk) shellText(text string, how string) stream {
	outside := w.direct
	w.direct = false
	defer func() { w.direct = outside }()
	text = strings.NewReplacer(globStar, "*", globOne, "?").Replace(text) // this shell finds the names
	if hasHole(text) {
		w.unknown([]string{how}, "what "+how+" runs is not known before it runs")
	}
	run := func() stream { return w.source(text) }
	switch word, _, _ := strings.Cut(how, " "); word {
	case "zsh", "bash", "sh", "dash", "ash": // which read it as their own; sh may be any of them but zsh
		if word != "zsh" && path.Base(w.shell) != "zsh" {
			break
		} else if word != "zsh" {
			word = "bash"
		}
		outside := w.shell
		w.shell = word
		defer func() { w.shell = outside }()
	case "eval", "source", ".": // this shell runs it, now
		return run()
	case "the", "trap", "bind", "complete", "compgen", "zstyle", "bindkey", "emulate", "text", "read", "mapfile", "readarray":
		return w.branch(run) // this shell, perhaps, or later
	}
	if w.stdin.is && text == w.stdin.text { // the shell takes its text from there: what is left of it nobody knows
		return w.aside(func() stream { w.stdin.text = hole; return run() })
	}
	return w.aside(run)
}

func (w *walk) stmts(list []*syntax.Stmt, in stream) stream {
	var out []string
	size := 0
	for _, s := range list {
		o := w.stmt(s, in)
		if o.is && size < 64<<10 {
			out = append(out, o.text)
			size += len(o.text)
		}
	}
	if out == nil {
		return stream{}
	}
	return stream{text: strings.Join(out, ""), is: true}
}

// stmt judges one statement with its redirections.
func (w *walk) stmt(s *syntax.Stmt, in stream) (out stream) {
	w.steps++
	mark, cwd := w.scope.mark(), w.cwd
	if s.Background || s.Coprocess || s.Disown {
		args := w.args
		w.forks++
		w.unsure++
		defer func() { w.forks--; w.unsure--; w.scope.undo(mark); w.cwd, w.args = cwd, args }()
	}
	if s.Coprocess {
		in = stream{text: hole, is: true} // what later commands print to it
	}
	if !in.is {
		in = w.stdin
	}
	away := false
	var to []string
	for _, r := range s.Redirs {
		if strings.HasPrefix(r.Word.Lit(), "/dev/tcp/") || strings.HasPrefix(r.Word.Lit(), "/dev/udp/") {
			in = stream{text: hole, is: true} // what comes from there may be read by the same descriptor
		}
		if i, ok := w.redirect(r, &to); ok {
			in = i
			if onlyExec(s.Cmd) {
				w.stdin = i
			}
		} else if r.Op != syntax.DplOut && r.Op != syntax.DplIn && r.Op != syntax.RdrInOut && (r.N == nil ||
			r.N.Value == "1") {
			away = true
		}
	}
	if s.Cmd != nil {
		out = w.cmd(s.Cmd, in)
	}
	for _, target := range to {
		w.filled(target, out)
	}
	if away {
		return stream{}
	}
	return out
}

// onlyExec reports exec without a command: its redirections are the shell's from then on.
func onlyExec(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

func (w *walk) cmd(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return w.call(c, in)
	case *syntax.BinaryCmd:
		return w.binary(c, in)
	case *syntax.Block:
		return w.stmts(c.Stmts, in)
	case *syntax.Subshell:
		return w.aside(func() stream { return w.stmts(c.Stmts, in) })
	case *syntax.IfClause:
		return w.ifClause(c, in)
	case *syntax.WhileClause:
		w.forget(c)
		if endless(c) {
			w.spins(c.Do)
		}
		return w.branch(func() stream { w.stmts(c.Cond, in); return w.stmts(c.Do, in) })
	case *syntax.ForClause:
		return w.forClause(c, in)
	case *syntax.CaseClause:
		w.expand.text(c.Word)
		var out []stream
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.expand.text(p)
			}
			out = append(out, w.branch(func() stream { return w.stmts(item.Stmts, in) }))
		}
		return either(out...)
	case *syntax.FuncDecl:
		w.declare(c)
	case *syntax.ArithmCmd:
		w.expand.inside(c.X)
	case *syntax.TestClause:
		w.expand.inside(c.X)
	case *syntax.DeclClause:
		w.declClause(c)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.expand.inside(x)
			if word, ok := x.(*syntax.Word); ok {
				if name, _, ok := strings.Cut(w.expand.text(word), "="); ok {
					w.named(strings.TrimRight(name, " +-*/%&|^<>"))
				}
			}
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			// With options of its own, time is the program, not the shell's word.
			if call, ok := c.Stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 &&
				strings.HasPrefix(call.Args[0].Lit(), "-") {
				return w.run(append([]string{"time"}, w.expand.words(call.Args)...), in)
			}
			return w.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			w.named(c.Name.Lit())
		}
		w.forks++
		w.aside(func() stream { return w.stmt(c.Stmt, stream{text: hole, is: true}) })
		w.forks--
	default:
		w.unknown([]string{"…"}, "this form of command is not known")
	}
	return stream{}
}

// subst follows a command substitution, and returns what it prints.
func (w *walk) subst(c *syntax.CmdSubst) string {
	if s, ok := w.expand.cache[c]; ok {
		return s
	}
	outside, piped := w.direct, w.piped
	w.direct, w.piped = false, true
	out := w.aside(func() stream {
		if text, ok := w.backquoted(c); ok {
			return w.source(text)
		}
		return w.stmts(c.Stmts, stream{})
	})
	w.direct, w.piped = outside, piped
	if !out.is && len(c.Stmts) > 0 {
		out.text = hole
	}
	text := strings.TrimRight(out.text, "\n")
	if w.expand.cache != nil {
		w.expand.cache[c] = text
	}
	return text
}

// backquoted returns the text of backquotes that have backquotes in them: shells take one level of
// backslashes away and read the rest again, which the parser does only in part.
func (sh *shellState) backquoted(c *syntax.CmdSubst) (string, bool) {
	from, to := int(c.Left.Offset()), int(c.Right.Offset())
	if !c.Backquotes || from >= to || to >= len(sh.parsed) || sh.parsed[from] != '`' || sh.parsed[to] != '`' {
		return "", false
	}
	text := sh.parsed[from+1 : to]
	if !strings.Contains(text, "\\`") {
		return "", false
	}
	return strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`").Replace(text), true
}

// process follows a process substitution, and returns the name that stands for it.
func (w *walk) process(p *syntax.ProcSubst) string {
	outside := w.direct
	w.direct = false
	out := w.aside(func() stream { return w.stmts(p.Stmts, stream{text: hole, is: true}) })
	w.direct = outside
	if !out.is {
		out.text = hole
	}
	name := "/dev/fd/" + strconv.Itoa(63+len(w.pipes))
	w.pipes[name] = out.text
	return name
}

// perhapsSource judges shell text of which only a question is kept.
func (w *walk) perhapsSource(text string) { w.codes.runsText(text) }

// inside follows the substitutions in an expression, and asks about text that arithmetic would run.
func (ex *expander) inside(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			ex.line.hidden(ex.text(n))
			return false
		case *syntax.ParamExp:
			var f fields
			ex.param(&f, n, true)
			return false
		case *syntax.CmdSubst:
			ex.line.subst(n)
			return false
		case *syntax.BinaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && assigning[n.Op] {
				ex.line.named(word.Lit())
			}
		case *syntax.UnaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				ex.line.named(word.Lit())
			}
		}
		return true
	})
}

// assigning are the operators of arithmetic that set the variable on their left.
var assigning = map[syntax.BinAritOperator]bool{syntax.Assgn: true, syntax.AddAssgn: true, syntax.SubAssgn: true,
	syntax.MulAssgn: true, syntax.QuoAssgn: true, syntax.RemAssgn: true, syntax.AndAssgn: true, syntax.OrAssgn: true,
	syntax.XorAssgn: true, syntax.ShlAssgn: true, syntax.ShrAssgn: true}

// named notes that something other than an assignment sets a variable: arithmetic, a loop, coproc.
func (w *walk) named(name string) {
	if name == "" {
		return
	}
	w.given(name, notEmpty)
}

// given follows what sets a variable by its name without being an assignment: read, a loop, ${name:=text}, arithmetic.
func (w *walk) given(name, text string) {
	if name == "path" && path.Base(w.shell) == "zsh" {
		name = "PATH"
	}
	w.scope.put(name, text)
	if changesMeaning(name) {
		w.assigned(name, text)
	}
}
