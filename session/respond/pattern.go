package respond

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	patterncost "github.com/longterm-dev/longterm/session/pattern"
)

// Patterns match the unread part of a line, which may start and end anywhere in it. Go's regexp treats the ends of its
// input as the ends of the text. So a pattern with anchors is compiled once for each combination of line ends in the
// text: an anchor where the line does not end matches nothing.

// pattern is a compiled Text or Regexp of a rule.
type pattern struct {
	literal  []byte            // of a Text; nil for a Regexp
	names    []string          // of groups; index 0 is the whole match
	variants [4]*regexp.Regexp // index: atStart | atEnd
	required []string          // lower-case texts; each match contains one of them. nil: not known
	steps    int               // bound on the steps to examine a byte
}

const (
	atStart = 1 << iota // the text starts at its line's start
	atEnd               // the text ends where its line ends
)

var (
	errNoPattern   = errors.New("it needs a text or a regexp")
	errTwoPatterns = errors.New("it has a text and a regexp; one is needed")
	errEmpty       = errors.New("the regexp matches the empty text, which is everywhere")
	errNewline     = errors.New("patterns match within one line, without its newline")
)

// newPattern compiles a text or a regexp. It returns an error if both or neither are set.
func newPattern(text, expr string) (*pattern, error) {
	switch {
	case text != "" && expr != "":
		return nil, errTwoPatterns
	case len(text)+len(expr) > maxPatternBytes:
		return nil, fmt.Errorf("the pattern has more than %d bytes", maxPatternBytes)
	case text != "":
		if strings.ContainsAny(text, "\r\n") {
			return nil, errNewline
		}
		return &pattern{literal: []byte(text), names: []string{""}, required: []string{lowerASCII(text)}}, nil
	case expr == "":
		return nil, errNoPattern
	}
	return newRegexp(expr)
}

// newRegexp compiles a regexp in all variants. It rejects expensive ones, and those that match the empty text or a
// newline.
func newRegexp(expr string) (*pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	steps, err := patterncost.Steps(tree, maxSteps) // before compiling, as that takes memory by its size
	if err != nil {
		return nil, fmt.Errorf("the regexp: %w", err)
	}
	whole, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if whole.MatchString("") {
		return nil, errEmpty
	}
	if hasNewline(tree) {
		return nil, errNewline
	}
	p := &pattern{steps: steps, names: whole.SubexpNames(), required: requiredTexts(tree.Simplify())}
	for ends := range p.variants {
		if p.variants[ends], err = compileVariant(tree, whole, ends); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// compileVariant compiles a regexp for texts with these line ends (atStart, atEnd).
func compileVariant(tree *syntax.Regexp, whole *regexp.Regexp, ends int) (*regexp.Regexp, error) {
	cut, changed := dropAnchors(tree, ends)
	if !changed {
		return whole, nil
	}
	return regexp.Compile(cut.String())
}

// dropAnchors replaces the anchors that cannot match in texts with these line ends. changed reports whether it found
// any.
func dropAnchors(re *syntax.Regexp, ends int) (without *syntax.Regexp, changed bool) {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpBeginLine:
		if ends&atStart == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}, true
		}
	case syntax.OpEndText, syntax.OpEndLine:
		if ends&atEnd == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}, true
		}
	}
	subs := make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		var c bool
		subs[i], c = dropAnchors(sub, ends)
		changed = changed || c
	}
	if !changed {
		return re, false
	}
	cut := *re
	cut.Sub = subs
	return &cut, true
}

// hasNewline reports whether a pattern contains a newline literal.
func hasNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && strings.ContainsAny(string(re.Rune), "\r\n") {
		return true
	}
	for _, sub := range re.Sub {
		if hasNewline(sub) {
			return true
		}
	}
	return false
}

// find returns the first match in text: pairs of offsets of the match and its groups.
func (p *pattern) find(text []byte, ends int) []int {
	if p.literal != nil {
		i := bytes.Index(text, p.literal)
		if i < 0 {
			return nil
		}
		return []int{i, i + len(p.literal)}
	}
	for at := 0; at < len(text); {
		loc := p.variants[ends].FindSubmatchIndex(text[at:])
		switch {
		case loc == nil:
			return nil
		case loc[1] > loc[0]:
			return shiftOffsets(loc, at)
		}
		// An empty match: search one with text in it, from the next byte on.
		at += loc[1] + 1
		ends &^= atStart
	}
	return nil
}

// shiftOffsets adds by to the offsets of matched groups.
func shiftOffsets(loc []int, by int) []int {
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += by
		}
	}
	return loc
}

// groupByName returns the index of a group by its name, or -1.
func (p *pattern) groupByName(name string) int {
	for i, n := range p.names {
		if n == name && n != "" {
			return i
		}
	}
	return -1
}
