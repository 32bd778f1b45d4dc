package echo

import "strings"

// Stripper takes what was typed out of lines of output.
type Stripper struct {
	expect []string // lines, the next one first
	prefix string   // what stood in the line before
}

// Expect begins to expect a text after the unfinished line so far.
func (x *Stripper) Expect(t *Text, unfinished string) {
	if len(x.expect) == 0 {
		x.prefix = unfinished
	}
	x.expect = append(x.expect, t.Lines...)
}

// Strip returns a line without the echo in it. whole says that the line has ended.
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
