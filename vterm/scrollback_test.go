package vterm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// numbered is lines "line 0" to "line n-1", each ended.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	return b.String()
}

// TestScrollbackIDs: the id of a line never changes while it is kept, and ids grow by one.
//
// FEATURES: R10
func TestScrollbackIDs(t *testing.T) {
	term := vterm.New(vterm.Options{Cols: 10, Rows: 4, ScrollbackLines: 10})
	seen := map[string]uint64{}
	for i := range 60 {
		write(term, fmt.Sprintf("line %d\r\n", i))
		h := term.History()
		if h.Len() > 10 {
			t.Fatalf("%d lines are kept of 10", h.Len())
		}
		for j, text := range historyOf(term) {
			id := h.FirstID() + uint64(j)
			if was, ok := seen[text]; ok && was != id {
				t.Fatalf("after %d lines %q has id %d, had %d", i, text, id, was)
			}
			seen[text] = id
			if want := fmt.Sprintf("line %d", id); text != want {
				t.Fatalf("line %d is %q", id, text)
			}
		}
	}
	if h := term.History(); h.Len() != 10 || h.FirstID() != 60-3-10 {
		t.Errorf("%d lines from %d", h.Len(), h.FirstID())
	}
}

// TestScrollbackBounds checks a history bounded in lines or bytes, and none at all.
//
// FEATURES: R10, R93
func TestScrollbackBounds(t *testing.T) {
	for _, c := range []struct {
		name     string
		o        vterm.Options
		min, max int
	}{
		{"none", vterm.Options{ScrollbackLines: -1}, 0, 0},
		{"one line", vterm.Options{ScrollbackLines: 1}, 1, 1},
		{"a hundred", vterm.Options{ScrollbackLines: 100}, 100, 100},
		{"by bytes", vterm.Options{ScrollbackLines: 1_000_000, ScrollbackBytes: 64 << 10}, 1000, 20_000},
		{"all", vterm.Options{}, 20_000 - 3, 20_000 - 3},
	} {
		c.o.Cols, c.o.Rows = 20, 4
		term := vterm.New(c.o)
		write(term, numbered(20_000))
		lines := historyOf(term)
		if len(lines) < c.min || len(lines) > c.max {
			t.Errorf("%s: %d lines are kept, want %d to %d", c.name, len(lines), c.min, c.max)
		}
		for i, text := range lines {
			if want := fmt.Sprintf("line %d", 20_000-3-len(lines)+i); text != want {
				t.Errorf("%s: line %d of %d is %q, want %q", c.name, i, len(lines), text, want)
				break
			}
		}
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		if got := strings.Join(rowsShown(&f), "/"); got != "line 19997/line 19998/line 19999" {
			t.Errorf("%s: the screen is %q", c.name, got)
		}
	}
}

// TestScrollbackKeepsLooks checks that a line in the history looks as it did on the screen: styles, links, widths,
// wraps, sizes.
//
// FEATURES: R10
func TestScrollbackKeepsLooks(t *testing.T) {
	lines := []string{
		"\x1b[1;31mbold red\x1b[0m plain",
		"\x1b[44mblue \x1b[K\x1b[0m",
		"\x1b]8;id=a;http://x\alink\x1b]8;;\a",
		"你好e\u0301\U0001F469\u200d\U0001F4BB",
		"\x1b[4:3;58;2;1;2;3mcurly\x1b[0m",
		"\x1b[1\"qprot\x1b[0\"qected",
		"\x1b#6wide",
		"tab\there",
		"\x1b[38;2;10;20;30mrgb\x1b[48;5;200mon\x1b[0m",
		"",
		"   spaces   ",
	}
	for _, line := range lines {
		term := (&example{cols: 30}).terminal()
		write(term, line)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		want := lineState(&f, &f.Lines[0])
		write(term, "\r\n\n\n\n")
		var l vterm.Line
		h := term.History()
		if h.Len() != 1 {
			t.Fatalf("%q: %d lines", line, h.Len())
		}
		h.Line(0, &l)
		term.Frame(&f, vterm.Query{}) // after the line, with its references
		if got := lineState(&f, &l); got != want {
			t.Errorf("%q:\n%s, was\n%s", line, got, want)
		}
		term.Pack()
		term.History().Line(0, &l)
		term.Frame(&f, vterm.Query{})
		if got := lineState(&f, &l); got != want {
			t.Errorf("%q packed:\n%s, was\n%s", line, got, want)
		}
		again := vterm.New(vterm.Options{})
		if err := again.Restore(term.AppendSnapshot(nil)); err != nil {
			t.Fatal(err)
		}
		again.History().Line(0, &l)
		again.Frame(&f, vterm.Query{})
		if got := lineState(&f, &l); got != want {
			t.Errorf("%q restored:\n%s, was\n%s", line, got, want)
		}
	}
}

// TestScrollbackClusters checks that a frame taken after history lines has their clusters, even if none were on the
// screen in earlier frames.
func TestScrollbackClusters(t *testing.T) {
	for _, in := range []string{"e\u0301 x", "\U0001F469\u200d\U0001F4BB", "\u1100\u1161\u11a8", "\u2764\ufe0f"} {
		term := (&example{}).terminal()
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		write(term, in+"\r\n\n\n\n")
		var l vterm.Line
		term.History().Line(0, &l)
		term.Frame(&f, vterm.Query{Since: f.Version})
		if got := textOf(&f, &l); got != in {
			t.Errorf("%q is read back as %q", in, got)
		}
	}
}

// TestScrollbackReflow checks that a history that is read is reflowed to the current width, however often it changed.
//
// FEATURES: R10
func TestScrollbackReflow(t *testing.T) {
	term := (&example{cols: 20}).terminal()
	write(term, "0123456789abcdefghijKLM\r\nshort\r\n"+strings.Repeat("x", 45)+"\r\n\n\n\n\n")
	for _, c := range []struct {
		cols int
		want string
	}{
		{20, "0123456789abcdefghij/KLM/short/xxxxxxxxxxxxxxxxxxxx/xxxxxxxxxxxxxxxxxxxx/xxxxx/"},
		{10, "0123456789/abcdefghij/KLM/short/xxxxxxxxxx/xxxxxxxxxx/xxxxxxxxxx/xxxxxxxxxx/xxxxx/"},
		{50, "0123456789abcdefghijKLM/short/" + strings.Repeat("x", 45) + "/"},
		{20, "0123456789abcdefghij/KLM/short/xxxxxxxxxxxxxxxxxxxx/xxxxxxxxxxxxxxxxxxxx/xxxxx/"},
	} {
		term.Resize(7, 4)
		term.Resize(c.cols, 4)
		if got := strings.Join(historyOf(term), "/"); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.cols, got, c.want)
		}
		if what := unsound(term); what != "" {
			t.Errorf("%d columns: %s", c.cols, what)
		}
	}
}

// TestScreenSnapshot checks that a snapshot without the scrollback omits only the history, and that line ids continue.
func TestScreenSnapshot(t *testing.T) {
	term := (&example{}).terminal()
	write(term, numbered(50)+"\x1b[1;31mlast\x1b[?2004h\x1b]2;title\a")
	h := term.History()
	end := h.FirstID() + uint64(h.Len())
	again := vterm.New(vterm.Options{})
	if err := again.Restore(term.AppendScreenSnapshot(nil)); err != nil {
		t.Fatal(err)
	}
	if h := again.History(); h.Len() != 0 || h.FirstID() != end {
		t.Errorf("%d lines from %d, want none from %d", h.Len(), h.FirstID(), end)
	}
	var a, b vterm.Frame
	term.Frame(&a, vterm.Query{})
	again.Frame(&b, vterm.Query{})
	if strings.Join(rowsShown(&a), "/") != strings.Join(rowsShown(&b), "/") || a.Cursor != b.Cursor || a.Title != b.Title || term.Modes() != again.Modes() {
		t.Errorf("%q %+v, want %q %+v", rowsShown(&b), b.Cursor, rowsShown(&a), a.Cursor)
	}
	write(again, "\r\nx")
	if h := again.History(); h.Len() != 1 || h.FirstID() != end {
		t.Errorf("then %d lines from %d", h.Len(), h.FirstID())
	}
	if small, whole := len(term.AppendScreenSnapshot(nil)), len(term.AppendSnapshot(nil)); small >= whole {
		t.Errorf("%d bytes without the scrollback, %d with it", small, whole)
	}
}

// TestScrollbackReflowVeryLong: a line of more rows than a resize takes back gets no blanks between its characters, however
// often the history is read between two sizes.
//
// FEATURES: R10
func TestScrollbackReflowVeryLong(t *testing.T) {
	var f vterm.Frame
	term := (&example{cols: 80}).terminal()
	want := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 5000*80/36)
	write(term, want)
	for _, cols := range []int{80, 100, 77, 130, 80} {
		term.Resize(cols, 4)
		term.Frame(&f, vterm.Query{})
		got := strings.Join(append(historyOf(term), rowsShown(&f)...), "")
		if got = strings.TrimRight(got, " "); got != want {
			t.Errorf("%d columns: %d characters, %d of them blanks, want %d", cols, len(got), strings.Count(got, " "), len(want))
		}
		if what := unsound(term); what != "" {
			t.Errorf("%d columns: %s", cols, what)
		}
	}
}
