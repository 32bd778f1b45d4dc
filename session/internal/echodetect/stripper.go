package echodetect

import "strings"

// Stripper takes what was typed out of lines of output.
type Stripper struct {
	expect []string // lines, the next one first
	prefix string   // what stood in the line before
}

// Expect starts to expect a text after the current unfinished line.
func (x *Stripper) Expect(t *Text, unfinished string) {
	if len(x.expect) == 0 {
		x.prefix = unfinished
	}
	x.expect = append(x.expect, t.Lines...)
}

// Strip returns a line without its echo. whole means that the line is complete.
func (x *Stripper) Strip(line string, whole bool) string {
	if len(x.expect) == 0 {
		return line
	}
	want := x.expect[0]
	rest, ok := strings.CutPrefix(line, x.prefix)
	switch {
	case ok && strings.HasPrefix(rest, want):
		rest = x.prefix + rest[len(want):]
		if whole {
			x.expect, x.prefix = x.expect[1:], ""
		}
		return rest
	case ok && !whole && strings.HasPrefix(want, rest): // on its way
		return x.prefix
	case whole: // it was not echoed, or not like that
		x.expect, x.prefix = nil, ""
	}
	return line
}
