package diagnostics

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// singleCommand reports if all that a line prints is what one command prints: no list, no pipe, no
// redirection of its output. A cd before it is fine, which prints nothing.
func singleCommand(line string) bool { return singleAt(line, 0) }

func singleAt(line string, depth int) bool {
	if len(line) > maxCommandBytes || depth > maxCommandDepth {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	stmts := f.Stmts
	for len(stmts) > 1 && isCd(stmts[0]) {
		stmts = stmts[1:]
	}
	return len(stmts) == 1 && singleStmt(stmts[0], depth)
}

// singleStmt reports whether only one command of a statement prints. depth counts nested shell texts.
func singleStmt(s *syntax.Stmt, depth int) bool {
	if s.Background || s.Coprocess || s.Negated {
		return false
	}
	for _, r := range s.Redirs { // of errors is fine, and so is an input
		if n := r.N; (n == nil || n.Value != "2") && r.Op != syntax.RdrIn {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		args := words(c)
		if len(args) == 0 {
			return false
		}
		if text, ok := script(baseName(args[0]), args[1:]); ok {
			return singleAt(text, depth+1)
		}
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && isCd(c.X) && singleStmt(c.Y, depth)
	case *syntax.TimeClause:
		return false // it adds lines
	}
	return false
}

// isCd reports if a statement is a cd that prints nothing.
func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || len(s.Redirs) > 0 {
		return false
	}
	args := words(c)
	return len(args) > 0 && args[0] == "cd" && (len(args) < 2 || args[len(args)-1] != "-")
}

// EndsInCd reports if the last thing that a line does is to change its directory.
func EndsInCd(line string) bool {
	if len(line) > maxCommandBytes || !strings.Contains(line, "cd") && !strings.Contains(line, "pushd") {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) == 0 {
		return false
	}
	last := f.Stmts[len(f.Stmts)-1]
	for b, ok := last.Cmd.(*syntax.BinaryCmd); ok; b, ok = last.Cmd.(*syntax.BinaryCmd) {
		if b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
			return false
		}
		last = b.Y
	}
	c, ok := last.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	name := words(c)[0]
	return name == "cd" || name == "pushd"
}
