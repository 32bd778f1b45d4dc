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
	maxSteps = 5000
	// bytes of expanded words
	maxSpent  = 1 << 20
	maxRuns   = 20000   // commands
	maxWords  = 150000  // words of all commands
	maxTaken  = 4 << 20 // bytes of shell text within shell text
	maxNested = 24      // shell text in shell text, wrappers in wrappers
)

// analyzer walks through one line: its statements, and the commands that they run. Its parts judge words, programs and
// code, each with its own methods. Parts that have to follow more of the line call it as host.
type analyzer struct {
	shellState
	verdicts

	expand    expander    // expands words like the shell
	denial    hardRules   // the built-in denials
	preset    presets     // verdicts of presets and rules
	codes     codeReader  // code of other languages
	delegated delegations // code and commands in operands, options and variables
	wrap      wrapping    // programs that run a command of their words
	guesses   guesser     // unknown programs

	active      []frame // functions that are being followed or declared
	forks       int     // depth of pipes and background commands
	runs        int     // commands judged so far, at most budget
	budget      int
	parsedBytes int // bytes of shell text parsed so far

	feed         stream                         // standard input of shell text
	overBudget   bool                           // the line has more than is followed
	visit        func(x *invocation, last bool) // called for each command (Screen); may be nil
	deferred     []func()                       // judged with the state at the end of the line
	isIncomplete bool                           // the line is incomplete
	isUnparsable bool                           // it is one line, and bash cannot parse it
	piped        bool                           // another command reads the output
}

// host follows more of the line for a part of the analyzer: shell text, or a command whose words are known.
type host interface {
	source(text string) stream
	shellText(text, how string) stream
	run(argv []string, in stream) stream

	judgePossibleShell(text, how string) // what would be denied needs approval
	mergeFindings(f func())              // merges the denials and requirements of f into one
	downgradeDenials(f func())           // records the command that f denies as one that needs approval; drops the rest
}

// shared is the state that all parts of a walk use.
type shared struct {
	host
	*shellState
	*verdicts
}

// frame is a function that is being followed.
type frame struct {
	name  string
	forks int
}

// stream is the known input or output of a command.
type stream struct {
	text string // with marks; hole if unknown
	set  bool   // false: the terminal, or nothing

	endless bool // it never ends by itself
}

// newAnalyzer returns an analyzer for a line.
func newAnalyzer(e *Engine, l Line) *analyzer {
	w := &analyzer{budget: maxRuns + min(len(l.Text), bound.MaxShort), shellState: newShell(e, l)}
	w.at = &w.files
	all := shared{w, &w.shellState, &w.verdicts}
	w.expand = expander{line: w, shellState: &w.shellState, verdicts: &w.verdicts}
	w.guesses = guesser{all}
	w.denial = hardRules{shared: all, guesses: &w.guesses}
	w.preset = presets{&w.shellState, &w.verdicts}
	w.codes = codeReader{shared: all, writeTo: w.writeTo}
	w.delegated = delegations{&w.codes}
	w.wrap = wrapping{hardRules: &w.denial, forCommand: w.noteCommandVariable}
	return w
}

// line judges the whole line.
func (w *analyzer) line(l Line) {
	defer w.judgeDeferred()
	if strings.ContainsAny(l.Text, "\x00"+holes+globs) {
		w.unknown([]string{l.Text}, "the line has control characters in it")
		return
	}
	switch l.Shell {
	case "powershell", "pwsh", "cmd":
		w.codes.windows(l.Text)
		return
	case "fish":
		w.isWholeLine = true
		w.isIncomplete = endsInBackslash(l.Text)
		w.analyzeFish(l.Text)
		return
	case "", "bash", "zsh", "sh", "mksh", "ksh":
		w.isWholeLine = true
	default:
		if w.judgeProgramInput(l) {
			return
		}
		w.judgeForeignShell(l)
	}
	w.isIncomplete = w.isWholeLine && endsInBackslash(l.Text) && !strings.Contains(l.Text, "<<")
	w.source(l.Text)
	if strings.Contains(l.Text, "\r") {
		// Some shells take a carriage return for the end of a line.
		w.source(strings.ReplaceAll(strings.ReplaceAll(l.Text, "\r\n", "\n"), "\r", "\n"))
	}
}

// deferJudgement judges code that runs later, with the variables at the end of the line. At once it is judged for
// denials only, since it may run at any time. In conditional code and subshells the current state is used.
func (w *analyzer) deferJudgement(f func()) {
	if w.unsure > 0 {
		f()
		return
	}
	commands, worst, refused := w.commands, w.worst, w.refused
	w.refused = nil
	f()
	if w.refused == nil {
		w.commands, w.worst, w.refused = commands, worst, refused
		w.deferred = append(w.deferred, f)
	}
}

// judgeDeferred judges the code that was deferred to the end of the line.
func (w *analyzer) judgeDeferred() {
	for i := 0; i < len(w.deferred); i++ {
		w.deferred[i]()
	}
	w.deferred = nil
}

// endsInBackslash reports whether a text ends in a backslash, so that the next line belongs to it.
func endsInBackslash(text string) bool { return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 }

// source judges shell text, including text with unknown parts.
func (w *analyzer) source(text string) stream {
	if strings.TrimSpace(text) == "" {
		return stream{}
	}
	if w.nested++; w.nested > maxNested {
		w.nested--
		w.unknown([]string{clip(text)}, "it is nested too deep to be judged")
		return stream{text: hole, set: true}
	}
	defer func() { w.nested-- }()
	if w.parsedBytes += len(text); w.parsedBytes > maxTaken || bound.IsTooLarge(text) {
		w.unknown([]string{clip(text)}, "it is too long or nested too deep to be judged")
		return stream{text: hole, set: true}
	}
	text = w.translateLoops(text)
	if len(text) > bound.MaxShort {
		return w.longSource(text)
	}
	file, err := syntax.NewParser(syntax.Variant(w.variant())).Parse(strings.NewReader(text), "")
	if err != nil {
		w.isUnparsable = w.isUnparsable || w.isWholeLine && w.nested == 1 && w.shell == "bash" && !isIncomplete(err) && !readAtRunTime(text)
		for _, v := range []syntax.LangVariant{syntax.LangZsh, syntax.LangMirBSDKorn} {
			if f, e := syntax.NewParser(syntax.Variant(v)).Parse(strings.NewReader(text), ""); e == nil {
				w.unknown([]string{clip(text)}, "shells do not agree on how it is read")
				return w.stmts(f.Stmts, stream{})
			}
		}
		w.isIncomplete = w.isIncomplete || w.isWholeLine && w.nested == 1 && isIncomplete(err)
		w.unknown([]string{clip(text)}, "it cannot be parsed: "+err.Error())
		if file != nil {
			w.stmts(file.Stmts, stream{})
		}
		return stream{text: hole, set: true}
	}
	outside := w.parsed
	w.parsed = text
	defer func() { w.parsed = outside }()
	return w.stmts(file.Stmts, w.feed)
}

// longSource judges long shell text statement by statement while it is parsed, and stops at the limits.
func (w *analyzer) longSource(text string) stream {
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
		if o := w.stmt(s, w.feed); o.set {
			if out.WriteString(o.text); out.Len() > 64<<10 {
				out.Reset()
				out.WriteString(hole)
			}
			known = true
		}
		if w.runs > w.budget || w.wordCount > maxWords {
			break
		}
	}
	if err != nil {
		w.isIncomplete = w.isIncomplete || w.isWholeLine && w.nested == 1 && isIncomplete(err)
		w.unknown([]string{clip(text)}, "it cannot be parsed: "+err.Error())
		return stream{text: hole, set: true}
	}
	return stream{text: out.String(), set: known}
}

// readAtRunTime reports whether bash runs a part of a text before it sees an error that the parser finds at once: it
// reads line by line, and arithmetic and expansions only when reached.
func readAtRunTime(text string) bool {
	return strings.ContainsAny(text, "\r\n$`") || slices.ContainsFunc([]string{"((", "let", "]=", "]+="}, func(s string) bool { return strings.Contains(text, s) })
}

// isIncomplete reports whether a shell would read more input after a parse error.
func isIncomplete(err error) bool {
	return syntax.IsIncomplete(err) || strings.Contains(err.Error(), "unclosed here-document")
}

// clip truncates text for display.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// shellText judges text that reaches a shell in other ways than by the line: -c, eval, standard input.
func (w *analyzer) shellText(text string, how string) stream {
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
	if w.stdin.set && text == w.stdin.text { // the shell reads its text from there, so the rest is unknown
		return w.analyzeSubshell(func() stream { w.stdin.text = hole; return run() })
	}
	return w.analyzeSubshell(run)
}

func (w *analyzer) stmts(list []*syntax.Stmt, in stream) stream {
	var out []string
	size := 0
	for _, s := range list {
		o := w.stmt(s, in)
		if o.set && size < 64<<10 {
			out = append(out, o.text)
			size += len(o.text)
		}
	}
	if out == nil {
		return stream{}
	}
	return stream{text: strings.Join(out, ""), set: true}
}

// stmt judges one statement with its redirections.
func (w *analyzer) stmt(s *syntax.Stmt, in stream) (out stream) {
	w.steps++
	mark, cwd := w.scope.mark(), w.cwd
	if s.Background || s.Coprocess || s.Disown {
		args := w.args
		w.forks++
		w.unsure++
		defer func() { w.forks--; w.unsure--; w.scope.undo(mark); w.cwd, w.args = cwd, args }()
	}
	if s.Coprocess {
		in = stream{text: hole, set: true} // what later commands print to it
	}
	if !in.set {
		in = w.stdin
	}
	away := false
	var to []string
	for _, r := range s.Redirs {
		if strings.HasPrefix(r.Word.Lit(), "/dev/tcp/") || strings.HasPrefix(r.Word.Lit(), "/dev/udp/") {
			in = stream{text: hole, set: true} // its text may be read through the same descriptor
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
	} else if len(s.Redirs) == 1 && s.Redirs[0].Op == syntax.RdrIn {
		out = in // $(< file)
	}
	for _, target := range to {
		w.noteWritten(target, out)
	}
	if away {
		return stream{}
	}
	return out
}

// onlyExec reports whether a command is exec without a command: its redirections then apply to the shell.
func onlyExec(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

func (w *analyzer) cmd(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return w.call(c, in)
	case *syntax.BinaryCmd:
		return w.binary(c, in)
	case *syntax.Block:
		return w.stmts(c.Stmts, in)
	case *syntax.Subshell:
		return w.analyzeSubshell(func() stream { return w.stmts(c.Stmts, in) })
	case *syntax.IfClause:
		return w.ifClause(c, in)
	case *syntax.WhileClause:
		w.invalidateAssigned(c)
		if isEndless(c) {
			w.denyForkBomb(c.Do)
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
		return joinBranches(out...)
	case *syntax.FuncDecl:
		w.declare(c)
	case *syntax.ArithmCmd:
		w.expand.followSubst(c.X)
	case *syntax.TestClause:
		w.expand.followSubst(c.X)
	case *syntax.DeclClause:
		w.declClause(c)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.expand.followSubst(x)
			if word, ok := x.(*syntax.Word); ok {
				if name, _, ok := strings.Cut(w.expand.text(word), "="); ok {
					w.noteVariable(strings.TrimRight(name, " +-*/%&|^<>"))
				}
			}
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			// With options, time is the program, not the shell keyword.
			if call, ok := c.Stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 &&
				strings.HasPrefix(call.Args[0].Lit(), "-") {
				return w.run(append([]string{"time"}, w.expand.words(call.Args)...), in)
			}
			return w.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			w.noteVariable(c.Name.Lit())
		}
		w.forks++
		w.analyzeSubshell(func() stream { return w.stmt(c.Stmt, stream{text: hole, set: true}) })
		w.forks--
	default:
		w.unknown([]string{"…"}, "this form of command is not known")
	}
	return stream{}
}

// subst follows a command substitution and returns its output.
func (w *analyzer) subst(c *syntax.CmdSubst) string {
	if s, ok := w.expand.cache[c]; ok {
		return s
	}
	outside, piped := w.direct, w.piped
	w.direct, w.piped = false, true
	out := w.analyzeSubshell(func() stream {
		if text, ok := w.nestedBackquotes(c); ok {
			return w.source(text)
		}
		return w.stmts(c.Stmts, stream{})
	})
	w.direct, w.piped = outside, piped
	if !out.set && len(c.Stmts) > 0 {
		out.text = hole
	}
	text := strings.TrimRight(out.text, "\n")
	if w.expand.cache != nil {
		w.expand.cache[c] = text
	}
	return text
}

// nestedBackquotes returns the text of backquotes that have backquotes in them: shells take one level of
// backslashes away and read the rest again, which the parser does only in part.
func (sh *shellState) nestedBackquotes(c *syntax.CmdSubst) (string, bool) {
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

// process follows a process substitution and returns its name.
func (w *analyzer) process(p *syntax.ProcSubst) string {
	outside := w.direct
	w.direct = false
	out := w.analyzeSubshell(func() stream { return w.stmts(p.Stmts, stream{text: hole, set: true}) })
	w.direct = outside
	if !out.set {
		out.text = hole
	}
	name := "/dev/fd/" + strconv.Itoa(63+len(w.pipes))
	w.pipes[name] = out.text
	return name
}

// judgePossibleSource judges shell text and keeps only an approval requirement.
func (w *analyzer) judgePossibleSource(text string) { w.codes.judgeRunText(text) }

// followSubst follows the substitutions in an expression, and requires approval for text that arithmetic would run.
func (ex *expander) followSubst(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			ex.line.judgeQuotedSubst(ex.text(n))
			return false
		case *syntax.ParamExp:
			var f fields
			ex.param(&f, n, true)
			return false
		case *syntax.CmdSubst:
			ex.line.subst(n)
			return false
		case *syntax.BinaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && assignOps[n.Op] {
				ex.line.noteVariable(word.Lit())
			}
		case *syntax.UnaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				ex.line.noteVariable(word.Lit())
			}
		}
		return true
	})
}

// assignOps are the arithmetic operators that set the variable on their left.
var assignOps = map[syntax.BinAritOperator]bool{syntax.Assgn: true, syntax.AddAssgn: true, syntax.SubAssgn: true,
	syntax.MulAssgn: true, syntax.QuoAssgn: true, syntax.RemAssgn: true, syntax.AndAssgn: true, syntax.OrAssgn: true,
	syntax.XorAssgn: true, syntax.ShlAssgn: true, syntax.ShrAssgn: true}

// noteVariable records that something other than an assignment sets a variable: arithmetic, a loop, coproc.
func (w *analyzer) noteVariable(name string) {
	if name == "" {
		return
	}
	w.noteText(name, notEmpty)
}

// noteText follows what sets a variable by its name without being an assignment: read, a loop, ${name:=text}, arithmetic.
func (w *analyzer) noteText(name, text string) {
	if name == "path" && path.Base(w.shell) == "zsh" {
		name = "PATH"
	}
	w.scope.put(name, text)
	if changesMeaning(name) {
		w.judgeAssignment(name, text)
	}
}
