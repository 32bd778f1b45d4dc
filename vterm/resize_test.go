package vterm_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestReflow changes the size and checks text, cursor and history. Wrapped lines are joined; ended lines stay ended.
//
// FEATURES: R10
func TestReflow(t *testing.T) {
	for _, c := range []struct {
		name       string
		in         string // on 10×4
		cols, rows int
		screen     string // rows joined by "/"
		history    string
		row, col   int
		pending    bool
	}{
		{"narrower breaks a line", "0123456789\r\nend", 5, 4, "01234/56789/end", "", 2, 3, false},
		{"wider joins what was broken", "0123456789abcde\r\nend", 20, 4, "0123456789abcde/end", "", 1, 3, false},
		{"wider does not join what was ended", "0123456789\r\nabc", 20, 4, "0123456789/abc", "", 1, 3, false},
		{"narrower pushes the top into the history", "0123456789\r\na\r\nb\r\nc", 5, 4, "56789/a/b/c", "01234", 3, 1, false},
		{"fewer rows push the top into the history", "a\r\nb\r\nc\r\nd", 10, 2, "c/d", "a/b", 1, 1, false},
		{"blank rows below the cursor go first", "a\r\nb", 10, 2, "a/b", "", 1, 1, false},
		{"text below the cursor is cut before the cursor is lost", "a\r\nb\r\nc\r\nd\x1b[1;2H", 10, 2, "a/b", "", 0, 1, false},
		{"more rows take the history back", "a\r\nb\r\nc\r\nd\r\ne\r\nf", 10, 6, "a/b/c/d/e/f", "", 5, 1, false},
		{"more rows than the history has", "a\r\nb\r\nc\r\nd\r\ne", 10, 9, "a/b/c/d/e", "", 4, 1, false},
		{"a line that began in the history is whole", "0123456789abcde\r\n1\r\n2\r\n3", 20, 4, "0123456789abcde/1/2/3", "", 3, 1, false},
		{"the cursor in a broken line moves with its character", "0123456789\x1b[1;8H", 5, 4, "01234/56789", "", 1, 2, false},
		{"the cursor in a joined line", "0123456789abcde\x1b[2;3H", 20, 4, "0123456789abcde", "", 0, 12, false},
		{"the cursor behind the text keeps its column", "ab\x1b[1;8H", 20, 4, "ab", "", 0, 7, false},
		{"the cursor behind the text that does not fit", "ab\x1b[1;8H", 5, 4, "ab", "", 0, 4, false},
		{"a pending wrap stays at the edge", "0123456789", 10, 6, "0123456789", "", 0, 9, true},
		{"a pending wrap in a wider screen is behind its character", "0123456789", 20, 4, "0123456789", "", 0, 10, false},
		{"a pending wrap in a narrower one", "0123456789", 5, 4, "01234/56789", "", 1, 4, true},
		{"a wide character moves to the next row whole", "01你好ab", 5, 4, "01你/好ab", "", 1, 4, false},
		{"the column that a wide character left is not text", "012345678你ab", 20, 4, "012345678你ab", "", 0, 13, false},
		{"a screen of one column", "abc", 1, 4, "a/b/c", "", 2, 0, true},
		{"trailing spaces that were written are text", "ab   \r\nc", 4, 4, "ab/ /c", "", 2, 1, false},
		{"leading blank rows stay", "\r\n\r\na", 10, 6, "//a", "", 2, 1, false},
		{"an empty screen", "", 5, 2, "", "", 0, 0, false},
		{"a line of double width is cut, not broken", "\x1b#6abcde\r\nend", 6, 4, "abc/end", "", 1, 3, false},
		{"half a wide character on a line of double width is none", "\x1b#6你b\r\nend", 3, 4, "/end", "", 1, 2, true},
		{"the saved cursor does not move the screen", "a\r\nb\x1b7\r\nc\r\nd", 10, 2, "c/d", "a/b", 1, 1, false},
		{"margins are reset", "\x1b[2;3r\x1b[4;1Ha", 10, 6, "///a", "", 3, 1, false},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		term.Resize(c.cols, c.rows)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		rows := rowsShown(&f)
		if c.name == "trailing spaces that were written are text" {
			rows[1] = " " // cut by textOf
		}
		if got := strings.Join(rows, "/"); got != c.screen || f.Cols != c.cols || f.Rows != c.rows {
			t.Errorf("%s: %q at %dx%d, want %q", c.name, got, f.Cols, f.Rows, c.screen)
		}
		if got := strings.Join(historyOf(term), "/"); got != c.history {
			t.Errorf("%s: history %q, want %q", c.name, got, c.history)
		}
		if f.Cursor.Row != c.row || f.Cursor.Col != c.col || f.Cursor.Pending != c.pending {
			t.Errorf("%s: cursor %+v, want row %d, column %d, pending %t", c.name, f.Cursor, c.row, c.col, c.pending)
		}
		if what := unsound(term); what != "" {
			t.Errorf("%s: %s", c.name, what)
		}
		checkSnapshot(t, term, c.in)
	}
}

// TestReflowKeepsLooks checks that styles, links and protection stay with their characters across a reflow.
//
// FEATURES: R10
func TestReflowKeepsLooks(t *testing.T) {
	term := (&example{}).terminal()
	write(term, "01234\x1b[1;31m56\x1b[0m7\x1b]8;;u\a89\x1b]8;;\a\x1b[1\"qab\x1b[0\"q你e\u0301")
	before := logicalLine(term)
	for _, size := range [][2]int{{3, 8}, {40, 2}, {2, 20}, {7, 4}, {10, 4}} {
		term.Resize(size[0], size[1])
		if got := logicalLine(term); got != before {
			t.Errorf("at %dx%d:\n%s, was\n%s", size[0], size[1], got, before)
		}
	}
}

// logicalLine returns the styles of all visible cells, however they are wrapped.
func logicalLine(t *vterm.Terminal) string {
	var f vterm.Frame
	t.Frame(&f, vterm.Query{})
	var b strings.Builder
	add := func(l *vterm.Line) {
		for _, c := range l.Cells {
			if c.Blank() || c.Width() == vterm.WidthTail {
				continue
			}
			st := f.Style(c)
			link := f.Links[st.Link:]
			st.Link = 0
			fmt.Fprintf(&b, "%s %v %x", f.AppendText(nil, c), st, uint64(c&(vterm.CellProtected|vterm.CellISOGuard)))
			if len(link) > 0 {
				fmt.Fprintf(&b, " %s", link[0].URI)
			}
			b.WriteByte('\n')
		}
	}
	h := t.History()
	var l vterm.Line
	for i := range h.Len() {
		h.Line(i, &l)
		t.Frame(&f, vterm.Query{}) // including the line's references
		add(&l)
	}
	for i := range f.Lines {
		add(&f.Lines[i])
	}
	return b.String()
}

// plainOutput is text of all kinds in lines of all lengths, without sequences that move.
func plainOutput(r *rand.Rand, lines int) string {
	words := []string{"a", "word", "longer-word-here", "你好", "e\u0301", "\U0001F469\u200d\U0001F4BB", " ", "    ", "\x1b[31mred\x1b[0m", "\U0001F1E9\U0001F1EA", "x"}
	var b strings.Builder
	for range lines {
		for range r.IntN(12) {
			b.WriteString(words[r.IntN(len(words))])
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

// TestResizeThereAndBack checks that printed text is unchanged after any sequence of sizes that ends with the first.
//
// FEATURES: R10
func TestResizeThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		cols, rows := 4+r.IntN(30), 2+r.IntN(10)
		in := plainOutput(r, 1+r.IntN(40))
		term := (&example{cols: cols, rows: rows}).terminal()
		write(term, in)
		before, text := logicalLine(term), allText(term)
		var sizes []string
		for range 1 + r.IntN(4) {
			c, n := 2+r.IntN(60), 1+r.IntN(20)
			sizes = append(sizes, fmt.Sprintf("%dx%d", c, n))
			term.Resize(c, n)
			if got := logicalLine(term); got != before {
				t.Fatalf("%q, %dx%d by way of %v: %s", in, cols, rows, sizes, difference(got, before))
			}
			if what := unsound(term); what != "" {
				t.Fatalf("%q, %dx%d by way of %v: %s", in, cols, rows, sizes, what)
			}
		}
		term.Resize(cols, rows)
		if got := allText(term); got != text {
			t.Fatalf("%q, %dx%d by way of %v: %s", in, cols, rows, sizes, difference(got, text))
		}
	}
}

// allText is the text of the history and the screen, row by row.
func allText(t *vterm.Terminal) string {
	var f vterm.Frame
	t.Frame(&f, vterm.Query{})
	return strings.Join(append(historyOf(t), rowsShown(&f)...), "\n")
}

// TestResizeReports checks in-band size reports (mode 2048): once per change, and when the mode is set.
func TestResizeReports(t *testing.T) {
	term := (&example{}).terminal()
	write(term, "\x1b[?2048h")
	if got := string(term.Replies(nil)); got != "\x1b[48;4;10;64;80t" {
		t.Errorf("when it is set: %q", got)
	}
	term.Resize(20, 5)
	term.Resize(20, 5)
	if got := string(term.Replies(nil)); got != "\x1b[48;5;20;80;160t" {
		t.Errorf("one change: %q", got)
	}
	write(term, "\x1b[?2048l")
	term.Resize(10, 4)
	if got := string(term.Replies(nil)); got != "" {
		t.Errorf("when it is reset: %q", got)
	}
	for _, c := range []struct{ cols, rows, wantCols, wantRows int }{{0, 0, 1, 1}, {-5, 3, 1, 3}, {1 << 20, 1, 4096, 1}, {1, 1 << 20, 1, 4096}} {
		term.Resize(c.cols, c.rows)
		var f vterm.Frame
		if term.Frame(&f, vterm.Query{}); f.Cols != c.wantCols || f.Rows != c.wantRows {
			t.Errorf("%dx%d becomes %dx%d", c.cols, c.rows, f.Cols, f.Rows)
		}
	}
}
