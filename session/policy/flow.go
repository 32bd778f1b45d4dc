package policy

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
	"mvdan.cc/sh/v3/syntax"
)

// joinBranches joins the outputs of branches of which one runs.
func joinBranches(out ...stream) stream {
	var got stream
	for _, o := range out {
		if o.set && got.set && o.text != got.text {
			o.text = hole
		}
		if o.set {
			got = o
		}
	}
	return got
}

// analyzeSubshell follows code in a subshell, whose assignments do not affect the outside.
func (w *analyzer) analyzeSubshell(f func() stream) stream {
	mark, cwd, lost, stdin, args := w.scope.mark(), w.cwd, w.unknownDir, w.stdin, w.args
	w.unsure++
	out := f()
	w.unsure--
	w.scope.undo(mark)
	w.cwd, w.unknownDir, w.stdin, w.args = cwd, lost, stdin, args
	return out
}

// branch follows code that may or may not run.
func (w *analyzer) branch(f func() stream) stream {
	at := w.takeSnapshot()
	w.unsure++
	out := f()
	w.unsure--
	w.invalidateSince(at)
	return out
}

// stateSnapshot is a snapshot of a shell's state at one point of the line.
type stateSnapshot struct {
	mark int // position in the log of assignments
	cwd  string
	args []string
}

func (sh *shellState) takeSnapshot() stateSnapshot {
	return stateSnapshot{sh.scope.mark(), sh.cwd, sh.args}
}

// invalidateSince makes unknown what has changed since then: it may or may not have happened.
func (sh *shellState) invalidateSince(p stateSnapshot) {
	sh.scope.invalidate(p.mark)
	if p.cwd != sh.cwd {
		sh.cwd, sh.unknownDir = "", sh.unknownDir || p.cwd != ""
	}
	if len(p.args) != len(sh.args) || len(p.args) > 0 && &p.args[0] != &sh.args[0] {
		sh.args = nil
	}
}

// cannotFail reports whether a builtin cannot fail with these words.
func (sh *shellState) cannotFail(name string, words []*syntax.Word) bool {
	if sh.mayBeRenamed(name) {
		return false
	}
	return !slices.ContainsFunc(words, func(word *syntax.Word) bool {
		switch name {
		case "true", ":":
			return false
		case "alias": // without a value it looks one up
			lit, ok := word.Parts[0].(*syntax.Lit)
			if !ok {
				return true
			}
			name, _, defines := strings.Cut(lit.Value, "=")
			return !defines || !isVariableName(name)
		case "unset":
			return !isVariableName(word.Lit()) || sh.mayBeReadonly(word.Lit())
		}
		return true
	}) && slices.Contains([]string{"true", ":", "alias", "unset"}, name)
}

// mayBeRenamed reports whether a name may be a function or an alias.
func (sh *shellState) mayBeRenamed(name string) bool {
	return sh.funcs[name] != nil || sh.aliases[name] != nil
}

// isSettable reports whether no shell refuses an assignment.
func (sh *shellState) isSettable(a *syntax.Assign) bool {
	return a.Name != nil && a.Index == nil && isVariableName(a.Name.Value) && !sh.mayBeReadonly(a.Name.Value)
}

// mayBeReadonly reports whether a variable may be readonly.
func (sh *shellState) mayBeReadonly(name string) bool {
	switch name {
	case "UID", "EUID", "GID", "EGID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO", "USERNAME",
		"ARGC", "HISTCMD", "LINENO", "TTYIDLE", "ZSH_EVAL_CONTEXT", "ZSH_SUBSHELL", "zsh_eval_context", "status":
		return true
	}
	return sh.scope.get(name).fixed
}

// isVariableName reports whether a name is a valid variable name.
func isVariableName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && (name[0] < '0' || name[0] > '9')
}

// succeeds reports whether a statement cannot fail: the command after && then runs.
func (sh *shellState) succeeds(s *syntax.Stmt) bool {
	if s.Negated || s.Background || len(s.Redirs) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.FuncDecl: // what is in it is not run
		return true
	case *syntax.CallExpr:
		if slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool { return !sh.isSettable(a) }) {
			return false
		}
		if len(c.Args) > 0 && !sh.cannotFail(c.Args[0].Lit(), c.Args[1:]) {
			return false
		}
	case *syntax.DeclClause:
		if c.Variant.Value != "export" || sh.mayBeRenamed("export") || slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return !sh.isSettable(a) }) {
			return false
		}
	default:
		return false
	}
	simple := true
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			simple = false
		case *syntax.ParamExp: // ${x:?} fails
			simple = simple && n.Exp == nil
		}
		return simple
	})
	return simple
}

// binary follows lists and pipes, which the parser nests to the left, in a loop.
func (w *analyzer) binary(c *syntax.BinaryCmd, in stream) stream {
	type link struct {
		op   syntax.BinCmdOperator
		stmt *syntax.Stmt
	}
	var chain []link
	first := c.X
	for {
		chain = append(chain, link{c.Op, c.Y})
		inner, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || len(first.Redirs) > 0 || first.Background || (c.Op < syntax.Pipe) != (inner.Op < syntax.Pipe) {
			break
		}
		c, first = inner, inner.X
	}
	piped := chain[0].op == syntax.Pipe || chain[0].op == syntax.PipeAll
	if piped {
		w.forks++
		defer func() { w.forks-- }()
		outside := w.piped
		w.piped = true
		out := w.analyzeSubshell(func() stream { return w.stmt(first, in) })
		for i := len(chain) - 1; i >= 0; i-- {
			if !out.set {
				out = stream{text: hole, set: true}
			}
			next := chain[i].stmt
			w.piped = outside || i > 0
			prev := out
			out = w.branch(func() stream { return w.stmt(next, prev) })
		}
		return out
	}
	outs := []string{}
	got := false
	add := func(o stream) {
		if o.set {
			outs, got = append(outs, o.text), true
		}
	}
	add(w.stmt(first, in))
	// The part after && is followed as if everything before had succeeded. After the list, or after a failure before
	// ||, it is unknown how far it got.
	sure := w.succeeds(first)
	at := w.takeSnapshot()
	for i := len(chain) - 1; i >= 0; i-- {
		next := chain[i].stmt
		if chain[i].op == syntax.OrStmt {
			if !sure {
				w.invalidateSince(at)
			}
			sure = false
			add(w.branch(func() stream { return w.stmt(next, in) }))
			at = w.takeSnapshot()
			continue
		}
		if sure {
			add(w.stmt(next, in))
			sure = w.succeeds(next)
			at = w.takeSnapshot()
			continue
		}
		w.unsure++
		add(w.stmt(next, in))
		w.unsure--
	}
	if !sure {
		w.invalidateSince(at)
	}
	return stream{text: strings.Join(outs, ""), set: got}
}

func (w *analyzer) ifClause(c *syntax.IfClause, in stream) stream {
	var outs []stream
	for ; c != nil; c = c.Else {
		w.stmts(c.Cond, in)
		then := c.Then
		outs = append(outs, w.branch(func() stream { return w.stmts(then, in) }))
	}
	return joinBranches(outs...)
}

// invalidateAssigned makes the variables unknown that a loop assigns: a later iteration sees them.
func (sh *shellState) invalidateAssigned(n syntax.Node) {
	if sh.steps > maxSteps {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		sh.steps++
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil && sh.scope.get(a.Name.Value).set {
			sh.scope.put(a.Name.Value, hole)
		}
		return sh.steps < 2*maxSteps
	})
}

func (w *analyzer) forClause(c *syntax.ForClause, in stream) stream {
	w.invalidateAssigned(&syntax.Block{Stmts: c.Do})
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if l, ok := c.Loop.(*syntax.CStyleLoop); ok {
			if l.Cond == nil {
				w.denyForkBomb(c.Do)
			}
			w.expand.followSubst(l.Init)
			w.expand.followSubst(l.Cond)
			w.expand.followSubst(l.Post)
		}
		return w.branch(func() stream { return w.stmts(c.Do, in) })
	}
	w.expand.split = false
	items := w.expand.words(loop.Items)
	if w.expand.split { // see call
		items = append(items, w.expand.wholeWords(loop.Items)...)
	}
	if !loop.InPos.IsValid() {
		items = w.positionals()
		if items == nil {
			items = []string{hole}
		}
	}
	if len(items) > 8 || w.steps > maxSteps || c.Select {
		items = append([]string{}, summary(items))
	}
	var outs []string
	got := false
	for _, item := range items {
		w.noteText(loop.Name.Value, item)
		if o := w.branch(func() stream { return w.stmts(c.Do, in) }); o.set {
			outs, got = append(outs, o.text), true
		}
	}
	return stream{text: strings.Join(outs, ""), set: got}
}

// summary returns one word for many: their common prefix, and an unknown rest.
func summary(items []string) string {
	if len(items) == 0 {
		return ""
	}
	common := items[0]
	for _, s := range items {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	return common + someText
}

// whySpins is the reason for denying a fork bomb.
const whySpins = "the loop has no end, starts a program each time and waits for none"

// isEndless reports whether a loop's condition is always true as written.
func isEndless(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 || c.Cond[0].Background {
		return false
	}
	until := c.Until != c.Cond[0].Negated
	always := ""
	switch cond := c.Cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		for _, word := range cond.Args {
			always += word.Lit() + " "
		}
	case *syntax.ArithmCmd:
		if word, ok := cond.X.(*syntax.Word); ok {
			always = "((" + word.Lit() + "))"
		}
	case *syntax.TestClause:
		if word, ok := cond.X.(*syntax.Word); ok && word.Lit() != "" {
			always = "true "
		}
	}
	switch always {
	case ": ", "true ", "/bin/true ", "[ 1 ] ", "[ true ] ", "test 1 ", "((1))":
		return !until
	case "false ", "/bin/false ", "((0))", "[ ] ":
		return until
	}
	return false
}

// denyForkBomb denies an endless loop that starts a background command in each iteration, and whose other commands take
// no time.
func (w *analyzer) denyForkBomb(body []*syntax.Stmt) {
	starts, waits := false, false
	look := func(n syntax.Node) bool {
		if w.steps++; w.steps > maxSteps || waits {
			return false
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background || n.Coprocess || n.Disown {
				starts = true
				return false
			}
		case *syntax.FuncDecl, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				waits = waits || !isInstant(n.Args[0].Lit())
			}
		}
		return true
	}
	for _, s := range body {
		syntax.Walk(s, look)
	}
	if starts && !waits {
		c := Command{Argv: []string{"while true; do … & done"}}
		w.deny(&c, "hard:forkbomb", whySpins, "wait for what it starts, or pause in the loop")
		w.record(c)
	}
}

// isInstant reports whether a command ends at once: builtins, and programs that only read.
func isInstant(name string) bool {
	switch name {
	case "sleep", "wait", "read", "break", "exit", "return", "tail", "less", "more", "man", "top", "journalctl", "dmesg", "yes",
		"cat", "grep", "rg", "find", "sort", "pstree", "lsof", "du":
		return false
	}
	row := programs.Lookup(name)
	return row != nil && row.Reads || name == "set" || name == "export" || name == "let" || name == "local"
}
