package diagnostics

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: most programs
// that link this package read no output, and compiling all of them takes longer than such
// a program runs.
type pattern struct{ re func() *regexp.Regexp }

// lazy makes a pattern. TestPatterns compiles all of them.
func lazy(src string) pattern {
	sources = append(sources, src)
	return pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(src) })}
}

// sources are all patterns, for the test.
var sources []string

func (p pattern) MatchString(s string) bool { return p.re().MatchString(s) }

func (p pattern) FindStringSubmatch(s string) []string { return p.re().FindStringSubmatch(s) }

func (p pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.re().FindAllStringSubmatch(s, n)
}

func (p pattern) ReplaceAllString(s, with string) string { return p.re().ReplaceAllString(s, with) }
