package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// testPage is an emulator, and a page that receives its screens.
type testPage struct {
	t      *testing.T
	term   vterm.Engine
	styles Styles
	sub    PageScreen
	page   Mirror
	table  map[int]MirrorStyle
	since  uint64
	n      uint64
	bytes  int
	thin   int // thin frames
	last   string
	view   Frame
}

func newTestPage(t *testing.T, cols, rows int) *testPage {
	t.Helper()
	return &testPage{t: t, term: vterm.New(vterm.Options{Cols: cols, Rows: rows}), table: map[int]MirrorStyle{}, view: Frame{ID: 1, Epoch: "e", Links: true}}
}

// frame sends a frame to the page.
func (s *testPage) frame() {
	s.t.Helper()
	var f vterm.Frame
	var sc render.Screen
	s.term.Frame(&f, vterm.Query{Since: s.since})
	render.FromFrame(&sc, &f)
	s.view.N, s.view.Screen = s.n+1, &sc
	b, nothing := s.sub.Append(nil, &s.styles, &s.view)
	s.since, s.last = f.Version, string(b)
	if nothing {
		return
	}
	s.n++
	s.bytes += len(b)
	take := s.page.Apply
	if _, thin := ThinID(b); thin {
		s.thin++
		take = s.page.ApplyThin
	}
	if n, err := take(b, s.table); err != nil || n != s.n {
		s.t.Fatalf("frame %d: %v\n%q", n, err, b)
	}
}

// print writes output to the emulator.
func (s *testPage) print(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.term, format, args...); err != nil {
		s.t.Fatal(err)
	}
}

// checkSame checks that the page shows the emulator's screen in the requested rows.
func (s *testPage) checkSame(what string) {
	s.t.Helper()
	var f vterm.Frame
	var sc render.Screen
	s.term.Frame(&f, vterm.Query{})
	render.FromFrame(&sc, &f)
	to := s.view.To
	if to == 0 || to > sc.Rows {
		to = sc.Rows
	}
	for i := s.view.From; i < to; i++ {
		var have, want Styles
		have.withLinks, want.withLinks = true, true
		l := sc.Lines[i]
		a, b := string(want.appendRow(nil, &l)), ""
		b = string(have.appendRow(nil, lineOf(i, &s.page.Lines[i])))
		if a != b || string(want.pending) != string(have.pending) {
			s.t.Fatalf("%s: row %d is\n%s %s, not\n%s %s\nlast frame %.2000s", what, i, b, have.pending, a, want.pending, s.last)
		}
	}
	if s.page.Title != sc.Title || s.page.Alt != sc.Alt || s.page.Cols != sc.Cols || fmt.Sprint(s.page.Cursor[:2]) != fmt.Sprint([]any{sc.Cursor.X, sc.Cursor.Y}) {
		s.t.Fatalf("%s: %+v, cursor %v, not %q %v %v", what, s.page.Title, s.page.Cursor, sc.Title, sc.Alt, sc.Cursor)
	}
}

// lineOf converts a row of the page to a line.
func lineOf(row int, l *MirrorLine) *render.Line {
	out := &render.Line{Row: row, Wrapped: l.Flags&1 != 0}
	switch {
	case l.Flags&8 != 0:
		out.Size = "double-bottom"
	case l.Flags&4 != 0:
		out.Size = "double-top"
	case l.Flags&2 != 0:
		out.Size = "double-width"
	}
	for _, p := range l.Spans {
		s := render.Span{Text: p.Text, FG: p.Style.FG, BG: p.Style.BG, FGIndex: p.Style.FI, BGIndex: p.Style.BI, Underline: p.Style.Underline, ULColor: p.Style.ULColor, Link: p.Style.Link}
		a := p.Style.Attrs
		s.Bold, s.Dim, s.Italic, s.Blink, s.Inverse, s.Conceal = a&bold != 0, a&dim != 0, a&italic != 0, a&blink != 0, a&inverse != 0, a&conceal != 0
		s.Strike, s.Overline = a&strike != 0, a&overline != 0
		for _, w := range p.Widths {
			s.Widths = append(s.Widths, int8(w))
		}
		out.Spans = append(out.Spans, s)
	}
	return out
}

// TestFrames_ShowScreen checks that the page shows the emulator's screen after any output: text, styles, wide
// characters, both screens, resizes, and scrolling up, down and within margins, for any requested rows.
//
// FEATURES: R83 R112
func TestFrames_ShowScreen(t *testing.T) {
	pieces := []string{
		"hello ", "\r\n", "\r\n\r\n", "漢字", "e\u0301", "\x1b[1;31mred\x1b[m", "\x1b[48;2;1;2;3mbg\x1b[m", "\x1b[4:3;58;5;9mwave\x1b[m",
		"\x1b[2J", "\x1b[H", "\x1b[5;3H", "\x1b[K", "\x1b[M", "\x1b[2L", "\x1b[2P", "\x1b[?1049h", "\x1b[?1049l", "\x1b[2;8r", "\x1b[r", "\x1bM", "\x1bD",
		"\x1b]8;;https://a.example/\x1b\\link\x1b]8;;\x1b\\", "\x1b]0;title <&>\x07", "\x1b#6wide\r\n", "\x1b#3top\r\n", "\t", "\x1b[3S", "\x1b[2T", "a<b>&\"\\\u2028",
		"long line that goes on and on and wraps into the next row for sure ", "\x1b[?1000h", "\x1b[?25l", "\x1b[?25h", "\x1b[4 q",
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newTestPage(t, 40, 12)
		s.view.Thin = seed%2 == 0
		for step := range 80 {
			for range 1 + r.IntN(4) {
				p := pieces[r.IntN(len(pieces))]
				if r.IntN(3) == 0 {
					p = fmt.Sprintf("line %d of %d\r\n", step, seed)
				}
				s.print("%s", p)
			}
			if r.IntN(20) == 0 {
				s.term.Resize(20+r.IntN(40), 4+r.IntN(20))
			}
			if r.IntN(10) == 0 { // another part of the screen
				s.view.From, s.since = r.IntN(4), 0
				s.view.To = s.view.From + 1 + r.IntN(8)*r.IntN(2)
				if s.view.To == s.view.From+1 {
					s.view.From, s.view.To = 0, 0
				}
			}
			s.frame()
			if _, rows := size(s.term); s.view.From < rows {
				s.checkSame(fmt.Sprintf("seed %d, step %d", seed, step))
			}
		}
	}
}

func size(e vterm.Engine) (cols, rows int) {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	return f.Cols, f.Rows
}

// TestFrames_ScrollIsSmall checks that a new line at the end of a log is sent as a scroll and one row.
//
// FEATURES: R112
func TestFrames_ScrollIsSmall(t *testing.T) {
	s := newTestPage(t, 120, 50)
	for i := range 100 {
		s.print("[%d] compiling module number %d with all its options\r\n", i, i)
	}
	s.frame()
	whole := s.bytes
	for i := range 20 {
		s.bytes = 0
		s.print("[%d] compiling module number %d with all its options\r\n", 100+i, 100+i)
		s.frame()
		s.checkSame("a line more")
		if s.bytes > 300 || !strings.Contains(s.last, `"scroll":[0,`) {
			t.Fatalf("%d bytes of %d: %s", s.bytes, whole, s.last)
		}
	}
	s.bytes = 0
	s.frame()
	if s.bytes != 0 {
		t.Errorf("unchanged screen: got %d bytes: %s", s.bytes, s.last)
	}
}

// TestStyles_Restart checks that a program with ever new colours restarts the style table, and the screen stays right.
func TestStyles_Restart(t *testing.T) {
	s := newTestPage(t, 80, 24)
	resets := 0
	for i := range 300 {
		s.print("\x1b[H")
		for j := range 80 * 24 / 10 {
			n := i*1000 + j
			s.print("\x1b[38;2;%d;%d;%dm0123456789", n>>16&255, n>>8&255, n&255)
		}
		s.frame()
		s.checkSame(fmt.Sprint("picture ", i))
		if len(s.styles.ids) > maxStyles {
			t.Fatalf("%d styles", len(s.styles.ids))
		}
		if strings.Contains(s.last, `"reset":true`) {
			resets++
		}
	}
	if resets == 0 {
		t.Error("got no restart of the table")
	}
}

// TestFrames_AfterReconnect checks that after a reconnect, a page gets the changed rows on a connection without styles.
//
// FEATURES: R83
func TestFrames_AfterReconnect(t *testing.T) {
	s := newTestPage(t, 80, 24)
	for i := range 20 {
		s.print("\x1b[3%dmrow %d\x1b[m\r\n", i%8, i)
	}
	s.frame()
	s.print("\x1b[5;1Hchanged while it was away")
	var delta, all vterm.Frame
	s.term.Frame(&delta, vterm.Query{Since: s.page.Version})
	s.term.Frame(&all, vterm.Query{})
	changed := map[int]bool{}
	for _, l := range delta.Lines {
		changed[l.Row] = true
	}
	s.styles, s.sub, s.table, s.since = Styles{}, PageScreen{}, map[int]MirrorStyle{}, 0
	var sc render.Screen
	render.FromFrame(&sc, &all)
	s.view.Screen = &sc
	s.sub.MarkKnown(&s.view, &s.styles, changed)
	s.frame()
	s.checkSame("again")
	if strings.Contains(s.last, "full") || strings.Count(s.last, "row ") > 1 || !strings.Contains(s.last, "while it was away") {
		t.Errorf("%s", s.last)
	}
}

func BenchmarkFlood(b *testing.B) {
	term := vterm.New(vterm.Options{Cols: 200, Rows: 60})
	var styles Styles
	var sub PageScreen
	var f vterm.Frame
	var sc render.Screen
	var out []byte
	var since uint64
	n := 0
	for b.Loop() {
		for range 60 {
			n++
			_, _ = fmt.Fprintf(term, "\x1b[3%dm%d\x1b[m some line of output that is of usual length, number %d\r\n", n%8, n, n)
		}
		term.Frame(&f, vterm.Query{Since: since})
		since = f.Version
		render.FromFrame(&sc, &f)
		out, _ = sub.Append(out[:0], &styles, &Frame{ID: 1, N: 1, Epoch: "e", Screen: &sc})
	}
	b.ReportMetric(float64(len(out)), "bytes/frame")
}
