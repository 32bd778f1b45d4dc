package vterm_test

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestWide checks wide characters, combining marks and emoji at the edges of rows, margins and screens, and what
// overwriting does to them. 你 and 好 are U+4F60 and U+597D, two columns each.
//
// FEATURES: R30
func TestWide(t *testing.T) {
	runExamples(t, []example{
		{
			name: "a wide character takes two columns",
			spec: "Unicode UAX #11",
			in:   "a你b",
			screen: []string{
				"a你b",
			},
			col: 4,
		},
		{
			name: "a wide character fits the last two columns",
			spec: "VT510, DECAWM: the wrap is due after the last column",
			in:   "01234567你",
			screen: []string{
				"01234567你",
			},
			col: 9, pending: true,
		},
		{
			name: "a wide character in the last column goes to the next row",
			spec: "xterm: what does not fit wraps",
			in:   "012345678你",
			screen: []string{
				"012345678",
				"你",
			},
			row: 1, col: 2,
		},
		{
			name: "the column it left blank is no text",
			spec: "xterm; a reflow joins the line without it",
			in:   "012345678你\x1b[1;10Hx",
			screen: []string{
				"012345678x",
				"你",
			},
			col: 9, pending: true,
		},
		{
			name: "without autowrap a wide character that does not fit is dropped",
			spec: "tmux discards it as well",
			in:   "\x1b[?7l0123456789你",
			screen: []string{
				"0123456789",
			},
			col: 9, pending: true,
		},
		{
			name: "without autowrap half a column is no room",
			spec: "xterm, DECAWM reset",
			in:   "\x1b[?7l\x1b[1;10H你x",
			screen: []string{
				"         x",
			},
			col: 9, pending: true,
		},
		{
			name: "wide characters wrap at the right margin",
			spec: "VT510, DECSLRM",
			in:   "\x1b[?69h\x1b[3;7s\x1b[1;3H你好你",
			screen: []string{
				"  你好",
				"  你",
			},
			row: 1, col: 4,
		},
		{
			name: "a narrow character over the first half blanks the second",
			spec: "xterm: half a wide character is none",
			in:   "你好\x1b[1;1Hx",
			screen: []string{
				"x 好",
			},
			col: 1,
		},
		{
			name: "a narrow character over the second half blanks the first",
			spec: "xterm: half a wide character is none",
			in:   "你好\x1b[1;4Hx",
			screen: []string{
				"你 x",
			},
			col: 4,
		},
		{
			name: "a wide character over two halves blanks both others",
			spec: "xterm: half a wide character is none",
			in:   "你好\x1b[1;2H你",
			screen: []string{
				" 你",
			},
			col: 3,
		},
		{
			name: "text over many wide characters cuts only the last",
			spec: "xterm: half a wide character is none",
			in:   "你好你好\x1b[1;1Habcde",
			screen: []string{
				"abcde 好",
			},
			col: 5,
		},
		{
			name: "text that begins in a second half cuts only the first",
			spec: "xterm: half a wide character is none",
			in:   "你好你好\x1b[1;2Habcd",
			screen: []string{
				" abcd 好",
			},
			col: 5,
		},
		{
			name: "a tab over a wide character leaves it",
			spec: "ECMA-48 8.3.60: the cursor moves",
			in:   "你好\r\t",
			screen: []string{
				"你好",
			},
			col: 8,
		},
		{
			name: "the cursor may stand on a second half",
			spec: "xterm, CUP",
			in:   "你\x1b[1;2H\x1b[6n",
			screen: []string{
				"你",
			},
			col: 1, replies: "\x1b[1;2R",
		},
		{
			name: "a screen of one column has no room for a pair",
			spec: "tmux discards it as well",
			cols: 1, rows: 2,
			in: "你a",
			screen: []string{
				"a",
			},
			pending: true,
		},
		{
			name: "a mark joins the character before it",
			spec: "Unicode UAX #29, GB9",
			in:   "ae\u0301b",
			screen: []string{
				"ae\u0301b",
			},
			col: 3,
		},
		{
			name: "a mark joins the last column's character and leaves the wrap due",
			spec: "Unicode UAX #29; DEC STD 070, last column flag",
			in:   "012345678e\u0301x",
			screen: []string{
				"012345678e\u0301",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "a mark joins a wide character in the last columns",
			spec: "Unicode UAX #29",
			in:   "01234567你\u0301",
			screen: []string{
				"01234567你\u0301",
			},
			col: 9, pending: true,
		},
		{
			name: "a mark after a move joins what is left of the cursor",
			spec: "xterm: combining characters are added to the cell before the cursor",
			in:   "abc\x1b[1;2H\u0301",
			screen: []string{
				"a\u0301bc",
			},
			col: 1,
		},
		{
			name: "a mark with the cursor on a second half joins the character it is of",
			spec: "xterm: combining characters are added to the cell before the cursor",
			in:   "你好\x1b[1;4H\u0301",
			screen: []string{
				"你好\u0301",
			},
			col: 3,
		},
		{
			name: "a C1 control with the cursor on a second half prints nothing",
			spec: "ECMA-48 8.3.86 NEL",
			in:   "你好\b\u0085x",
			screen: []string{
				"你好",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "half a character with the cursor on a second half prints nothing yet",
			spec: "Unicode 3.9",
			in:   "你好\b\xe4\xbd",
			screen: []string{
				"你好",
			},
			col: 3,
		},
		{
			name: "a mark at the first column has nothing to join",
			spec: "xterm drops it",
			in:   "\u0301a",
			screen: []string{
				"a",
			},
			col: 1,
		},
		{
			name: "many marks join one character",
			spec: "Unicode UAX #29, GB9",
			in:   "a\u0300\u0301\u0302\u0303b",
			screen: []string{
				"a\u0300\u0301\u0302\u0303b",
			},
			col: 2,
		},
		{
			name: "an emoji of several code points is one wide character",
			spec: "Unicode UAX #29, GB11; mode 2027",
			in:   "\U0001F469\u200d\U0001F4BBx",
			screen: []string{
				"\U0001F469\u200d\U0001F4BBx",
			},
			col: 3,
		},
		{
			name: "an emoji in the last column wraps whole",
			spec: "Unicode UAX #29, GB11; mode 2027",
			in:   "012345678\U0001F469\u200d\U0001F4BB",
			screen: []string{
				"012345678",
				"\U0001F469\u200d\U0001F4BB",
			},
			row: 1, col: 2,
		},
		{
			name: "a character that a variation selector makes wide",
			spec: "Unicode UTS #51, presentation sequences; mode 2027",
			in:   "\u2764\ufe0fx",
			screen: []string{
				"\u2764\ufe0fx",
			},
			col: 3,
		},
		{
			name: "a character in the last column that becomes wide goes to the next row",
			spec: "Unicode UTS #51; mode 2027",
			in:   "012345678\u2764\ufe0f",
			screen: []string{
				"012345678",
				"\u2764\ufe0f",
			},
			row: 1, col: 2,
		},
		{
			name: "two regional indicators are a flag, the third is another",
			spec: "Unicode UAX #29, GB12",
			in:   "\U0001F1E9\U0001F1EA\U0001F1EBx",
			screen: []string{
				"\U0001F1E9\U0001F1EA\U0001F1EBx",
			},
			col: 5,
		},
		{
			name: "a flag interrupted by a move is two characters",
			spec: "here: what is left of the cursor is looked at again",
			in:   "\U0001F1E9\x1b[2;1H\U0001F1EA",
			screen: []string{
				"\U0001F1E9",
				"\U0001F1EA",
			},
			row: 1, col: 2,
		},
		{
			name: "a skin tone joins a hand",
			spec: "Unicode UTS #51, emoji modifiers",
			in:   "\U0001F44D\U0001F3FDx",
			screen: []string{
				"\U0001F44D\U0001F3FDx",
			},
			col: 3,
		},
		{
			name: "conjoining jamo are one syllable",
			spec: "Unicode UAX #29, GB6 to GB8",
			in:   "\u1100\u1161\u11a8x",
			screen: []string{
				"\u1100\u1161\u11a8x",
			},
			col: 3,
		},
		{
			name: "without mode 2027 code points are measured one by one",
			spec: "contour, mode 2027 reset; wcwidth",
			in:   "\x1b[?2027l\U0001F44D\U0001F3FDx",
			screen: []string{
				"\U0001F44D\U0001F3FDx",
			},
			col: 5,
		},
		{
			name:    "a terminal that measures as wcwidth does from the start",
			spec:    "Options.LegacyWidth",
			options: vterm.Options{LegacyWidth: true},
			in:      "\U0001F44D\U0001F3FDx\x1b[?2027$p",
			screen: []string{
				"\U0001F44D\U0001F3FDx",
			},
			col: 5, replies: "\x1b[?2027;2$y",
		},
		{
			name: "ambiguous characters are narrow",
			spec: "Unicode UAX #11: ambiguous is narrow by default",
			in:   "\u00b0\u2460\u03b1x",
			screen: []string{
				"\u00b0\u2460\u03b1x",
			},
			col: 4,
		},
		{
			name:    "ambiguous characters are wide where that is asked for",
			spec:    "Unicode UAX #11, East Asian context",
			options: vterm.Options{AmbiguousWide: true},
			in:      "\u2460\u03b1x",
			screen: []string{
				"\u2460\u03b1x",
			},
			col: 5,
		},
		{
			name: "format characters take no column",
			spec: "Unicode: default ignorable",
			in:   "a\u200bb\u2060c\ufeffd\u00ade",
			screen: []string{
				"abcd\u00ade",
			},
			col: 6,
		},
		{
			name: "C1 controls and DEL are no characters",
			spec: "ECMA-48 8.2.1; ECMA-6: DEL is ignored",
			in:   "a\x7fb\u0080c\u0099d",
			screen: []string{
				"abcd",
			},
			col: 4,
		},
		{
			name: "surrogates, overlong forms and what is beyond Unicode are one replacement each maximal part",
			spec: "Unicode 3.9, U+FFFD substitution of maximal subparts",
			cols: 20,
			in:   "\xed\xa0\x80|\xc0\xaf|\xf4\x90\x80\x80|\xe2\x82|",
			screen: []string{
				strings.Repeat("\ufffd", 3) + "|" + strings.Repeat("\ufffd", 2) + "|" + strings.Repeat("\ufffd", 4) + "|\ufffd|",
			},
			col: 14,
		},
		{
			name: "REP repeats a wide character over the end of the row",
			spec: "ECMA-48 8.3.103",
			in:   "你\x1b[5b",
			screen: []string{
				"你你你你你",
				"你",
			},
			row: 1, col: 2,
		},
		{
			name: "REP of a letter with a mark repeats the letter",
			spec: "ECMA-48 8.3.103: the graphic character; xterm remembers none of width zero",
			in:   "e\u0301\x1b[2b",
			screen: []string{
				"e\u0301ee",
			},
			col: 3,
		},
		{
			name: "double width rows hold half as many wide characters",
			spec: "VT510, DECDWL",
			in:   "\x1b#6你好x",
			screen: []string{
				"你好x",
			},
			col: 4, pending: true,
		},
	})
}

// TestWideCells checks that cells match their content: a pair is a wide cell and its tail, the column left by a wrapped
// wide character is marked, and flags of the previous cell are not inherited.
func TestWideCells(t *testing.T) {
	term := (&example{}).terminal()
	write(term, "a你e\u0301\x1b[1\"q\U0001F469\u200d\U0001F4BB\x1b[0\"qz  好")
	for col, want := range []struct {
		width int
		text  string
		flags vterm.Cell
	}{
		{vterm.WidthNarrow, "a", 0},
		{vterm.WidthWide, "你", 0},
		{vterm.WidthTail, "", 0},
		{vterm.WidthNarrow, "e\u0301", vterm.CellCluster},
		{vterm.WidthWide, "\U0001F469\u200d\U0001F4BB", vterm.CellCluster | vterm.CellProtected},
		{vterm.WidthTail, "", vterm.CellProtected},
		{vterm.WidthNarrow, "z", 0},
		{vterm.WidthNarrow, " ", 0},
		{vterm.WidthNarrow, " ", 0},
		{vterm.WidthHead, " ", 0},
	} {
		c, _ := cellAt(term, 0, col)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		text := string(f.AppendText(nil, c))
		if c.Width() != want.width || text != want.text {
			t.Errorf("column %d is %q of width %d, want %q of %d", col, text, c.Width(), want.text, want.width)
		}
		if got := c & (vterm.CellCluster | vterm.CellProtected | vterm.CellISOGuard | vterm.CellImage); c.Width() != vterm.WidthTail && got != want.flags {
			t.Errorf("column %d has flags %x, want %x", col, uint64(got), uint64(want.flags))
		}
	}
}

// TestEveryOverwrite checks that overwriting any column of any row of wide and narrow characters leaves no half.
func TestEveryOverwrite(t *testing.T) {
	rows := []string{"你好你好你", "a你好你好b", "ab你cd好ef", "e\u0301你e\u0301好abc", "\U0001F469\u200d\U0001F4BB你a\U0001F1E9\U0001F1EAbc"}
	overs := []string{
		"x", "你", "xy", "x你", "\u0301", "\x1b[X", "\x1b[2X", "\x1b[3X", "\x1b[P", "\x1b[2P", "\x1b[3P", "\x1b[@", "\x1b[2@", "\x1b[3@",
		"\x1b[K", "\x1b[1K", "\x1b[4hx\x1b[4l", "\x1b[4h你\x1b[4l", "\x1b['}", "\x1b['~", "\x1b[ @", "\x1b[ A", "\x1b[?K", "\x1b[?1K",
		"\x1b[65;1;3;1;4$x", "\x1b[1;3;1;4$z", "\x1b[1;3;1;4${", "\x1b[1;3;1;6;1;1;2;1$v", "\x1b[1;2;1;5;7$r", "\ufe0f", "\u200d\U0001F4BB",
	}
	for _, row := range rows {
		for col := 1; col <= 10; col++ {
			for _, over := range overs {
				for _, margins := range []string{"", "\x1b[?69h\x1b[3;8s", "\x1b[?69h\x1b[4;7s"} {
					term := (&example{rows: 2}).terminal()
					in := row + margins + "\x1b[1;" + string(rune('0'+col/10)) + string(rune('0'+col%10)) + "H" + over
					write(term, in)
					if what := unsound(term); what != "" {
						t.Fatalf("%q: %s", in, what)
					}
				}
			}
		}
	}
}
