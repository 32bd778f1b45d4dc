package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Bounds of patterns that are given: what matches one step by step takes time and memory by its size, for each byte.
const (
	MaxBytes = 1000
	maxSteps = 4000
)

// Compile compiles a pattern that somebody gave. One that is too large is refused at once.
func Compile(expr string) (*regexp.Regexp, error) {
	if len(expr) > MaxBytes {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(expr), MaxBytes)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if n := len(prog.Inst); n > maxSteps {
		return nil, fmt.Errorf("it is %d steps long, more than %d: repeat less within it", n, maxSteps)
	}
	return regexp.Compile(expr)
}
