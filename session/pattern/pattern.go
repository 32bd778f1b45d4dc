// Package pattern has regular expressions that are compiled when they are first used.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used: most programs
// that link this package read no output, and compiling all of them takes longer than such
// a program runs.
type Pattern struct{ *lazy }

type lazy struct {
	src      string
	compiled sync.Once
	re       *regexp.Regexp
	read     sync.Once
	needs    needs
}

// Lazy makes a Pattern. It is for variables of a package: a wrong one panics when it is first
// used.
func Lazy(src string) Pattern {
	sources = append(sources, src)
	return Pattern{&lazy{src: src}}
}

func (l *lazy) regexp() *regexp.Regexp {
	l.compiled.Do(func() { l.re = regexp.MustCompile(l.src) })
	return l.re
}

// may reports quickly whether a text may match.
func (l *lazy) may(text string) bool {
	l.read.Do(func() { l.needs = needsOf(l.src) })
	return l.needs.in(text)
}

// sources are appended to while packages are initialised only.
var sources []string

// Sources returns all patterns created so far, for tests that compile them.
func Sources() []string { return sources }

// Its methods are those of regexp.Regexp.

func (p Pattern) Match(b []byte) bool { return p.regexp().Match(b) }

func (p Pattern) MatchString(s string) bool { return p.may(s) && p.regexp().MatchString(s) }

func (p Pattern) FindSubmatch(b []byte) [][]byte { return p.regexp().FindSubmatch(b) }

func (p Pattern) FindString(s string) string { return p.regexp().FindString(s) }

func (p Pattern) FindStringIndex(s string) []int { return p.regexp().FindStringIndex(s) }

func (p Pattern) FindStringSubmatch(s string) []string { return p.regexp().FindStringSubmatch(s) }

func (p Pattern) FindStringSubmatchIndex(s string) []int {
	return p.regexp().FindStringSubmatchIndex(s)
}

func (p Pattern) FindAllString(s string, n int) []string { return p.regexp().FindAllString(s, n) }

func (p Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.regexp().FindAllStringIndex(s, n)
}

func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.regexp().FindAllStringSubmatch(s, n)
}

func (p Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.regexp().FindAllStringSubmatchIndex(s, n)
}

func (p Pattern) ReplaceAllString(s, with string) string { return p.regexp().ReplaceAllString(s, with) }

func (p Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.regexp().ReplaceAllStringFunc(s, with)
}

func (p Pattern) String() string { return p.src }
