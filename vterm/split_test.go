package vterm

import (
	"fmt"
	"strings"
	"testing"
)

// state is everything of a terminal that can be seen, as text.
func state(t *Terminal) string {
	var f Frame
	s := ""
	for _, which := range []ScreenKind{ScreenPrimary, ScreenAlternate} {
		t.Frame(&f, Query{Screen: which})
		for i := range f.Lines {
			l := &f.Lines[i]
			s += fmt.Sprintf("%d %v %d|", l.Row, l.Wrapped, l.Size)
			for n := len(l.Cells); n > 0 && l.Cells[n-1] == 0; n-- {
				l.Cells = l.Cells[:n-1] // omitted and zero are equal
			}
			for _, c := range l.Cells {
				s += fmt.Sprintf("%s,%d,%x,%v;", f.AppendText(nil, c), c.Width(), uint64(c)>>24&0xff, f.Style(c))
			}
			s += "\n"
		}
	}
	return s + fmt.Sprintf("%+v %q %+v\n%s", f.Cursor, f.Title, t.Modes(), historyText(t))
}

// firstDifference cuts two texts down to the lines where they first differ.
func firstDifference(x, y string) (string, string) {
	a, b := strings.Split(x, "\n"), strings.Split(y, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i], b[i]
		}
	}
	return x, y
}

// checkSplit writes data at once and cut in two places, and compares the results.
func checkSplit(t *testing.T, data []byte, a, b int) {
	t.Helper()
	whole, cut := New(Options{Cols: 20, Rows: 6}), New(Options{Cols: 20, Rows: 6})
	_, _ = whole.Write(data)
	if whole.cols*whole.rows > 1<<14 {
		return // writing a large screen out takes too long here
	}
	for _, part := range [][]byte{data[:a], data[a:b], data[b:]} {
		_, _ = cut.Write(part)
	}
	if x, y := state(whole), state(cut); x != y {
		x, y = firstDifference(x, y)
		t.Fatalf("cut of %q at %d and %d differs\n%q\n%q", data, a, b, x, y)
	}
	if x, y := replies(whole), replies(cut); x != y {
		t.Fatalf("replies to %q differ: %q, %q", data, x, y)
	}
}

// TestSplit cuts sequences and characters of all kinds at every place.
//
// FEATURES: R26
func TestSplit(t *testing.T) {
	inputs := []string{
		"plain\r\nh\u00e9 \u4f60\u597d\u200bA\u0301e\U0001F469\u200d\U0001F4BB\U0001F1E9\U0001F1EA\U0001F1EAx",
		"\x1b[1;31mred\x1b[38:2::1:2:3;4:3mcurl\x1b[0m\x1b[?25l\x1b[2;3H\x1b7\x1b[6n\x1b8",
		"\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1bP$qm\x1b\\\x1b_Ga=q,i=1;\x1b\\\x1bXsos\x1b\\end",
		"bad \xff\xc3\xe2\x82A\xf0\x9f\x98\xc2\x9b31mred\xc2\x9d2;t\xc2\x9cx\xed\xa0\x80",
		"1234567890123456789\u4f60wrap\x1b[20b\x1b(0lqk\x1b(B\x0e\x0f\x1b#3big\x18\x1a\x1b[12\x18x",
		"\u0915\u094d\u0937\u0600a\u0301\u1100\u1161\u11a8\U0001F44D\U0001F3FD\u2764\ufe0f\u231a\ufe0e.",
	}
	for _, in := range inputs {
		data := []byte(in)
		for a := range data {
			checkSplit(t, data, a, min(a+1, len(data)))
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("\x1b[31m\u4f60\u0301\xff\xc2\x9bK\x1b]2;x\x07"), 3, 7)
	f.Fuzz(func(t *testing.T, data []byte, a, b int) {
		if len(data) == 0 || len(data) > 4096 {
			return
		}
		a = int(uint(a) % uint(len(data)+1))
		b = a + int(uint(b)%uint(len(data)-a+1))
		checkSplit(t, data, a, b)
	})
}
