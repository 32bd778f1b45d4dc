package shell

import (
	"path"
	"strings"

	sh "mvdan.cc/sh/v3/syntax"
)

// Guess is the probable state of a shell without marks (on another machine, for example), derived from the lines that
// were typed into it.
type Guess struct {
	Cwd string `json:"cwd,omitempty"` // empty if unknown
	// Env are variables that lines exported; nil: unset.
	Env map[string]*string `json:"env,omitempty"`
	// Sure reports that the newest line was fully understood, except for its success.
	Sure bool `json:"sure"`

	old  string   // for cd -
	dirs []string // for popd
	base Env      // what it printed of its environment; nil: nothing
}

// After returns the guess after a line was typed. Commands in another process (subshells, pipes, the background) change
// nothing; conditional commands make the guess unsure.
func (g Guess) After(line string) Guess {
	f, err := sh.NewParser(sh.Variant(sh.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		g.Sure = false
		return g
	}
	env := map[string]*string{}
	for name, value := range g.Env {
		env[name] = value
	}
	g.Env, g.Sure = env, true
	g.stmts(f.Stmts)
	if len(g.Env) == 0 {
		g.Env = nil
	}
	return g
}

func (g *Guess) stmts(list []*sh.Stmt) {
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
		g.call(x)
	case *sh.DeclClause:
		if x.Variant.Value == "export" {
			g.assign(x.Args)
		}
	case *sh.Block:
		g.stmts(x.Stmts)
	case *sh.TimeClause:
		if x.Stmt != nil {
			g.stmts([]*sh.Stmt{x.Stmt})
		}
	case *sh.BinaryCmd:
		if x.Op == sh.AndStmt || x.Op == sh.OrStmt {
			g.stmts([]*sh.Stmt{x.X})
			g.doubtful(func() { g.stmts([]*sh.Stmt{x.Y}) })
		}
	case *sh.IfClause:
		g.doubtful(func() { g.stmts(x.Then) })
	case *sh.WhileClause:
		g.doubtful(func() { g.stmts(x.Do) })
	case *sh.ForClause:
		g.doubtful(func() { g.stmts(x.Do) })
	}
}

// doubtful applies what may not happen.
func (g *Guess) doubtful(apply func()) {
	before := g.Cwd
	apply()
	if g.Cwd != before {
		g.Sure = false
	}
}

func (g *Guess) call(x *sh.CallExpr) {
	var words []string
	for _, w := range x.Args {
		word, known := literal(w)
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
		g.cd(words[0], args)
	case "popd":
		if n := len(g.dirs); n > 0 {
			g.move(g.dirs[n-1])
			g.dirs = g.dirs[:n-1]
		} else {
			g.lose()
		}
	case "unset":
		for _, name := range args {
			g.Env[name] = nil
		}
	case "eval", "source", ".", "exec", "ssh", "su", "exit", "logout", unknownWord:
		g.Sure = false
	}
}

const unknownWord = "\x00"

func (g *Guess) cd(verb string, args []string) {
	if verb == "pushd" {
		g.dirs = append(g.dirs[:len(g.dirs):len(g.dirs)], g.Cwd)
	}
	switch {
	case len(args) == 0, strings.HasPrefix(args[0], "~"), args[0] == unknownWord:
		g.lose() // where home is, only the shell knows
	case args[0] == "-" && g.old != "":
		g.move(g.old)
	case args[0] == "-":
		g.lose()
	case path.IsAbs(args[0]):
		g.move(path.Clean(args[0]))
	case g.Cwd == "":
		g.Sure = false
	default:
		g.move(path.Join(g.Cwd, args[0]))
	}
}

func (g *Guess) move(dir string) {
	g.old, g.Cwd = g.Cwd, dir
	g.Sure = g.Sure && dir != ""
}

func (g *Guess) lose() { g.old, g.Cwd, g.Sure = g.Cwd, "", false }

func (g *Guess) assign(list []*sh.Assign) {
	for _, a := range list {
		if a.Name == nil || a.Naked {
			continue
		}
		value, known := "", true
		if a.Value != nil {
			value, known = literal(a.Value)
		}
		if known && !IsSecret(a.Name.Value, value) {
			g.Env[a.Name.Value] = &value
		}
	}
}

// literal returns a word's text if it needs no expansion.
func literal(w *sh.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch x := p.(type) {
		case *sh.Lit:
			b.WriteString(strings.ReplaceAll(x.Value, `\`, ""))
		case *sh.SglQuoted:
			b.WriteString(x.Value)
		case *sh.DblQuoted:
			text, ok := literal(&sh.Word{Parts: x.Parts})
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
