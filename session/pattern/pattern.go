// Package pattern has regular expressions that are compiled when they are first used.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used: most programs
// that link this package read no output, and compiling all of them takes longer than such
// a program runs.
type Pattern struct{ re func() *regexp.Regexp }

// Lazy makes a Pattern. It is for variables of a package: a wrong one panics when it is first
// used.
func Lazy(src string) Pattern {
	sources = append(sources, src)
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(src) })}
}

// sources are appended to while packages are initialised only.
var sources []string

// Sources are all patterns that were made, for tests: they compile all of them.
func Sources() []string { return sources }

// Its methods are those of regexp.Regexp.

func (p Pattern) Match(b []byte) bool { return p.re().Match(b) }

func (p Pattern) MatchString(s string) bool { return p.re().MatchString(s) }

func (p Pattern) FindSubmatch(b []byte) [][]byte { return p.re().FindSubmatch(b) }

func (p Pattern) FindString(s string) string { return p.re().FindString(s) }

func (p Pattern) FindStringIndex(s string) []int { return p.re().FindStringIndex(s) }

func (p Pattern) FindStringSubmatch(s string) []string { return p.re().FindStringSubmatch(s) }

func (p Pattern) FindStringSubmatchIndex(s string) []int { return p.re().FindStringSubmatchIndex(s) }

func (p Pattern) FindAllString(s string, n int) []string { return p.re().FindAllString(s, n) }

func (p Pattern) FindAllStringIndex(s string, n int) [][]int { return p.re().FindAllStringIndex(s, n) }

func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.re().FindAllStringSubmatch(s, n)
}

func (p Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.re().FindAllStringSubmatchIndex(s, n)
}

func (p Pattern) ReplaceAllString(s, with string) string { return p.re().ReplaceAllString(s, with) }

func (p Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.re().ReplaceAllStringFunc(s, with)
}

func (p Pattern) String() string { return p.re().String() }
