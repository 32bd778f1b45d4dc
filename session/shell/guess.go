package shell

import (
	"path"
	"strings"

	sh "mvdan.cc/sh/v3/syntax"
)

// Guess is the probable state of a shell without marks (on another machine, for example), derived from the lines that
// were typed into it.
type Guess struct {
	Cwd string `json:"cwd,omitempty"` // empty: unknown
	// Env has variables that lines exported; nil: unset.
	Env map[string]*string `json:"env,omitempty"`
	// IsCertain reports that the newest line was fully understood, except for its success.
	IsCertain bool `json:"sure"`

	previousDir string   // for cd -
	dirStack    []string // for popd
	printedEnv  Env      // environment that the shell printed; nil: none
}

// AfterLine returns the guess after a line was typed. Commands in another process (subshells, pipes, the background)
// change nothing; conditional commands make the guess uncertain.
func (g Guess) AfterLine(line string) Guess {
	f, err := sh.NewParser(sh.Variant(sh.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		g.IsCertain = false
		return g
	}
	env := map[string]*string{}
	for name, value := range g.Env {
		env[name] = value
	}
	g.Env, g.IsCertain = env, true
	g.applyStatements(f.Stmts)
	if len(g.Env) == 0 {
		g.Env = nil
	}
	return g
}

// applyStatements updates the guess with the effects of statements.
func (g *Guess) applyStatements(list []*sh.Stmt) {
	for _, s := range list {
		if !s.Background && !s.Coprocess {
			g.apply(s.Cmd)
		}
	}
}

// apply updates the guess with the effects of a command.
func (g *Guess) apply(c sh.Command) {
	switch x := c.(type) {
	case *sh.CallExpr:
		g.applyCall(x)
	case *sh.DeclClause:
		if x.Variant.Value == "export" {
			g.applyAssignments(x.Args)
		}
	case *sh.Block:
		g.applyStatements(x.Stmts)
	case *sh.TimeClause:
		if x.Stmt != nil {
			g.applyStatements([]*sh.Stmt{x.Stmt})
		}
	case *sh.BinaryCmd:
		if x.Op == sh.AndStmt || x.Op == sh.OrStmt {
			g.applyStatements([]*sh.Stmt{x.X})
			g.applyConditional(func() { g.applyStatements([]*sh.Stmt{x.Y}) })
		}
	case *sh.IfClause:
		g.applyConditional(func() { g.applyStatements(x.Then) })
	case *sh.WhileClause:
		g.applyConditional(func() { g.applyStatements(x.Do) })
	case *sh.ForClause:
		g.applyConditional(func() { g.applyStatements(x.Do) })
	}
}

// applyConditional calls apply for commands that may not run. A change of directory makes the guess uncertain.
func (g *Guess) applyConditional(apply func()) {
	before := g.Cwd
	apply()
	if g.Cwd != before {
		g.IsCertain = false
	}
}

// applyCall updates the guess with the effects of a simple command.
func (g *Guess) applyCall(x *sh.CallExpr) {
	var words []string
	for _, w := range x.Args {
		word, known := literalWord(w)
		if !known {
			word = unknownWord
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return
	}
	args := words[1:]
	for len(args) > 0 && (args[0] == "-P" || args[0] == "-L" || args[0] == "--") {
		args = args[1:]
	}
	switch words[0] {
	case "cd", "pushd":
		g.changeDir(words[0], args)
	case "popd":
		if n := len(g.dirStack); n > 0 {
			g.setDir(g.dirStack[n-1])
			g.dirStack = g.dirStack[:n-1]
		} else {
			g.forgetDir()
		}
	case "unset":
		for _, name := range args {
			g.Env[name] = nil
		}
	case "eval", "source", ".", "exec", "ssh", "su", "exit", "logout", unknownWord:
		g.IsCertain = false
	}
}

// unknownWord stands for a word whose expansion is unknown.
const unknownWord = "\x00"

// changeDir updates the directory for cd or pushd.
func (g *Guess) changeDir(verb string, args []string) {
	if verb == "pushd" {
		g.dirStack = append(g.dirStack[:len(g.dirStack):len(g.dirStack)], g.Cwd)
	}
	switch {
	case len(args) == 0, strings.HasPrefix(args[0], "~"), args[0] == unknownWord:
		g.forgetDir() // only the shell knows the home directory
	case args[0] == "-" && g.previousDir != "":
		g.setDir(g.previousDir)
	case args[0] == "-":
		g.forgetDir()
	case path.IsAbs(args[0]):
		g.setDir(path.Clean(args[0]))
	case g.Cwd == "":
		g.IsCertain = false
	default:
		g.setDir(path.Join(g.Cwd, args[0]))
	}
}

// setDir sets the directory; "" if unknown.
func (g *Guess) setDir(dir string) {
	g.previousDir, g.Cwd = g.Cwd, dir
	g.IsCertain = g.IsCertain && dir != ""
}

// forgetDir makes the directory unknown.
func (g *Guess) forgetDir() { g.previousDir, g.Cwd, g.IsCertain = g.Cwd, "", false }

// applyAssignments records exported variables, except for secrets.
func (g *Guess) applyAssignments(list []*sh.Assign) {
	for _, a := range list {
		if a.Name == nil || a.Naked {
			continue
		}
		value, known := "", true
		if a.Value != nil {
			value, known = literalWord(a.Value)
		}
		if known && !IsSecret(a.Name.Value, value) {
			g.Env[a.Name.Value] = &value
		}
	}
}

// literalWord returns a word's text. ok is false if it needs an expansion.
func literalWord(w *sh.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch x := p.(type) {
		case *sh.Lit:
			b.WriteString(strings.ReplaceAll(x.Value, `\`, ""))
		case *sh.SglQuoted:
			b.WriteString(x.Value)
		case *sh.DblQuoted:
			text, ok := literalWord(&sh.Word{Parts: x.Parts})
			if !ok {
				return "", false
			}
			b.WriteString(text)
		default:
			return "", false
		}
	}
	return b.String(), true
}
