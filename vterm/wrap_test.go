package vterm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// wrapped lists the rows whose text continues in the next row.
func wrapped(f *vterm.Frame) string {
	var rows []string
	for i := range f.Lines {
		if f.Lines[i].Wrapped {
			rows = append(rows, fmt.Sprint(f.Lines[i].Row))
		}
	}
	return strings.Join(rows, " ")
}

// TestWrapMarks checks which rows continue in the next one. Reflow, copying and search join them.
//
// FEATURES: R10
func TestWrapMarks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a full row is not yet wrapped", "0123456789", ""},
		{"the next character wraps it", "0123456789a", "0"},
		{"two rows", strings.Repeat("0123456789", 2) + "a", "0 1"},
		{"a line feed does not", "0123456789\r\na", ""},
		{"a wide character that does not fit does", "012345678你", "0"},
		{"an emoji too", "012345678\U0001F469\u200d\U0001F4BB", "0"},
		{"without autowrap nothing does", "\x1b[?7l0123456789abc", ""},
		{"moving to the next row does not", "0123456789\x1b[2;1Ha", ""},
		{"at a right margin within the screen nothing does", "\x1b[?69h\x1b[1;5s01234567", ""},
		{"erasing the end of the row ends it", "0123456789a\x1b[1;8H\x1b[K", ""},
		{"erasing its start does not", "0123456789a\x1b[1;3H\x1b[1K", "0"},
		{"erasing the row does", "0123456789a\x1b[1;3H\x1b[2K", ""},
		{"ECH to the end does", "0123456789a\x1b[1;8H\x1b[9X", ""},
		{"ECH in the middle does not", "0123456789a\x1b[1;3H\x1b[2X", "0"},
		{"DCH does", "0123456789a\x1b[1;3H\x1b[P", ""},
		{"ICH does", "0123456789a\x1b[1;3H\x1b[@", ""},
		{"overwriting the last column does", "0123456789a\x1b[1;10Hx", ""},
		{"overwriting another does not", "0123456789a\x1b[1;5Hx", "0"},
		{"a line inserted between does", "0123456789a\x1b[2;1H\x1b[L", ""},
		{"a line deleted below does", "0123456789a\x1b[2;1H\x1b[M", ""},
		{"RI between does", "0123456789a\x1b[2;3r\x1b[2;1H\x1bM", ""},
		{"a region that scrolls below does", "0123456789a\r\nb\x1b[2;3r\x1b[3;1H\n", ""},
		{"scrolling takes the mark along", "\r\n0123456789a\x1b[S", "0"},
		{"down as well", "0123456789a\x1b[T", "1"},
		{"the last row of the screen keeps no mark of what fell off", "\x1b[3;1H0123456789a\x1b[T", ""},
		{"ED ends all", "0123456789a\x1b[2J", ""},
		{"DECALN ends all", "0123456789a\x1b#8", ""},
		{"each screen has its own", "0123456789a\x1b[?1049h\x1b[Hx", ""},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		if got := wrapped(&f); got != c.want {
			t.Errorf("%s: %q wraps rows %q, want %q", c.name, c.in, got, c.want)
		}
		checkSnapshot(t, term, c.in)
	}
}

// TestWrapMarksInDeltas checks that a row whose wrap changes is part of the delta, although its text did not change.
//
// FEATURES: R35
func TestWrapMarksInDeltas(t *testing.T) {
	for _, c := range []struct{ name, before, then, want string }{
		{"the character after a full row", "0123456789", "a", "0"},
		{"a wide one", "012345678", "你", "0"},
		{"an accented one", "0123456789", "e\u0301", "0"},
		{"in another style", "0123456789", "\x1b[1mb", "0"},
		{"in the last row", "\r\n\r\n\r\n0123456789", "a", "2"},
		{"in a region", "\x1b[2;3r\x1b[3;1H0123456789", "a", "1"},
	} {
		term := (&example{}).terminal()
		write(term, c.before)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		write(term, c.then)
		term.Frame(&f, vterm.Query{Since: f.Version})
		if got := wrapped(&f); got != c.want {
			t.Errorf("%s: the rows that changed and wrap are %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ name, before, then string }{
		{"a region that scrolls", "0123456789a\x1b[2;4r\x1b[4;1H", "\n"},
		{"a line inserted", "0123456789a\x1b[2;1H", "\x1b[L"},
		{"a line deleted", "0123456789a\x1b[2;1H", "\x1b[M"},
		{"RI", "0123456789a\x1b[2;4r\x1b[2;1H", "\x1bM"},
	} {
		term := (&example{}).terminal()
		write(term, c.before)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		write(term, c.then)
		term.Frame(&f, vterm.Query{Since: f.Version})
		if len(f.Lines) == 0 || f.Lines[0].Row != 0 || f.Lines[0].Wrapped {
			t.Errorf("%s: the first row is not reported as changed", c.name)
		}
	}
}
