package diagnostics

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Matcher describes how a program prints problems, on one or several successive lines. Regular expressions are RE2 and
// have the named groups file, line, column, severity, code and message, each at most once in all patterns.
type Matcher struct {
	Name string `json:"name"`
	// Commands are the programs that the matcher is for; empty: any.
	Commands []string `json:"commands,omitempty"`
	// Contains speeds up matching: the first line must contain one of these texts. Empty: every line is matched.
	Contains []string  `json:"contains,omitempty"`
	Severity Severity  `json:"severity,omitempty"` // if no group gives it; default error
	Patterns []Pattern `json:"patterns"`
}

// Pattern is a line of a Matcher.
type Pattern struct {
	Regexp string `json:"regexp"`
	// Loop lets the line repeat, each time as a problem. Only the last of several patterns can have it.
	Loop bool `json:"loop,omitempty"`
}

// MatcherError describes an invalid matcher.
type MatcherError struct {
	Name    string
	Pattern int // index, -1: the matcher as a whole
	Reason  string
}

func (e *MatcherError) Error() string {
	if e.Pattern < 0 {
		return fmt.Sprintf("problem matcher %q: %s", e.Name, e.Reason)
	}
	return fmt.Sprintf("problem matcher %q, pattern %d: %s", e.Name, e.Pattern+1, e.Reason)
}

// NewParser returns a parser with extra matchers ahead of the built-in ones. An extra matcher replaces a built-in one
// of the same name.
func NewParser(extra ...Matcher) (*Parser, error) {
	p := &Parser{}
	names := map[string]bool{}
	for _, m := range slices.Concat(extra, matcherTable) {
		c, err := compile(m)
		if err != nil {
			return nil, err
		}
		if names[m.Name] {
			continue
		}
		names[m.Name] = true
		p.matchers = append(p.matchers, c)
	}
	return p, nil
}

// field identifies what a group captures.
type field uint8

const (
	fieldFile field = iota
	fieldLine
	fieldColumn
	fieldSeverity
	fieldCode
	fieldMessage
	fieldCount
)

var fieldNames = [fieldCount]string{"file", "line", "column", "severity", "code", "message"}

// compiledMatcher is a matcher ready for use.
type compiledMatcher struct {
	Matcher
	steps []step
}

// step is a compiled Pattern.
type step struct {
	re     *regexp.Regexp
	groups [fieldCount]int // 0: none
	loop   bool
}

// compile checks and compiles a matcher.
func compile(m Matcher) (*compiledMatcher, error) {
	fail := func(pattern int, format string, args ...any) (*compiledMatcher, error) {
		return nil, &MatcherError{m.Name, pattern, fmt.Sprintf(format, args...)}
	}
	switch {
	case m.Name == "":
		return fail(-1, "it has no name")
	case len(m.Patterns) == 0:
		return fail(-1, "it has no pattern")
	case len(m.Patterns) > 8:
		return fail(-1, "it has %d patterns; 8 are possible", len(m.Patterns))
	case m.Severity != "" && m.Severity != Error && m.Severity != Warning && m.Severity != Note:
		return fail(-1, "its severity is %q; it can be error, warning or note", m.Severity)
	}
	c := &compiledMatcher{Matcher: m}
	var seen [fieldCount]bool
	for i, p := range m.Patterns {
		re, err := regexp.Compile(p.Regexp)
		if err != nil {
			return fail(i, "%v", err)
		}
		if p.Loop && (i != len(m.Patterns)-1 || i == 0) {
			return fail(i, "only the last of several patterns can be a loop")
		}
		s := step{re: re, loop: p.Loop}
		for g, name := range re.SubexpNames() {
			f := slices.Index(fieldNames[:], name)
			switch {
			case name == "":
				continue
			case f < 0:
				return fail(i, "unknown group %q (known: %s)", name, strings.Join(fieldNames[:], ", "))
			case seen[f]:
				return fail(i, "the group %q comes twice", name)
			}
			seen[f], s.groups[f] = true, g
		}
		c.steps = append(c.steps, s)
	}
	if !seen[fieldMessage] {
		return fail(-1, "no pattern has the group message")
	}
	return c, nil
}

// mayMatch reports quickly whether a line may start a problem.
func (c *compiledMatcher) mayMatch(line string) bool {
	if len(c.Contains) == 0 {
		return true
	}
	for _, s := range c.Contains {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

// match fills in d from a line and reports whether the line matches.
func (s *step) match(line string, d *Diagnostic) bool {
	m := s.re.FindStringSubmatchIndex(line)
	if m == nil {
		return false
	}
	for f, g := range s.groups {
		if g == 0 || m[2*g] < 0 {
			continue
		}
		v := line[m[2*g]:m[2*g+1]]
		switch field(f) {
		case fieldFile:
			d.File = strings.Clone(v)
		case fieldLine:
			d.Line = number(v)
		case fieldColumn:
			d.Column = number(v)
		case fieldSeverity:
			d.Severity = severityOf(v, d.Severity)
		case fieldCode:
			d.Code = strings.Clone(v)
		case fieldMessage:
			d.Message = strings.Clone(strings.TrimSpace(v))
		}
	}
	return true
}

// number parses a line or column, or returns 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
