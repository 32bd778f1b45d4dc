package vterm_test

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestLineSizes checks rows of double width and height: half as many columns, and what ends it.
//
// FEATURES: R30
func TestLineSizes(t *testing.T) {
	runExamples(t, []example{
		{
			name:   "text wraps at the half",
			spec:   "VT510, DECDWL",
			in:     "\x1b#6abcdefgh",
			screen: []string{"abcde", "fgh"},
			row:    1, col: 3,
		},
		{
			name:   "the cursor is brought to the half",
			spec:   "VT510, DECDWL",
			in:     "abcdefgh\x1b#6x",
			screen: []string{"abcdx"},
			col:    4, pending: true,
		},
		{
			name:   "each row has its own",
			spec:   "VT510, DECDHL: top and bottom are set apart",
			in:     "\x1b#3ab\r\n\x1b#4ab\r\ncdefghij",
			screen: []string{"ab", "ab", "cdefghij"},
			row:    2, col: 8,
		},
		{
			name:   "DECSWL has the whole width again",
			spec:   "VT510, DECSWL",
			in:     "\x1b#6abcd\x1b#5efgh",
			screen: []string{"abcdefgh"},
			col:    8,
		},
		{
			name:   "with DECLRMM on it does nothing",
			spec:   "VT510, DECLRMM: lines are of single width",
			in:     "\x1b[?69h\x1b#6abcdefgh",
			screen: []string{"abcdefgh"},
			col:    8,
		},
		{
			name:    "a row that scrolls away takes its size along",
			spec:    "VT510, DECDWL",
			in:      "\x1b#6ab\x1b[4;1H\n\x1b[1;1Habcdefgh",
			screen:  []string{"abcdefgh"},
			col:     8,
			history: []string{"ab"},
		},
		{
			name:   "ED 2 and RIS end it",
			spec:   "VT510, ED: erased lines are of single width",
			in:     "\x1b#6ab\x1b[2J\x1b[1;1Habcdefgh",
			screen: []string{"abcdefgh"},
			col:    8,
		},
		{
			name:   "EL 2 leaves it",
			spec:   "VT510, EL: a line attribute is of the line",
			in:     "\x1b#6ab\x1b[2K\x1b[1;1Habcdefgh",
			screen: []string{"abcde", "fgh"},
			row:    1, col: 3,
		},
		{
			name:   "IL makes rows of single width",
			spec:   "VT510, IL",
			in:     "\x1b#6ab\x1b[Labcdefgh",
			screen: []string{"abcdefgh", "ab"},
			col:    8,
		},
		{
			name:   "DECALN is of single width",
			spec:   "VT510, DECALN",
			in:     "\x1b#6\x1b#8",
			screen: []string{"EEEEEEEEEE", "EEEEEEEEEE", "EEEEEEEEEE", "EEEEEEEEEE"},
		},
	})
	term := (&example{}).terminal()
	write(term, "\x1b#3a\r\n\x1b#4a\r\n\x1b#6b\r\nc")
	var f vterm.Frame
	term.Frame(&f, vterm.Query{})
	for row, want := range []vterm.LineSize{vterm.LineDoubleTop, vterm.LineDoubleBottom, vterm.LineDoubleWidth, vterm.LineNormal} {
		if got := f.Lines[row].Size; got != want {
			t.Errorf("row %d is of size %d, want %d", row, got, want)
		}
	}
}
