package vterm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// heapOf returns how many bytes the result of f keeps alive.
func heapOf(f func() any) (any, int) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return v, int(after.HeapAlloc) - int(before.HeapAlloc)
}

// TestHistoryMemory holds the history to its budgets.
//
// FEATURES: R27
func TestHistoryMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var plain strings.Builder
	for range 1000 {
		plain.WriteString(word(r, 80) + "\r\n")
	}
	coloured := strings.Join(strings.SplitAfter(string(generated(t, "build_log_coloured")), "\n")[:1000], "")
	for _, c := range []struct {
		name   string
		data   string
		budget int
	}{
		{"plain", plain.String(), 12 << 20},
		{"coloured", coloured, 20 << 20},
	} {
		v, size := heapOf(func() any {
			term := New(Options{})
			for range 100 {
				feed(term, c.data)
			}
			return term
		})
		term := v.(*Terminal)
		t.Logf("%s: %d lines in %d bytes", c.name, term.History().Len(), size)
		if size > c.budget || term.History().Len() < 99_000 {
			t.Errorf("%s: %d lines take %d bytes, budget %d", c.name, term.History().Len(), size, c.budget)
		}
	}
	v, size := heapOf(func() any { return newTest(t, 80, 24, "\x1b[H\x1b[2J$ ") })
	if runtime.KeepAlive(v); size > 24<<10 {
		t.Errorf("an empty terminal takes %d bytes", size)
	}
}

// TestHistoryBounds drops the oldest lines, and ids stay with their lines.
//
// FEATURES: R27, R34
func TestHistoryBounds(t *testing.T) {
	term := New(Options{Cols: 20, Rows: 2, ScrollbackLines: 100})
	for i := range 1000 {
		feed(term, fmt.Sprintf("line %d\r\n", i))
	}
	h := term.History()
	if h.Len() != 100 {
		t.Fatalf("%d lines are kept, want 100", h.Len())
	}
	var f Frame
	var l Line
	term.Frame(&f, Query{})
	for i := range h.Len() {
		h.Line(i, &l)
		if got, want := lineText(&f, &l), fmt.Sprintf("line %d", h.FirstID()+uint64(i)); got != want {
			t.Fatalf("line %d is %q, want %q", i, got, want)
		}
	}
	small := New(Options{Cols: 80, Rows: 2, ScrollbackBytes: 1 << 20})
	for range 50_000 {
		feed(small, strings.Repeat("x", 79)+"\r\n")
	}
	if n := small.scrollback.BytesKept(); n > 1<<20+128<<10 {
		t.Errorf("%d bytes are kept, bound is 1 MiB", n)
	}
	none := New(Options{Cols: 20, Rows: 2, ScrollbackLines: -1})
	feed(none, "a\r\nb\r\nc\r\n")
	if none.History().Len() != 0 {
		t.Error("history is kept despite the options")
	}
}

// TestHistoryCompressed reads lines back from every age.
func TestHistoryCompressed(t *testing.T) {
	term := New(Options{Cols: 80, Rows: 2, ScrollbackBytes: 4 << 20})
	const lines = 60_000
	for i := range lines {
		feed(term, fmt.Sprintf("\x1b[3%dm%d\x1b[0m \u4f60\u597d e\u0301 %s\r\n", i%8, i, strings.Repeat("pad ", 10)))
	}
	h := term.History()
	var f Frame
	var l Line
	term.Frame(&f, Query{})
	for _, i := range []int{0, 1, h.Len() / 2, h.Len() - 1} {
		h.Line(i, &l)
		n := h.FirstID() + uint64(i)
		if got, want := lineText(&f, &l), fmt.Sprintf("%d \u4f60\u597d e\u0301 ", n); !strings.HasPrefix(got, want) {
			t.Errorf("line %d is %q, want %q…", n, got, want)
		}
		if got, want := f.Style(l.Cells[0]).FG, Index(uint8(n%8)); got != want {
			t.Errorf("line %d has colour %x, want %x", n, got, want)
		}
	}
}

// logical is all text, history first, with soft wraps joined.
func logical(t *Terminal) string {
	var f Frame
	var l Line
	var b []byte
	h := t.History()
	t.Frame(&f, Query{})
	add := func(l *Line) {
		line := []byte{}
		for _, c := range l.Cells {
			if c.Width() != WidthHead {
				line = f.AppendText(line, c)
			}
		}
		b = append(b, line...)
		if !l.Wrapped {
			b = append([]byte(strings.TrimRight(string(b), " ")), '\n')
		}
	}
	for i := range h.Len() {
		h.Line(i, &l)
		add(&l)
	}
	for i := range f.Lines {
		add(&f.Lines[i])
	}
	return strings.TrimRight(string(b), "\n")
}

// TestReflow goes through widths and back: no text is lost, screen and history agree.
//
// FEATURES: R10, R25, R27
func TestReflow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	term := newTest(t, 40, 6)
	for i := range 200 {
		feed(term, fmt.Sprintf("\x1b[3%dm%d:%s\u4f60\u597d\U0001F469\u200d\U0001F4BB%s\r\n", i%8, i, word(r, r.IntN(60)), word(r, r.IntN(30))))
	}
	feed(term, "$ prompt")
	want := logical(term)
	before := text(term)
	for _, size := range [][2]int{{13, 6}, {80, 6}, {80, 20}, {7, 3}, {200, 50}, {2, 2}, {1, 1}, {40, 6}} {
		term.Resize(size[0], size[1])
		if what := broken(term); what != "" {
			t.Fatalf("at %v: %s", size, what)
		}
		if got := logical(term); got != want {
			a, b := firstDifference(got, want)
			t.Fatalf("at %v: text is\n%q, want\n%q", size, a, b)
		}
	}
	if got := text(term); got != before {
		t.Errorf("screen after all is\n%s\nwant\n%s", got, before)
	}
	if term.cur.Row != 5 || term.cur.Col != 8 {
		t.Errorf("cursor at %d,%d, want 5,8", term.cur.Row, term.cur.Col)
	}
}

// longLines returns lines of about the given number of cells, by their kind of text.
func longLines(cells int) map[string]string {
	return map[string]string{
		"plain":    strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz,", cells/37),
		"coloured": strings.Repeat("\x1b[31m0123456789\x1b[0mabcdef ghij,", cells/22),
		"wide":     strings.Repeat("\u4f60\u597d, ", cells/6),
	}
}

// TestLongLine_TouchesFewCells_WhenResized checks that the work of a resize and of reading the screen does not grow with the length
// of a line, and that no text is lost.
//
// FEATURES: R10
// FAULT: H13
func TestLongLine_TouchesFewCells_WhenResized(t *testing.T) {
	for name, line := range longLines(1 << 20) {
		t.Run(name, func(t *testing.T) {
			term := newTest(t, 80, 24, line)
			want := logical(term)
			h := term.scrollback
			var f Frame
			for _, size := range [][2]int{{100, 24}, {99, 30}, {98, 20}, {40, 10}, {150, 50}, {80, 24}} {
				before := h.ReflowedCells
				term.Resize(size[0], size[1])
				term.Recent(64)
				term.Frame(&f, Query{})
				if n := h.ReflowedCells - before; n > 4<<15 {
					t.Errorf("%v: %d cells were touched", size, n)
				}
				if what := broken(term); what != "" {
					t.Errorf("%v: %s", size, what)
				}
			}
			if got := logical(term); got != want {
				a, b := firstDifference(got, want)
				t.Errorf("text is\n%q, want\n%q", a, b)
			}
		})
	}
}

// TestRecent_IsEndOfHistory reads more and more of a history after a change of width: lines keep their ids.
//
// FEATURES: R10
// FAULT: H13
func TestRecent_IsEndOfHistory(t *testing.T) {
	for name, line := range longLines(100_000) {
		t.Run(name, func(t *testing.T) {
			term, all := newTest(t, 80, 5), newTest(t, 80, 5)
			for range 3 {
				for _, to := range []*Terminal{term, all} {
					feed(to, "short\r\n"+line+"\r\n"+line)
				}
			}
			for _, cols := range []int{33, 120, 7, 80} {
				term.Resize(cols, 5)
				all.Resize(cols, 5)
				full := all.History()
				for _, n := range []int{0, 1, 64, 300, 1000, 7000, 1 << 20} {
					checkRecent(t, term, full, n)
				}
			}
		})
	}
}

// checkRecent compares the newest n lines of history, or all if it has fewer, with all.
func checkRecent(t *testing.T, term *Terminal, all History, n int) {
	t.Helper()
	h := term.Recent(n)
	skipped := all.Len() - min(n, all.Len())
	if h.Len() != all.Len()-skipped || h.FirstID() != all.FirstID()+uint64(skipped) {
		t.Fatalf("%d: %d lines from %d, want %d from %d", n, h.Len(), h.FirstID(), all.Len()-skipped, all.FirstID()+uint64(skipped))
	}
	var a, b Line
	for i := range h.Len() {
		h.Line(i, &a)
		all.Line(skipped+i, &b)
		if a.Row != i || a.Wrapped != b.Wrapped || !slices.Equal(a.Cells, b.Cells) {
			t.Fatalf("%d: line %d differs", n, i)
		}
	}
}

// TestResizeKeepsCursor checks the cursor and rows after a resize, case by case.
func TestResizeKeepsCursor(t *testing.T) {
	for _, c := range []struct {
		name, input string
		cols, rows  int
		want        string
	}{
		{"blank rows go first", "a\r\nb", 10, 2, "a/b @1,1"},
		{"top rows go to the history", "a\r\nb\r\nc\r\nd", 10, 2, "c/d @1,1"},
		{"taller takes them back", "a\r\nb\r\nc\r\nd\r\ne", 10, 5, "a/b/c/d/e @4,1"},
		{"narrower wraps", "abcdefgh", 5, 4, "abcde/fgh @1,3"},
		{"wider joins", "abcdefghijkl", 20, 4, "abcdefghijkl @0,12"},
		{"pending wrap moves on", "abcdefghij", 20, 4, "abcdefghij @0,10"},
		{"the alternate screen is cut", "\x1b[?1049habcdefgh\r\nx", 4, 2, "abcd/x @1,1"},
		{"the cursor stays in sight", "a\r\nb\r\nc\r\nd\x1b[2;1H", 10, 2, "b/c @0,0"},
	} {
		term := newTest(t, 10, 4, c.input)
		term.Resize(c.cols, c.rows)
		if got := seen(term); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
