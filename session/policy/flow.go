package policy

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
	"mvdan.cc/sh/v3/syntax"
)

// either joins the outputs of branches of which one is taken.
func either(out ...stream) stream {
	var got stream
	for _, o := range out {
		if o.is && got.is && o.text != got.text {
			o.text = hole
		}
		if o.is {
			got = o
		}
	}
	return got
}

// aside follows what runs in a process of its own: nothing that it assigns is seen outside.
func (w *walk) aside(f func() stream) stream {
	mark, cwd, lost, stdin, args := w.scope.mark(), w.cwd, w.lost, w.stdin, w.args
	w.unsure++
	out := f()
	w.unsure--
	w.scope.undo(mark)
	w.cwd, w.lost, w.stdin, w.args = cwd, lost, stdin, args
	return out
}

// branch follows what may run or not.
func (w *walk) branch(f func() stream) stream {
	at := w.here()
	w.unsure++
	out := f()
	w.unsure--
	w.since(at)
	return out
}

// place is what a shell knows at one point of the line.
type place struct {
	mark int
	cwd  string
	args []string
}

func (sh *shellState) here() place { return place{sh.scope.mark(), sh.cwd, sh.args} }

// since makes unknown what has changed since then: it may or may not have happened.
func (sh *shellState) since(p place) {
	sh.scope.blur(p.mark)
	if p.cwd != sh.cwd {
		sh.cwd, sh.lost = "", sh.lost || p.cwd != ""
	}
	if len(p.args) != len(sh.args) || len(p.args) > 0 && &p.args[0] != &sh.args[0] {
		sh.args = nil
	}
}

// cannotFail reports a builtin that cannot fail with these words.
func (sh *shellState) cannotFail(name string, words []*syntax.Word) bool {
	if sh.renamed(name) {
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
			return !defines || !plainName(name)
		case "unset":
			return !plainName(word.Lit()) || sh.unsettable(word.Lit())
		}
		return true
	}) && slices.Contains([]string{"true", ":", "alias", "unset"}, name)
}

// renamed reports a name that is perhaps a function's or an alias.
func (sh *shellState) renamed(name string) bool {
	return sh.funcs[name] != nil || sh.aliases[name] != nil
}

// settable reports an assignment that no shell refuses.
func (sh *shellState) settable(a *syntax.Assign) bool {
	return a.Name != nil && a.Index == nil && plainName(a.Name.Value) && !sh.unsettable(a.Name.Value)
}

// unsettable reports a variable that is perhaps readonly.
func (sh *shellState) unsettable(name string) bool {
	switch name {
	case "UID", "EUID", "GID", "EGID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO", "USERNAME",
		"ARGC", "HISTCMD", "LINENO", "TTYIDLE", "ZSH_EVAL_CONTEXT", "ZSH_SUBSHELL", "zsh_eval_context", "status":
		return true
	}
	return sh.scope.get(name).fixed
}

// plainName reports a name as those of variables are.
func plainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && (name[0] < '0' || name[0] > '9')
}

// succeeds reports a statement that cannot fail: what follows it after && is run.
func (sh *shellState) succeeds(s *syntax.Stmt) bool {
	if s.Negated || s.Background || len(s.Redirs) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.FuncDecl: // what is in it is not run
		return true
	case *syntax.CallExpr:
		if slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool { return !sh.settable(a) }) {
			return false
		}
		if len(c.Args) > 0 && !sh.cannotFail(c.Args[0].Lit(), c.Args[1:]) {
			return false
		}
	case *syntax.DeclClause:
		if c.Variant.Value != "export" || sh.renamed("export") || slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return !sh.settable(a) }) {
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
func (w *walk) binary(c *syntax.BinaryCmd, in stream) stream {
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
		out := w.aside(func() stream { return w.stmt(first, in) })
		for i := len(chain) - 1; i >= 0; i-- {
			if !out.is {
				out = stream{text: hole, is: true}
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
		if o.is {
			outs, got = append(outs, o.text), true
		}
	}
	add(w.stmt(first, in))
	// What stands behind && is followed as if all before it had succeeded. When the list is over, or something before
	// || has failed, nobody knows how far that was.
	sure := w.succeeds(first)
	at := w.here()
	for i := len(chain) - 1; i >= 0; i-- {
		next := chain[i].stmt
		if chain[i].op == syntax.OrStmt {
			if !sure {
				w.since(at)
			}
			sure = false
			add(w.branch(func() stream { return w.stmt(next, in) }))
			at = w.here()
			continue
		}
		if sure {
			add(w.stmt(next, in))
			sure = w.succeeds(next)
			at = w.here()
			continue
		}
		w.unsure++
		add(w.stmt(next, in))
		w.unsure--
	}
	if !sure {
		w.since(at)
	}
	return stream{text: strings.Join(outs, ""), is: got}
}

func (w *walk) ifClause(c *syntax.IfClause, in stream) stream {
	var outs []stream
	for ; c != nil; c = c.Else {
		w.stmts(c.Cond, in)
		then := c.Then
		outs = append(outs, w.branch(func() stream { return w.stmts(then, in) }))
	}
	return either(outs...)
}

// forget makes unknown what a loop assigns: a later round sees it.
func (sh *shellState) forget(n syntax.Node) {
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

func (w *walk) forClause(c *syntax.ForClause, in stream) stream {
	w.forget(&syntax.Block{Stmts: c.Do})
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if l, ok := c.Loop.(*syntax.CStyleLoop); ok {
			if l.Cond == nil {
				w.spins(c.Do)
			}
			w.expand.inside(l.Init)
			w.expand.inside(l.Cond)
			w.expand.inside(l.Post)
		}
		return w.branch(func() stream { return w.stmts(c.Do, in) })
	}
	w.expand.split = false
	items := w.expand.words(loop.Items)
	if w.expand.split { // see call
		items = append(items, w.expand.wholeWords(loop.Items)...)
	}
	if !loop.InPos.IsValid() {
		items = w.args
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
		w.given(loop.Name.Value, item)
		if o := w.branch(func() stream { return w.stmts(c.Do, in) }); o.is {
			outs, got = append(outs, o.text), true
		}
	}
	return stream{text: strings.Join(outs, ""), is: got}
}

// summary stands for one of many words: their common beginning, and what is not known.
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

const whySpins = "the loop has no end, starts a program each time and waits for none"

// endless reports a loop whose condition is written to be true always.
func endless(c *syntax.WhileClause) bool {
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

// spins refuses an endless loop that starts a command in the background each time, and whose other commands
// take no time.
func (w *walk) spins(body []*syntax.Stmt) {
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
				waits = waits || !passing(n.Args[0].Lit())
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

// passing reports whether a command is done at once: what the shell does itself, and programs that read.
func passing(name string) bool {
	switch name {
	case "sleep", "wait", "read", "break", "exit", "return", "tail", "less", "more", "man", "top", "journalctl", "dmesg", "yes",
		"cat", "grep", "rg", "find", "sort", "pstree", "lsof", "du":
		return false
	}
	row := programs.Lookup(name)
	return row != nil && row.Reads || name == "set" || name == "export" || name == "let" || name == "local"
}
