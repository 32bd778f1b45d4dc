package vterm

import (
	"strings"
	"testing"
)

// cornerCases lists cases in which emulators differ or that ours once got wrong. The results are xterm's unless
// docs/conformance.md names an exception. The form is that of functionCase.
var cornerCases = []functionCase{
	{"REP repeats what stands right before it", "ab\x1b[2b", "abbb @0,4"},
	{"REP after a control does nothing", "ab\r\x1b[2b", "ab @0,0"},
	{"REP after a control sequence does nothing", "ab\x1b[1m\x1b[2b", "ab @0,2"},
	{"REP after a control and a character without a cell does nothing", "ab\r\u200b\x1b[2b", "ab @0,0"},
	{"REP after REP does nothing", "ab\x1b[2b\x1b[2b", "abbb @0,4"},
	{"REP repeats a wide character", "\u4f60\x1b[2b", "\u4f60\u4f60\u4f60 @0,6"},
	{"REP after SO goes on with what was printed", "\x1b(0q\x1b[2b", "\u2500\u2500\u2500 @0,3"},
	{"EL 1 ends a pending wrap", "abcdefghij\x1b[1Kx", "         x @0,9"},
	{"ED 1 ends a pending wrap", "abcdefghij\x1b[1Jx", "         x @0,9"},
	{"DECSEL 1 ends a pending wrap", "abcdefghij\x1b[?1Kx", "         x @0,9"},
	{"EL 3 is none", "abcdefghij\x1b[3Kx", "abcdefghij/x @1,1"},
	{"DECERA beyond the last line takes the last line", "\x1b[4Habcd\x1b[9;2;;3$z", "///a  d @3,4"},
	{"DECFRA beyond the last column fills the last column", "\x1b[42;1;99;2$x", "         */         * @0,0"},
	{"IRM inserts between the margins only", "abcdef\x1b[?69h\x1b[3;8s\x1b[4hxy", "xycdef @0,2"},
	{"DECFI at the margin leaves a pending wrap", "abcdefghij\x1b9x", "bcdefghij/x @1,1"},
	{"1049 reset on the primary screen restores the cursor", "\x1b7abc\x1b[?1049lx", "xbc @0,1"},
	{"DECCRA to beyond the last column goes to the last column", "ab\x1b[1;1;1;2;1;2;99$v", "ab/         a @0,2"},
	{"DECSTR leaves a pending wrap", "abcdefghij\x1b[!px", "abcdefghij/x @1,1"},
	{"1049 set ends a pending wrap, 47 does not", "abcdefghij\x1b[?47hx\x1b[1;10Hy\x1b[?1049hz", "         z @0,9 <12   1>"},
	{"1049 reset brings a pending wrap back", "abcdefghij\x1b[?1049h\x1b[?1049lx", "abcdefghij/x @1,1 <12   1> <12   0>"},
	{"a character above ASCII ends a control sequence", "a\x1b[3\u00e9b", "ab @0,2"},
	{"a wide character ends a control sequence", "a\x1b[3\u4f60b\x1b[?\U0001F600c", "abc @0,3"},
	{"a character above ASCII ends an escape sequence", "a\x1b\u00e9b\x1b(\u00e9c", "abc @0,3"},
	{"a character cut short ends a control sequence", "a\x1b[3\xe4\xbdb\x1b[3\xf0\x1b[2Cc", "ab  c @0,5"},
	{"a stray byte ends a control sequence", "a\x1b[3\xffb\x1b[3\x80c", "abc @0,3"},
	{"a C1 control within a sequence begins another", "a\x1b[3\u009b2Cb\x1b[\u0084c", "a  b/    c @1,5"},
	{"a string's header may hold anything", "a\x1bP1\u00e9;q\u4f60\x1b\\b", "ab @0,2"},
	{"DECCARA 0 ends attributes and leaves colours", "\x1b[1;31;4mab\x1b[2*x\x1b[1;1;1;1;0$r\x1b[1;2;1;2$r\x1b[1;1;1;2#|", "ab @0,2 ^[0;31m"},
	{"DECSCL resets softly", "abc\x1b[4h\x1b[1m\x1b[65;1\"pd\rx\x1bP$qm\x1b\\", "xbcd @0,1 ^P1$r0m^\\"},
	{"DECDWL hides the right half", "abcdefghij\r\x1b#6", "abcde @0,0"},
	{"DECSWL brings it back", "abcdefghij\r\x1b#6\x1b#5", "abcdefghij @0,0"},
	{"DECDWL hides half a wide character", "abcd\u4f60fg\r\x1b#6", "abcd @0,0"},
	{"DECSCA, whatever it says, ends the protection of SPA", "\x1bVab\x1b[2\"q\x1b[1K", " @0,2"},
}

// TestCorners proves the corner cases.
//
// FEATURES: R30
func TestCorners(t *testing.T) {
	for _, c := range cornerCases {
		term := New(Options{Cols: 10, Rows: 4})
		feed(term, c.input)
		if got := seen(term); got != c.want {
			t.Errorf("%s: %q gives\n\t%q, want\n\t%q", c.row, c.input, got, c.want)
		}
		if what := broken(term); what != "" {
			t.Errorf("%s: %q: %s", c.row, c.input, what)
		}
	}
}

// TestHardResetClearsHistory: RIS leaves nothing behind, as in xterm.
func TestHardResetClearsHistory(t *testing.T) {
	term := newTest(t, 10, 2, "a\r\nb\r\nc\r\nd\x1bc")
	if n := term.History().Len(); n != 0 {
		t.Errorf("%d lines of history after RIS", n)
	}
}

// TestResizeDoubleWidth checks that a line of double width has space for half as many characters, so it is cut at the
// new half, on both screens, and is never wrapped.
//
// FEATURES: R30
func TestResizeDoubleWidth(t *testing.T) {
	for _, alternate := range []string{"", "\x1b[?1049h\x1b[H"} {
		term := newTest(t, 20, 4, alternate+"\x1b#6abcdefghij\r\nnormal line\x1b[1;10H")
		term.Resize(12, 4)
		if got, want := text(term), "abcdef\nnormal line"; got != want {
			t.Errorf("narrower: %q, want %q", got, want)
		}
		if term.cur.Col > 5 {
			t.Errorf("the cursor is in column %d of a line of 6", term.cur.Col)
		}
		feed(term, "x")
		if what := broken(term); what != "" {
			t.Error(what)
		}
		term.Resize(30, 4)
		feed(term, "\x1b[1;9Hz")
		if line, _, _ := strings.Cut(text(term), "\n"); line != "abcdex  z" {
			t.Errorf("wider: %q", line)
		}
	}
}

// TestDoubleWidthScrolledOut checks that the hidden half of a line does not come back in the history, nor in the row
// that is reused.
//
// FEATURES: R30
func TestDoubleWidthScrolledOut(t *testing.T) {
	term := newTest(t, 10, 2, "abcdefghij\r\x1b#6\r\n\n\x1b[10Gx")
	if got := historyText(term); got != "abcde" {
		t.Errorf("history is %q", got)
	}
	if got, want := text(term), "\n         x"; got != want {
		t.Errorf("screen is %q, want %q", got, want)
	}
	if what := broken(term); what != "" {
		t.Error(what)
	}
}

// TestFormatCharactersJoinNothing checks that a format character (Cf) is not a mark and joins nothing, whatever
// precedes it.
func TestFormatCharactersJoinNothing(t *testing.T) {
	for _, in := range []string{"E\u202a", "E\x04\u202a", "E\x04\u202a\u035b", "E\u202a\u035b", "E\x04\u200b"} {
		term := newTest(t, 10, 2, in)
		var f Frame
		term.Frame(&f, Query{})
		if got := string(f.AppendText(nil, f.Lines[0].Cells[0])); got != "E" {
			t.Errorf("%q: %q", in, got)
		}
	}
	term := newTest(t, 10, 2, "e\x04\u0301") // a mark does
	var f Frame
	term.Frame(&f, Query{})
	if got := string(f.AppendText(nil, f.Lines[0].Cells[0])); got != "e\u0301" {
		t.Errorf("a mark after a control character: %q", got)
	}
}
