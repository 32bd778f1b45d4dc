package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the analysis of a regular expression, and so of the lookups that it causes.
const (
	maxExact = 8 // strings that a part may match
	maxClass = 4 // characters of a class; \d would make ten lookups of one
	maxAnd   = 8 // conditions
)

// expr is a necessary condition for a block with a matching line: a combination of folded literals. Blocks that meet it
// need not have a match.
type expr struct {
	op   op
	lit  string // the literal of opLit, not empty
	subs []expr // operands of opAnd and opOr
}

type op byte

const (
	opAll op = iota // every block meets it
	opLit
	opAnd
	opOr
)

// literalExpr returns the condition that a literal occurs.
func literalExpr(lit string) expr {
	if lit == "" {
		return expr{}
	}
	return expr{op: opLit, lit: lit}
}

func and(list ...expr) expr { return join(opAnd, list) }

func or(list ...expr) expr {
	if slices.ContainsFunc(list, func(e expr) bool { return e.op == opAll }) {
		return expr{}
	}
	return join(opOr, list)
}

// join combines conditions, without trivial ones and nesting.
func join(o op, list []expr) expr {
	var subs []expr
	for _, e := range list {
		switch e.op {
		case opAll:
		case o:
			subs = append(subs, e.subs...)
		default:
			subs = append(subs, e)
		}
	}
	switch len(subs) {
	case 0:
		return expr{}
	case 1:
		return subs[0]
	}
	if o == opAnd && len(subs) > maxAnd { // fewer conditions are met by more blocks
		subs = subs[:maxAnd]
	}
	return expr{op: o, subs: subs}
}

// isWeak reports whether no trigram is required in every block. Then almost all blocks meet the condition.
func (e expr) isWeak() bool {
	switch e.op {
	case opLit:
		return len(e.lit) < 3
	case opAnd:
		return !slices.ContainsFunc(e.subs, func(e expr) bool { return !e.isWeak() })
	case opOr:
		return slices.ContainsFunc(e.subs, expr.isWeak)
	}
	return true
}

// longest returns the longest literal that every matching line contains, or "".
func (e expr) longest() string {
	switch e.op {
	case opLit:
		return e.lit
	case opAnd:
		best := ""
		for _, s := range e.subs {
			if l := s.longest(); len(l) > len(best) {
				best = l
			}
		}
		return best
	}
	return ""
}

// info describes what a part of a regular expression matches: its exact folded strings if exact is not nil, else the
// condition expr.
type info struct {
	exact []string
	expr  expr
}

// condition returns the expression of the part alone.
func (i info) condition() expr {
	if i.exact == nil {
		return i.expr
	}
	list := make([]expr, len(i.exact))
	for k, s := range i.exact {
		list[k] = literalExpr(s)
	}
	return or(list...)
}

// analyze returns the info of a simplified regular expression.
func analyze(re *syntax.Regexp) info {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return info{exact: []string{""}}
	case syntax.OpLiteral:
		return info{exact: []string{string(appendFold(nil, []byte(string(re.Rune))))}}
	case syntax.OpCharClass:
		return info{exact: class(re.Rune)}
	case syntax.OpCapture:
		return analyze(re.Sub[0])
	case syntax.OpPlus:
		return info{expr: analyze(re.Sub[0]).condition()}
	case syntax.OpQuest:
		if sub := analyze(re.Sub[0]); sub.exact != nil && len(sub.exact) < maxExact {
			return info{exact: unique(append(slices.Clone(sub.exact), ""))}
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return info{} // any character, any number of times, nothing at all
}

// class returns the characters of a class, or nil if they are too many.
func class(ranges []rune) []string {
	var list []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(list) == 4*maxClass { // some fall together
				return nil
			}
			list = append(list, string(fold(r)))
		}
	}
	if list = unique(list); len(list) == 0 || len(list) > maxClass {
		return nil
	}
	return list
}

func concat(subs []*syntax.Regexp) info {
	run := info{exact: []string{""}} // the exact part that grows
	var known []expr
	whole := true
	for _, sub := range subs {
		i := analyze(sub)
		if i.exact != nil && len(i.exact)*len(run.exact) <= maxExact {
			run.exact = product(run.exact, i.exact)
			continue
		}
		known = append(known, run.condition())
		whole, run.exact = false, []string{""}
		if i.exact != nil {
			run.exact = i.exact
		} else {
			known = append(known, i.expr)
		}
	}
	if whole {
		return run
	}
	return info{expr: and(append(known, run.condition())...)}
}

func alternate(subs []*syntax.Regexp) info {
	var (
		exact []string
		list  []expr
		whole = true
	)
	for _, sub := range subs {
		i := analyze(sub)
		whole = whole && i.exact != nil
		exact = append(exact, i.exact...)
		list = append(list, i.condition())
	}
	if exact = unique(exact); whole && len(exact) <= maxExact {
		return info{exact: exact}
	}
	if len(list) > maxExact {
		return info{}
	}
	return info{expr: or(list...)}
}

func product(a, b []string) []string {
	list := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			list = append(list, x+y)
		}
	}
	return unique(list)
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// plan is a prepared query.
type plan struct {
	Query
	expr        expr
	required    []byte // a folded literal that every hit contains; empty if unknown
	scanLimited bool   // limited by ScanBytes
	matches     []matcher
}

func newPlan(q Query) (*plan, error) {
	p := &plan{Query: q}
	var list []expr
	add := func(e expr, err error) error {
		list = append(list, e)
		return err
	}
	var errs []error
	if q.Text != "" {
		errs = append(errs, add(p.addLiteral("the text", q.Text, false)))
	}
	for _, w := range q.Words {
		errs = append(errs, add(p.addLiteral("a word", w, true)))
	}
	if q.Regexp != "" {
		errs = append(errs, add(p.addRegexp()))
	}
	if len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%w: nothing to search for", ErrQuery))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p.expr = and(list...)
	p.required = []byte(p.expr.longest())
	p.scanLimited = q.Regexp != "" && p.expr.isWeak()
	if p.ScanBytes <= 0 {
		p.ScanBytes = defaultScanBytes
	}
	return p, nil
}

func (p *plan) addLiteral(what, text string, word bool) (expr, error) {
	switch {
	case text == "":
		return expr{}, fmt.Errorf("%w: %s is empty", ErrQuery, what)
	case strings.Contains(text, "\n") || !utf8.ValidString(text):
		return expr{}, fmt.Errorf("%w: %s is not one line of UTF-8", ErrQuery, what)
	}
	m := literalMatcher{needle: appendFold(nil, []byte(text)), word: word}
	if p.CaseSensitive {
		m.exact = []byte(text)
	}
	p.matches = append(p.matches, m)
	return literalExpr(string(m.needle)), nil
}

func (p *plan) addRegexp() (expr, error) {
	text := p.Regexp
	if !p.CaseSensitive {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return expr{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return expr{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	p.matches = append(p.matches, regexpMatcher{re})
	return analyze(tree.Simplify()).condition(), nil
}
