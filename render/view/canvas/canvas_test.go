package canvas

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm"
)

// paper is a canvas on a terminal of a test.
func paper(t *testing.T, cols, rows int, noColor bool) (*Canvas, *screentest.Screen) {
	t.Helper()
	term := screentest.Started(t, cols, rows)
	c := New(term, noColor)
	return &c, term
}

// row returns the terminal's row, with dots for blanks.
func row(c *Canvas, term *screentest.Screen, y int) string {
	c.touched = true
	c.Show()
	return strings.ReplaceAll(term.Row(y), " ", ".")
}

// TestText checks that any text takes exactly its given columns, and that no control sequence passes.
//
// FEATURES: R76
func TestText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		w          int
		want       string
	}{
		{"fits", "abc", 3, "#abc##"},
		{"is filled up", "ab", 4, "#ab..#"},
		{"is cut", "abcdef", 3, "#abc##"},
		{"none", "", 3, "#...##"},
		{"wide", "你好", 4, "#你好#"},
		{"wide, cut in the middle", "你好", 3, "#你.##"},
		{"wide, for one column", "你", 1, "#.####"},
		{"control characters", "a\x1b[b\x07", 5, "#a?[b?"},
		{"C1 and no UTF-8", "\u009b\xff", 2, "#??###"},
		{"a combining mark", "e\u0301x", 3, "#e\u0301x.##"},
		{"no columns", "abc", 0, "######"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, term := paper(t, 6, 1, false)
			for x := range 6 {
				p.Put(x, 0, 1, "#", Plain)
			}
			p.Text(1, 0, c.w, c.text, Plain)
			if got := row(p, term, 0); got != c.want {
				t.Errorf("%q in %d columns: %q, want %q", c.text, c.w, got, c.want)
			}
		})
	}
}

// TestPut checks that a character takes the columns of the session's emulator, though tcell measures otherwise.
//
// FEATURES: R30 R76
func TestPut(t *testing.T) {
	for _, c := range []struct {
		name, text string
		w          int
		want       string
	}{
		{"a letter", "x", 1, "x##"},
		{"a wide one", "你", 2, "你#"},
		{"a wide one in one column", "你", 1, "?##"},
		{"a narrow one in two", "x", 2, "x.#"},
		{"a control character", "\x1b", 1, "?##"},
		{"no UTF-8", "\xff", 1, "?##"},
		{"nothing", "", 1, "?##"},
		{"a joiner at the end", "x\u200d", 1, "x##"},
		{"an emoji by its selector", "\u2764\ufe0f", 2, "\u2764.#"}, // terminals differ in its width
		{"a soft hyphen", "\u00ad", 1, "-##"},                       // which xterm and tmux show
		{"a dash of three ems", "⸻", 1, "—##"},
		{"a voiced sound in half the width", "ﾞ", 1, "\"##"},
		{"a vowel that would take a column more", "कि", 1, "क##"},
		{"a mark behind such a vowel", "কি\u0981", 1, "ক\u0981##"},
		{"a line where the font has none", "┼", 1, "┼##"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, term := paper(t, 3, 1, false)
			for x := range 3 {
				p.Put(x, 0, 1, "#", Plain)
			}
			p.Put(0, 0, c.w, c.text, Plain)
			if got := row(p, term, 0); got != c.want {
				t.Errorf("%q in %d: %q, want %q", c.text, c.w, got, c.want)
			}
		})
	}
	if fitText("┼", 0) != "+" || fitText("你", 1) != "?" {
		t.Errorf("replacements: %q, %q", fitText("┼", 0), fitText("你", 1))
	}
}

// TestRestyle checks that a change of style changes no character, and that a wide one over the edge keeps its own
// style.
func TestRestyle(t *testing.T) {
	p, term := paper(t, 6, 1, false)
	p.Text(0, 0, 6, "ab你好", Plain)
	p.Restyle(1, 0, 4, Plain.Bold(true))
	if got := row(p, term, 0); got != "ab你好" {
		t.Errorf("%q", got)
	}
	for x, bold := range map[int]bool{0: false, 1: true, 2: true, 4: false} {
		_, st, _ := term.Get(x, 0)
		if got := st == Plain.Bold(true); got != bold {
			t.Errorf("column %d bold: %v", x, got)
		}
	}
	p.Dots(0, 0, 3, Plain)
	if got := row(p, term, 0); got != "···.好" {
		t.Errorf("dots: %q", got)
	}
}

// screenOf returns the screen after a program's output, as spans.
func screenOf(cols int, output string) *render.Screen {
	e := vterm.New(vterm.Options{Cols: cols, Rows: 2})
	_, _ = e.Write([]byte(output))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	s := &render.Screen{}
	render.FromFrame(s, &f)
	return s
}

// TestLine checks that a line of a screen is shown from any column on, cut or filled to its space.
//
// FEATURES: R76
func TestLine(t *testing.T) {
	for _, c := range []struct {
		name, output  string
		cols, left, w int
		want          string
	}{
		{"as it is", "abc", 5, 0, 5, "|abc..|"},
		{"wider than the screen", "abc", 3, 0, 5, "|abc..|"},
		{"narrower", "abcdef", 6, 0, 3, "|abc|"},
		{"from a column on", "abcdef", 6, 2, 3, "|cde|"},
		{"from beyond its end", "abc", 6, 4, 3, "|...|"},
		{"with a gap", "a\x1b[5Gb", 6, 0, 6, "|a...b.|"},
		{"spans of several looks", "a\x1b[1mb\x1b[0;31mc", 6, 1, 4, "|bc..|"},
		{"wide characters", "你好吗", 6, 0, 6, "|你好吗|"},
		{"cut in a wide character", "你好吗", 6, 0, 3, "|你.|"},
		{"begun in a wide character", "你好吗", 6, 1, 4, "|.好.|"},
		{"concealed", "a\x1b[8msecret\x1b[0mb", 8, 0, 8, "|a......b|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, term := paper(t, c.w+2, 1, false)
			p.Put(0, 0, 1, "|", Plain)
			p.Put(c.w+1, 0, 1, "|", Plain)
			p.Line(layout.Rect{X: 1, Y: 0, W: c.w, H: 1}, &screenOf(c.cols, c.output).Lines[0], c.cols, c.left, false)
			if got := row(p, term, 0); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	p, term := paper(t, 4, 1, false)
	p.Text(0, 0, 4, "old", Plain)
	p.Line(layout.Rect{X: 0, Y: 0, W: 4, H: 1}, nil, 4, 0, true)
	if got := row(p, term, 0); got != "" && strings.Trim(got, ".") != "" {
		t.Errorf("a row below the screen: %q", got)
	}
}

// TestLooks checks the style of a program's text on the user's terminal: palette colours stay the user's own, and
// without colours the attributes remain.
//
// FEATURES: R31
func TestLooks(t *testing.T) {
	for _, c := range []struct {
		name, sgr string
		reverse   bool
		noColor   bool
		want      tcell.Style
	}{
		{"none", "", false, false, Plain},
		{"bold, italic", "1;3", false, false, Plain.Bold(true).Italic(true)},
		{"dim, blink, strike", "2;5;9", false, false, Plain.Dim(true).Blink(true).StrikeThrough(true)},
		{"of the palette", "31;104", false, false, Plain.Foreground(tcell.PaletteColor(1)).Background(tcell.PaletteColor(12))},
		{"of 256", "38;5;200", false, false, Plain.Foreground(tcell.PaletteColor(200))},
		{"true colour", "38;2;1;2;3", false, false, Plain.Foreground(tcell.NewHexColor(0x010203))},
		{"reversed", "7", false, false, Plain.Reverse(true)},
		{"reversed on a reversed screen", "7", true, false, Plain},
		{"on a reversed screen", "1", true, false, Plain.Bold(true).Reverse(true)},
		{"curly underline of a colour", "4:3;58:2::9:8:7", false, false, Plain.Underline(tcell.UnderlineStyleCurly).Underline(tcell.NewHexColor(0x090807))},
		{"double underline", "21", false, false, Plain.Underline(tcell.UnderlineStyleDouble)},
		{"without colours", "1;31;44;4:3;58:2::9:8:7", false, true, Plain.Bold(true).Underline(tcell.UnderlineStyleCurly)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := paper(t, 4, 1, c.noColor)
			s := screenOf(4, "\x1b["+c.sgr+"mx")
			if got := p.style(&s.Lines[0].Spans[0], c.reverse); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	if got := color("nonsense", nil); got != tcell.ColorDefault {
		t.Errorf("no colour: %v", got)
	}
	p, _ := paper(t, 4, 1, false)
	s := screenOf(4, "\x1b]8;;http://x\x07l")
	if got := p.style(&s.Lines[0].Spans[0], false); got != Plain.Url("http://x") {
		t.Errorf("a link: %+v", got)
	}
}

// TestNothingIsDrawnTwice checks that unchanged cells are not sent again.
func TestNothingIsDrawnTwice(t *testing.T) {
	p, term := paper(t, 4, 2, false)
	shows := func() int { _, n := term.Drawn(); return n }
	p.Clear()
	p.Show()
	shows()
	if p.Show(); shows() != 0 {
		t.Error("flushed without a drawing")
	}
	p.ShowCursor(1, 1, tcell.CursorStyleSteadyBar)
	if p.Show(); shows() != 1 || term.Style() != tcell.CursorStyleSteadyBar {
		t.Error("the cursor is not shown")
	}
	p.ShowCursor(1, 1, tcell.CursorStyleSteadyBar)
	if p.Show(); shows() != 0 {
		t.Error("cursor shown again at its position")
	}
	p.HideCursor()
	if p.Show(); shows() != 1 {
		t.Error("the cursor is not hidden")
	}
	p.HideCursor()
	if p.Show(); shows() != 0 {
		t.Error("hidden twice")
	}
	if w, h := p.Size(); w != 4 || h != 2 {
		t.Errorf("%d×%d", w, h)
	}
}

func TestCursorStyle(t *testing.T) {
	for want, c := range map[tcell.CursorStyle]render.Cursor{
		tcell.CursorStyleBlinkingUnderline: {Shape: "underline", Blink: true}, tcell.CursorStyleSteadyUnderline: {Shape: "underline"},
		tcell.CursorStyleBlinkingBar: {Shape: "bar", Blink: true}, tcell.CursorStyleSteadyBar: {Shape: "bar"}, tcell.CursorStyleDefault: {Shape: "block"},
	} {
		if got := CursorStyle(c); got != want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if Printable("a\x1bb\u009bc\td\u202ee\u2066") != "a?b?c d?e?" || TextWidth("a你") != 3 {
		t.Error("texts are measured or cleaned differently")
	}
}

func TestBefore(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "bc"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"", -1, ""},
		{"漢字a", 3, "字a"},
		{"漢字a", 4, "字a"},
		{"ae\u0301", 1, "e\u0301"},
		{"👨‍👩‍👧‍👦x", 1, "x"},
	} {
		if got := c.text[OverflowBytes(c.text, c.columns):]; got != c.want {
			t.Errorf("of %q in %d columns %q is left, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// TestImages_BlankUnderOverride checks that blocks of an image are blank if all is drawn in one style: their colours
// were the image.
//
// FEATURES: R120
func TestImages_BlankUnderOverride(t *testing.T) {
	c, term := paper(t, 8, 1, false)
	s := screenOf(12, "ab▀▀▀▀▀▀▀cde")
	s.Lines[0].Pictures = []render.Picture{{Col: 2, Width: 3}, {Col: 6, Width: 3}, {Col: 20, Width: 3}}
	for _, want := range []string{"b▀▀▀▀▀▀▀", "b...▀"} {
		if c.Line(layout.Rect{W: 8, H: 1}, &s.Lines[0], 12, 1, false); row(c, term, 0) != want {
			t.Errorf("%q, want %q", row(c, term, 0), want)
		}
		c.SetOverride(&Plain)
	}
}
