package echodetect

import "strings"

// Stripper removes the echo of typed text from lines of output.
type Stripper struct {
	expect []string // expected lines, the next one first
	prefix string   // text of the output line before the echo
}

// Expect starts to expect a text after the current unfinished line.
func (x *Stripper) Expect(t *TypedText, unfinished string) {
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
	case ok && !whole && strings.HasPrefix(want, rest): // the echo is incomplete so far
		return x.prefix
	case whole: // it was not echoed, or changed
		x.expect, x.prefix = nil, ""
	}
	return line
}
