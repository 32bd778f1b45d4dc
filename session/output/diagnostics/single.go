package diagnostics

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isSingleCommand reports whether one command prints all output of a line: no list, no pipe, no redirected output. A cd before
// it is allowed, since it prints nothing.
func isSingleCommand(line string) bool { return isSingleAt(line, 0) }

func isSingleAt(line string, depth int) bool {
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
	return len(stmts) == 1 && isSingleStmt(stmts[0], depth)
}

// isSingleStmt reports whether only one command of a statement prints. depth counts nested shell texts.
func isSingleStmt(s *syntax.Stmt, depth int) bool {
	if s.Background || s.Coprocess || s.Negated {
		return false
	}
	for _, r := range s.Redirs { // redirected errors and inputs are allowed
		if n := r.N; (n == nil || n.Value != "2") && r.Op != syntax.RdrIn {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		args := callWords(c)
		if len(args) == 0 {
			return false
		}
		if text, ok := shellScript(baseName(args[0]), args[1:]); ok {
			return isSingleAt(text, depth+1)
		}
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && isCd(c.X) && isSingleStmt(c.Y, depth)
	case *syntax.TimeClause:
		return false // time prints lines
	}
	return false
}

// isCd reports whether a statement is a cd that prints nothing.
func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || len(s.Redirs) > 0 {
		return false
	}
	args := callWords(c)
	return len(args) > 0 && args[0] == "cd" && (len(args) < 2 || args[len(args)-1] != "-")
}

// EndsInCd reports whether a line's last command changes the directory.
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
	name := callWords(c)[0]
	return name == "cd" || name == "pushd"
}
