package render

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// brief formats a line's spans for tests: textbriefcol+width{looks}.
func brief(l *Line) string {
	var parts []string
	for _, s := range l.Spans {
		looks := []string{}
		for _, a := range []struct {
			on   bool
			name string
		}{
			{s.Bold, "bold"}, {s.Dim, "dim"}, {s.Italic, "italic"}, {s.Blink, "blink"}, {s.Inverse, "inverse"},
			{s.Conceal, "conceal"}, {s.Strike, "strike"}, {s.Overline, "overline"}, {s.Underline != "", s.Underline},
			{s.FG != "", "fg" + s.FG}, {s.FGIndex != nil, "#"}, {s.BG != "", "bg" + s.BG}, {s.BGIndex != nil, "#"},
			{s.ULColor != "", "ul" + s.ULColor}, {s.Link != "", s.Link},
		} {
			if a.on {
				looks = append(looks, a.name)
			}
		}
		part := fmt.Sprintf("%s@%d+%d", s.Text, s.Col, s.Width)
		if len(looks) > 0 {
			part += "{" + strings.Join(looks, " ") + "}"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "|")
}

// FEATURES: R30, R31, R32
func TestSpans(t *testing.T) {
	cases := []struct{ name, output, text, spans string }{
		{"empty", "", "", ""},
		{"plain", "ab c", "ab c", "ab c@0+4"},
		{"equal styles merge", "\x1b[1ma\x1b[0;1mb\x1b[mc", "abc", "ab@0+2{bold}|c@2+1"},
		{"attributes", "\x1b[1;2;3;4;5;7;8;9;53mx", "x", "x@0+1{bold dim italic blink inverse conceal strike overline single}"},
		{"rapid blink", "\x1b[6mx", "x", "x@0+1{blink}"},
		{"underlines", "\x1b[4:3mx\x1b[21my", "xy", "x@0+1{curly}|y@1+1{double}"},
		{"palette", "\x1b[31;104mx", "x", "x@0+1{fg#cd0000 # bg#5c5cff #}"},
		{"cube", "\x1b[38;5;196mx\x1b[38;5;232my", "xy", "x@0+1{fg#ff0000 #}|y@1+1{fg#080808 #}"},
		{"direct", "\x1b[38;2;1;2;255mx", "x", "x@0+1{fg#0102ff}"},
		{"underline colour", "\x1b[4;58:2::16:32:48mx", "x", "x@0+1{single ul#102030}"},
		{"inverse is an attribute", "\x1b[7;31mx", "x", "x@0+1{inverse fg#cd0000 #}"},
		{"link", "\x1b]8;;http://a/\x1b\\x\x1b]8;;\x1b\\y", "xy", "x@0+1{http://a/}|y@1+1"},
		{"wide", "你好A", "你好A", "你好A@0+5"},
		{"wide, styled apart", "你\x1b[1m好\x1b[mA", "你好A", "你@0+2|好@2+2{bold}|A@4+1"},
		{"cluster", "e\u0301x", "e\u0301x", "e\u0301x@0+2"},
		{"written spaces stay", "a  ", "a  ", "a  @0+3"},
		{"padding goes", "a\x1b[5C", "a", "a@0+1"},
		{"padding between is blank", "\x1b[2Ca", "  a", "  a@0+3"},
		{"styled padding is a span", "ab\x1b[44m\x1b[K", "ab", "ab@0+2|        @2+8{bg#0000ee #}"},
		{"wide character that wrapped", "123456789你", "123456789", "123456789@0+9"},
	}
	for _, c := range cases {
		l := screenOf(native(10, 3), c.output).Lines[0]
		if l.Text != c.text || brief(&l) != c.spans {
			t.Errorf("%s: %q, %s; want %q, %s", c.name, l.Text, brief(&l), c.text, c.spans)
		}
	}
}

// FEATURES: R31
func TestSettablePalette(t *testing.T) {
	s := screenOf(native(10, 1), "\x1b]4;1;#123456\x1b\\\x1b[31mx")
	if got := brief(&s.Lines[0]); got != "x@0+1{fg#123456 #}" {
		t.Errorf("palette colour set by the program: %s", got)
	}
	s.DropColors()
	if got := brief(&s.Lines[0]); got != "x@0+1" {
		t.Errorf("without colours: %s", got)
	}
}

// FEATURES: R32
func TestCharacters(t *testing.T) {
	s := screenOf(native(20, 1), "a你e\u0301b👩\u200d👧c")
	var got []string
	s.Lines[0].Spans[0].Characters(func(text string, col, width int) bool {
		got = append(got, fmt.Sprintf("%s@%d+%d", text, col, width))
		return true
	})
	if want := "a@0+1 你@1+2 e\u0301@3+1 b@4+1 👩\u200d👧@5+2 c@7+1"; strings.Join(got, " ") != want {
		t.Errorf("%s; want %s", strings.Join(got, " "), want)
	}
}

// FEATURES: R33
func TestCursor(t *testing.T) {
	for _, e := range engines {
		c := screenOf(e.make(10, 3), "\x1b[5 q\x1b[2;4H").Cursor
		if want := (Cursor{X: 3, Y: 1, Visible: true, Shape: "bar", Blink: true}); c != want {
			t.Errorf("%s: %+v; want %+v", e.name, c, want)
		}
		if c := screenOf(e.make(10, 3), "\x1b[?25l\x1b[4 q").Cursor; c.Visible || c.Shape != "underline" || c.Blink {
			t.Errorf("%s: hidden steady underline is %+v", e.name, c)
		}
	}
}

func TestHistoryLines(t *testing.T) {
	e := native(10, 2)
	f := frameOf(e, "one\r\n\x1b[31mtwo\x1b[m\r\nthree\r\nfour")
	var lines []vterm.Line
	for i := range e.History().Len() {
		var l vterm.Line
		e.History().Line(i, &l)
		lines = append(lines, l)
	}
	got := Lines(nil, f, lines)
	if len(got) != 2 || got[0].Text != "one" || brief(&got[1]) != "two@0+3{fg#cd0000 #}" {
		t.Errorf("history: %+v", got)
	}
	if got := Lines(nil, f, nil); got == nil {
		t.Error("no lines are nil; that is null in JSON")
	}
}

// checkScreen checks invariants of any frame.
func checkScreen(t *testing.T, s *Screen) {
	t.Helper()
	for _, l := range s.Lines {
		text, col := "", 0
		for i := range l.Spans {
			p := &l.Spans[i]
			if p.Col != col || p.Width < 1 {
				t.Fatalf("row %d: span %d covers %d+%d after %d", l.Row, i, p.Col, p.Width, col)
			}
			at := p.Col
			p.Characters(func(text string, c, w int) bool {
				if c != at || text == "" {
					t.Fatalf("row %d: character %q at %d, want column %d", l.Row, text, c, at)
				}
				at += w
				return true
			})
			if at != p.Col+p.Width {
				t.Fatalf("row %d: %q ends at %d, its span at %d", l.Row, p.Text, at, p.Col+p.Width)
			}
			col, text = at, text+p.Text
		}
		if !strings.HasPrefix(text, l.Text) || strings.ContainsFunc(text, isControl) || !utf8.ValidString(text) {
			t.Fatalf("row %d: text %q, spans %q", l.Row, l.Text, text)
		}
	}
}

func FuzzFromFrame(f *testing.F) {
	f.Add([]byte("\x01abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{0, 0x1b, 0, 0x40, 0, 2, 0, 0, 0, 0, 0, 0x20, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		frame := garbage(data)
		var s Screen
		FromFrame(&s, frame)
		checkScreen(t, &s)
		checkJSON(t, &s)
		_ = Compat(&s)
		var whole Screen
		whole.Apply(&s)
		whole.Apply(&s)
		if len(whole.Lines) != whole.Rows {
			t.Fatalf("%d lines of %d rows", len(whole.Lines), whole.Rows)
		}
		for _, o := range []ANSIOptions{{}, {NoColor: true}, {Repaint: true}, {Repaint: true, Exact: true}} {
			checkHarmless(t, AppendANSI(nil, frame, o))
		}
	})
}

func BenchmarkFromFrame(b *testing.B) {
	f := frameOf(native(80, 24), busy())
	var s Screen
	b.ReportAllocs()
	for b.Loop() {
		FromFrame(&s, f)
	}
}

// busy is a full 80×24 screen as a coloured build log leaves it.
func busy() string {
	var out strings.Builder
	for i := range 40 {
		fmt.Fprintf(&out, "\r\n\x1b[1;32m[%2d/40]\x1b[m compile \x1b[36m%s.c\x1b[m: \x1b[38;5;%dmwarning\x1b[m: unused “x” at %d",
			i, strings.Repeat("file", 5), 100+i, i*37)
	}
	return out.String()
}
