package vterm_test

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestErase checks erasing, and its effects on wide characters, wraps and colours.
//
// FEATURES: R30
func TestErase(t *testing.T) {
	runExamples(t, []example{
		{
			name: "ED 0 takes the cursor's cell and all after it",
			spec: "ECMA-48 8.3.39",
			in:   full + "\x1b[2;4H\x1b[0J",
			screen: []string{
				"abcdefghij",
				"klm",
			},
			row: 1, col: 3,
		},
		{
			name: "ED 1 takes all up to the cursor's cell",
			spec: "ECMA-48 8.3.39",
			in:   full + "\x1b[3;4H\x1b[1J",
			screen: []string{
				"",
				"",
				"    yzABCD",
				"EFGHIJKLMN",
			},
			row: 2, col: 3,
		},
		{
			name: "ED 2 leaves the cursor where it is",
			spec: "ECMA-48 8.3.39",
			in:   full + "\x1b[3;4H\x1b[2J",
			row:  2, col: 3,
		},
		{
			name: "ED does not heed margins or origin mode",
			spec: "DEC STD 070, ED",
			in:   full + "\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[?6h\x1b[2J",
			row:  1, col: 2,
		},
		{
			name: "ED 0 at home empties the screen, the history stays",
			spec: "ECMA-48 8.3.39; xterm: only ED 3 erases saved lines",
			in:   "1\r\n2\r\n" + full + "\x1b[H\x1b[J",
			history: []string{
				"1",
				"2",
			},
		},
		{
			name: "ED 2 does not push the screen into the history",
			spec: "xterm ctlseqs, ED",
			in:   full + "\x1b[2J",
			row:  3, col: 9,
			history: []string{},
		},
		{
			name:   "ED 3 erases the history and nothing else",
			spec:   "xterm ctlseqs, ED 3",
			in:     "1\r\n2\r\n" + full + "\x1b[3J",
			screen: []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"},
			row:    3, col: 9, pending: true,
			history: []string{},
		},
		{
			name:   "ED with a number that is none does nothing",
			spec:   "ECMA-48 8.3.39 has 0 to 2, xterm 3",
			in:     full + "\x1b[H\x1b[4J\x1b[99J",
			screen: []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"},
		},
		{
			name:   "ED 0 from a pending wrap takes the last cell and ends the wrap",
			spec:   "DEC STD 070, last column flag; xterm",
			in:     "0123456789\x1b[Jx",
			screen: []string{"012345678x"},
			col:    9, pending: true,
		},
		{
			name:   "EL 0 from a pending wrap takes the last cell and ends the wrap",
			spec:   "DEC STD 070, last column flag; xterm",
			in:     "0123456789\x1b[Kx",
			screen: []string{"012345678x"},
			col:    9, pending: true,
		},
		{
			name:   "EL 2 takes the row and leaves the cursor",
			spec:   "ECMA-48 8.3.41",
			in:     "abc\r\ndefg\x1b[2D\x1b[2Kx",
			screen: []string{"abc", "  x"},
			row:    1, col: 3,
		},
		{
			name:   "EL does not heed the left and right margin",
			spec:   "VT510, EL",
			in:     "abcdefghij\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[2K",
			screen: nil,
			col:    3,
		},
		{
			name:   "EL at the first column of a wrapped row's second half",
			spec:   "ECMA-48 8.3.41",
			in:     "0123456789abc\r\x1b[K",
			screen: []string{"0123456789"},
			row:    1,
		},
		{
			name:   "EL 0 cuts a wide character whose second half it takes",
			spec:   "xterm: half a wide character is none",
			in:     "ab\u4f60cd\x1b[1;4H\x1b[K",
			screen: []string{"ab"},
			col:    3,
		},
		{
			name:   "EL 1 cuts a wide character whose first half it takes",
			spec:   "xterm: half a wide character is none",
			in:     "ab\u4f60cd\x1b[1;3H\x1b[1Kx",
			screen: []string{"  x cd"},
			col:    3,
		},
		{
			name:   "ECH takes as many cells as said, not the cursor along",
			spec:   "ECMA-48 8.3.38",
			in:     "abcdef\x1b[1;2H\x1b[3Xx",
			screen: []string{"ax  ef"},
			col:    2,
		},
		{
			name:   "ECH of zero and of none takes one",
			spec:   "ECMA-48 8.3.38; DEC STD 070: zero is one",
			in:     "abcdef\x1b[1;2H\x1b[0X\x1b[1;4H\x1b[X",
			screen: []string{"a c ef"},
			col:    3,
		},
		{
			name:   "ECH stops at the end of the row",
			spec:   "ECMA-48 8.3.38",
			in:     full + "\x1b[1;9H\x1b[65535X",
			screen: []string{"abcdefgh", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"},
			col:    8,
		},
		{
			name:   "ECH does not heed the right margin",
			spec:   "VT510, ECH",
			in:     "abcdefghij\x1b[?69h\x1b[2;5s\x1b[1;3H\x1b[6X",
			screen: []string{"ab      ij"},
			col:    2,
		},
		{
			name:   "ECH from a pending wrap takes the last cell",
			spec:   "DEC STD 070, last column flag; xterm",
			in:     "0123456789\x1b[Xx",
			screen: []string{"012345678x"},
			col:    9, pending: true,
		},
		{
			name:   "ECH of one cell in the middle of a wide character blanks both halves",
			spec:   "xterm: half a wide character is none",
			in:     "a\u4f60b\x1b[1;3H\x1b[X\x1b[1;5Hx",
			screen: []string{"a  bx"},
			col:    5,
		},
		{
			name:   "ECH of an accented letter takes its accent",
			spec:   "Unicode UAX #29: a cluster is one character",
			in:     "ae\u0301b\x1b[1;2H\x1b[X",
			screen: []string{"a b"},
			col:    1,
		},
		{
			name:   "DCH draws the rest of the row to the left",
			spec:   "ECMA-48 8.3.26",
			in:     "abcdefghij\x1b[1;3H\x1b[2Px",
			screen: []string{"abxfghij"},
			col:    3,
		},
		{
			name:   "DCH of more than there are empties the rest",
			spec:   "ECMA-48 8.3.26",
			in:     full + "\x1b[2;3H\x1b[65535P",
			screen: []string{"abcdefghij", "kl", "uvwxyzABCD", "EFGHIJKLMN"},
			row:    1, col: 2,
		},
		{
			name:   "DCH stops at the right margin",
			spec:   "VT510, DCH and DECSLRM",
			in:     "abcdefghij\x1b[?69h\x1b[2;6s\x1b[1;3H\x1b[2P",
			screen: []string{"abef  ghij"},
			col:    2,
		},
		{
			name:   "DCH outside the margins does nothing",
			spec:   "VT510, DCH and DECSLRM",
			in:     "abcdefghij\x1b[?69h\x1b[3;6s\x1b[1;1H\x1b[P\x1b[1;8H\x1b[P",
			screen: []string{"abcdefghij"},
			col:    7,
		},
		{
			name:   "DCH in the second half of a wide character",
			spec:   "xterm: half a wide character is none",
			in:     "a\u4f60bcd\x1b[1;3H\x1b[P",
			screen: []string{"a bcd"},
			col:    2,
		},
		{
			name:   "DCH whose end is in a wide character",
			spec:   "xterm: half a wide character is none",
			in:     "ab\u4f60cd\x1b[1;2H\x1b[2P",
			screen: []string{"a cd"},
			col:    1,
		},
		{
			name:   "DCH of a wide character takes its two columns",
			spec:   "ECMA-48 8.3.26: it counts positions",
			in:     "\u4f60\u597dx\x1b[1;1H\x1b[2P",
			screen: []string{"\u597dx"},
		},
		{
			name:   "DCH that cuts a wide character at the right margin",
			spec:   "VT510, DECSLRM; half a wide character is none",
			in:     "abcd\u4f60gh\x1b[?69h\x1b[1;5s\x1b[1;1H\x1b[P",
			screen: []string{"bcd   gh"},
		},
		{
			name:   "ICH pushes the rest of the row to the right, off its end",
			spec:   "ECMA-48 8.3.64",
			in:     "abcdefghij\x1b[1;3H\x1b[2@x",
			screen: []string{"abx cdefgh"},
			col:    3,
		},
		{
			name:   "ICH of more than there are empties the rest",
			spec:   "ECMA-48 8.3.64",
			in:     full + "\x1b[1;3H\x1b[65535@",
			screen: []string{"ab", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"},
			col:    2,
		},
		{
			name:   "ICH stops at the right margin",
			spec:   "VT510, ICH and DECSLRM",
			in:     "abcdefghij\x1b[?69h\x1b[2;6s\x1b[1;3H\x1b[2@",
			screen: []string{"ab  cdghij"},
			col:    2,
		},
		{
			name:   "ICH outside the margins does nothing",
			spec:   "VT510, ICH and DECSLRM",
			in:     "abcdefghij\x1b[?69h\x1b[3;6s\x1b[1;2H\x1b[@\x1b[1;7H\x1b[@",
			screen: []string{"abcdefghij"},
			col:    6,
		},
		{
			name:   "ICH that pushes half a wide character off blanks it",
			spec:   "xterm: half a wide character is none",
			in:     "abcdefgh\u4f60\x1b[1;1H\x1b[@",
			screen: []string{" abcdefgh"},
		},
		{
			name:   "ICH in the second half of a wide character",
			spec:   "xterm: half a wide character is none",
			in:     "a\u4f60bc\x1b[1;3H\x1b[@",
			screen: []string{"a   bc"},
			col:    2,
		},
		{
			name:   "ICH from a pending wrap inserts in the last column",
			spec:   "DEC STD 070, last column flag; xterm",
			in:     "0123456789\x1b[@x",
			screen: []string{"012345678x"},
			col:    9, pending: true,
		},
		{
			name:   "IRM pushes a wide character over the end",
			spec:   "ECMA-48 7.2.10; half a wide character is none",
			in:     "abcdefgh\u4f60\x1b[4h\x1b[1;1HXY",
			screen: []string{"XYabcdefgh"},
			col:    2,
		},
		{
			name:   "IRM inserts a wide character's two columns",
			spec:   "ECMA-48 7.2.10",
			in:     "abc\x1b[4h\x1b[1;2H\u4f60",
			screen: []string{"a\u4f60bc"},
			col:    3,
		},
		{
			name:   "IRM at the end of the row wraps as usual",
			spec:   "ECMA-48 7.2.10; xterm",
			in:     "\x1b[4h0123456789ab",
			screen: []string{"0123456789", "ab"},
			row:    1, col: 2,
		},
		{
			name:   "erased cells of a cut row do not come back by DCH",
			spec:   "ECMA-48 8.3.26",
			in:     "abcdefghij\x1b[1;6H\x1b[K\x1b[1;1H\x1b[3P",
			screen: []string{"de"},
		},
		{
			name: "DECALN fills the screen, resets margins, goes home",
			spec: "VT510, DECALN",
			in:   "\x1b[?69h\x1b[2;5s\x1b[2;3r\x1b[?6h\x1b[31;1m\x1b#8\x1b[99;99H",
			screen: []string{
				"EEEEEEEEEE",
				"EEEEEEEEEE",
				"EEEEEEEEEE",
				"EEEEEEEEEE",
			},
			row: 3, col: 9,
		},
	})
}

// TestEraseColour checks that erased cells have the background in force and no other rendition.
//
// FEATURES: R30
func TestEraseColour(t *testing.T) {
	const pen = "\x1b[1;4;7;31;44m"
	for name, c := range map[string]struct {
		in       string
		row, col int
	}{
		"EL":                  {"abc\r" + pen + "\x1b[K", 0, 5},
		"ED":                  {pen + "\x1b[J", 3, 9},
		"ECH":                 {"abc\r" + pen + "\x1b[X", 0, 0},
		"ICH":                 {"abc\r" + pen + "\x1b[@", 0, 0},
		"DCH":                 {"abcdefghij\r" + pen + "\x1b[P", 0, 9},
		"IL":                  {pen + "\x1b[L", 0, 4},
		"DL":                  {pen + "\x1b[M", 3, 4},
		"SU":                  {pen + "\x1b[S", 3, 4},
		"SD":                  {pen + "\x1b[T", 0, 4},
		"SL":                  {pen + "\x1b[ @", 2, 9},
		"SR":                  {pen + "\x1b[ A", 2, 0},
		"DECIC":               {pen + "\x1b['}", 2, 0},
		"DECDC":               {pen + "\x1b['~", 2, 9},
		"LF at the bottom":    {"\x1b[4;1H" + pen + "\n", 3, 4},
		"RI at the top":       {pen + "\x1bM", 0, 4},
		"a wrap that scrolls": {"\x1b[4;1H" + pen + "0123456789x", 3, 5},
		"DECERA":              {"abc\r" + pen + "\x1b[1;1;2;2$z", 1, 1},
		"a box that scrolls":  {"\x1b[?69h\x1b[3;6s" + pen + "\x1b[S", 3, 3},
		"1049":                {pen + "\x1b[?1049h", 2, 2},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		cell, st := cellAt(term, c.row, c.col)
		if want := (vterm.Style{BG: vterm.Index(4)}); st != want || !cell.Blank() {
			t.Errorf("%s: %q leaves %x in %+v, want a blank in %+v", name, c.in, uint64(cell), st, want)
		}
		if what := unsound(term); what != "" {
			t.Errorf("%s: %s", name, what)
		}
	}
	for name, in := range map[string]string{
		"a selective erase that spares nothing": pen + "\x1b[?2J",
		"EL 1":                                  "abcdef" + pen + "\x1b[1K",
	} {
		term := (&example{}).terminal()
		write(term, in)
		if _, st := cellAt(term, 0, 0); st != (vterm.Style{BG: vterm.Index(4)}) {
			t.Errorf("%s: %+v", name, st)
		}
	}
	// DECALN and DECSED differ from it: the first sets no colour at all.
	term := (&example{}).terminal()
	write(term, pen+"\x1b#8")
	if _, st := cellAt(term, 1, 1); st != (vterm.Style{}) {
		t.Errorf("DECALN draws in %+v", st)
	}
}

// cellAt returns a cell of the shown screen and its style; a missing cell is zero.
func cellAt(t *vterm.Terminal, row, col int) (vterm.Cell, vterm.Style) {
	var f vterm.Frame
	t.Frame(&f, vterm.Query{})
	if l := f.Lines[row]; col < len(l.Cells) {
		return l.Cells[col], f.Style(l.Cells[col])
	}
	return 0, vterm.Style{}
}
