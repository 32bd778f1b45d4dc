// Package pattern has the regular expressions that read output. They are compiled when they
// are first used.
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

func (p Pattern) MatchString(s string) bool { return p.re().MatchString(s) }

func (p Pattern) FindStringSubmatch(s string) []string { return p.re().FindStringSubmatch(s) }

func (p Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.re().FindAllStringSubmatch(s, n)
}

func (p Pattern) ReplaceAllString(s, with string) string { return p.re().ReplaceAllString(s, with) }
