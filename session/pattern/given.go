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

// Compile compiles a user's pattern. It rejects a too large one at once.
func Compile(expr string) (*regexp.Regexp, error) {
	if len(expr) > MaxBytes {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(expr), MaxBytes)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if _, err := Steps(tree, maxSteps); err != nil {
		return nil, err
	}
	return regexp.Compile(expr)
}

// Steps returns the number of steps of a pattern, and rejects more than limit.
func Steps(tree *syntax.Regexp, limit int) (int, error) {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	n := len(prog.Inst)
	if n > limit {
		return n, fmt.Errorf("it is %d steps long, more than %d: repeat less within it", n, limit)
	}
	return n, nil
}
