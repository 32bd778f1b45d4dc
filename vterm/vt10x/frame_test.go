package vt10x

import (
	"fmt"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

func changedRows(e *Engine, q vterm.Query) (rows []int, f vterm.Frame) {
	e.Frame(&f, q)
	for _, l := range f.Lines {
		rows = append(rows, l.Row)
	}
	return rows, f
}

// FEATURES: R35
func TestOnlyChangedRows(t *testing.T) {
	e := newTest(10, 4, "a\r\nb\r\nc")
	_, f := changedRows(e, vterm.Query{})
	for _, step := range []struct {
		in   string
		want []int
	}{
		{"", nil},
		{"\x1b[H", nil},       // the cursor only
		{"a\x1b[2;1Hb", nil},  // the same again
		{"\x1b[Hx", []int{0}}, //
		{"\x1b[4;1Hx\x1b[2;1H\x1b[1my", []int{1, 3}},
		{"\x1b[H\x1b[2K\rx", []int{0}},
		{"\x1b[1;1H\x1b[mx", []int{0}},
	} {
		_, _ = e.Write([]byte(step.in))
		since := f.Version
		var rows []int
		rows, f = changedRows(e, vterm.Query{Since: since})
		if !slices.Equal(rows, step.want) || f.Full {
			t.Errorf("after %q rows %v (full %v), want %v", step.in, rows, f.Full, step.want)
		}
		if step.in == "" && f.Version != since {
			t.Error("the version grew without a change")
		}
		if step.in != "" && step.want != nil && f.Version == since {
			t.Errorf("after %q the version did not grow", step.in)
		}
	}
}

func TestVersionGrowsWithLooks(t *testing.T) {
	e := newTest(10, 4)
	for _, in := range []string{
		"\x1b[2;2H", "\x1b[?25l", "\x1b]2;t\x07", "\x1b[4 q", "\x1b[?5h", "\x1b]11;#123456\x07", "\x1b[?1049h",
	} {
		v := e.Version()
		if _, _ = e.Write([]byte(in)); e.Version() <= v {
			t.Errorf("%q did not count as a change", in)
		}
	}
}

// FEATURES: R33, R34
func TestScreens(t *testing.T) {
	e := newTest(10, 2, "primary\x1b[?1049halt\x1b[?25l\x1b[6 q")
	for _, tt := range []struct {
		screen vterm.ScreenKind
		want   string
	}{{vterm.ScreenActive, "       alt"}, {vterm.ScreenPrimary, "primary"}, {vterm.ScreenAlternate, "       alt"}} {
		_, f := changedRows(e, vterm.Query{Screen: tt.screen})
		if got := frameText(&f); got != tt.want || !f.Alt {
			t.Errorf("screen %d shows %q (alt %v), want %q", tt.screen, got, f.Alt, tt.want)
		}
		if c := f.Cursor; c.Visible || c.Shape != vterm.CursorBar || c.Blink || c.Col != 9 || !c.Pending {
			t.Errorf("cursor %+v", c)
		}
	}
	_, f := changedRows(e, vterm.Query{})
	_, _ = e.Write([]byte("\x1b[?1049l"))
	if rows, f := changedRows(e, vterm.Query{Since: f.Version}); !f.Full || f.Alt || len(rows) != 2 {
		t.Errorf("after leaving the alternate screen: full %v, alt %v", f.Full, f.Alt)
	}
}

func TestFrameIsReused(t *testing.T) {
	e := newTest(80, 24)
	for i := range 24 {
		fmt.Fprintf(e, "\x1b[%d;1H\x1b[3%dmline %d", i+1, i%8, i)
	}
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	if n := testing.AllocsPerRun(100, func() {
		e.dirty = true
		e.Frame(&f, vterm.Query{})
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestFrameIsACopy checks that a frame does not change while the engine continues.
func TestFrameIsACopy(t *testing.T) {
	e := newTest(10, 1, "\x1b[31mabc")
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	_, _ = e.Write([]byte("\r\x1b[32mxyz\x1b]4;1;#fff\x07"))
	if frameText(&f) != "abc" || f.Style(f.Lines[0].Cells[0]).FG != vterm.Index(1) || *f.Palette != *vterm.DefaultPalette() {
		t.Error("the frame changed")
	}
}

func TestTablesAreCompacted(t *testing.T) {
	e := newTest(10, 2, "\x1b]8;;http://keep/\x1b\\\x1b[1mk\u0301\x1b]8;;\x1b\\\x1b[2;1H")
	for i := range 3 * maxEntries {
		fmt.Fprintf(e, "\r\x1b[38;2;%d;%d;7mx", i>>8, i&255)
	}
	if len(e.styles) > maxEntries+8 {
		t.Errorf("%d styles are kept", len(e.styles))
	}
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	s := f.Style(f.Lines[0].Cells[0])
	if frameText(&f) != "k\u0301|x" || s.Attrs != vterm.Bold || f.Links[s.Link].URI != "http://keep/" {
		t.Errorf("after compaction %q in %+v, links %v", frameText(&f), s, f.Links)
	}
	last := 3*maxEntries - 1
	if fg := f.Style(f.Lines[1].Cells[0]).FG; fg != vterm.RGB(uint8(last>>8), uint8(last), 7) {
		t.Errorf("the last style became %x", uint32(fg))
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, chunk := range map[string]string{
		"plain":    "the quick brown fox jumps over the lazy dog, again and again\r\n",
		"coloured": "\x1b[32mok\x1b[0m   \x1b[1;34mpkg/name\x1b[0m \x1b[38;5;244m0.123s\x1b[0m\r\n",
		"wide":     "你好，世界。終端機\r\n",
	} {
		b.Run(name, func(b *testing.B) {
			e := New(vterm.Options{})
			p := []byte(chunk)
			for len(p) < 32<<10 {
				p = append(p, chunk...)
			}
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				_, _ = e.Write(p)
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	e := newTest(80, 24)
	for range 24 {
		fmt.Fprintf(e, "\x1b[32mok\x1b[0m   \x1b[1;34mpkg/name\x1b[0m \x1b[38;5;244m0.123s\x1b[0m and so on\r\n")
	}
	var f vterm.Frame
	for b.Loop() {
		e.dirty = true
		e.Frame(&f, vterm.Query{})
	}
}
