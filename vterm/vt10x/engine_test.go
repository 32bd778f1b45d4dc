package vt10x

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

func newTest(cols, rows int, in ...string) *Engine {
	e := New(vterm.Options{Cols: cols, Rows: rows})
	for _, s := range in {
		_, _ = e.Write([]byte(s))
	}
	return e
}

// screenText returns the screen's text, rows joined by "|", without trailing blanks.
func screenText(e *Engine) string {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	return frameText(&f)
}

func frameText(f *vterm.Frame) string {
	var rows []string
	for _, l := range f.Lines {
		var b []byte
		for _, c := range l.Cells {
			b = f.AppendText(b, c)
		}
		rows = append(rows, strings.TrimRight(string(b), " "))
	}
	return strings.TrimRight(strings.Join(rows, "|"), "|")
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "hi\r\nthere", "hi|there"},
		{"wrap", "0123456789ab", "0123456789|ab"},
		{"backspace and tab", "abc\bX\tY", "abX     Y"},
		{"cursor position with parts left out", "\x1b[;3Hx\x1b[2Hy", "  x|y"},
		{"counts of 0 are 1", "abc\x1b[0D\x1b[0@X", "abXc"},
		{"insert and delete characters", "abcdef\x1b[1;2H\x1b[2P\x1b[2@", "a  def"},
		{"insert and delete lines", "a\r\nb\r\nc\x1b[2;1H\x1b[L\x1b[H\x1b[M", "|b"},
		{"erase above on row 1", "a\r\nb\x1b[1J", ""},
		{"margins out of order are ignored", "a\x1b[3;2rb", "ab"},
		{"scroll region", "1\r\n2\r\n3\x1b[2;3r\x1b[3;1H\n4", "1|3|4"},
		{"alignment test", "\x1b#8", "EEEEEEEEEE|EEEEEEEEEE|EEEEEEEEEE"},
		{"reset clears all", "\x1b#8\x1bc", ""},
		{"reset from the alternate screen", "a\x1b[?1049hb\x1bcc", "c"},
		{"alternate screen and back", "a\x1b[?1049hbbb\x1b[?1049lc", "ac"},
		{"leaving a screen that was not entered", "a\x1b[?1047lb", "ab"},
		{"repeat", "ab\x1b[3b", "abbbb"},
		{"special graphics", "\x1b(0lqk\x1b(Bq", "┌─┐q"},
		{"special graphics by SO", "\x1b)0a\x0eq\x0fq", "a─q"},
		{"single shift", "\x1b*0\x1bNqq", "─q"},
		{"CAN ends a sequence", "a\x1b[3\x18b", "ab"},
		{"ESC begins a new sequence", "a\x1b[3\x1b[2Cb", "a  b"},
		{"controls run inside a sequence", "ab\x1b[2\bCc", "ab c"},
		{"strings are swallowed", "a\x1bPq123\x1b\\\x1b_x\x1b\\\x1b^y\x1b\\\x1bXz\x1b\\\x1b]999;t\x07b", "ab"},
		{"a string ends at CAN", "a\x1bPxyz\x18b", "ab"},
		{"a string ends at another sequence", "a\x1b]0;xyz\x1b[Cb", "a b"},
		{"C1 as UTF-8", "a\u009b2Cb", "a  b"},
		{"unknown sequences", "a\x1b[>4;1m\x1b[?1$x\x1b[1$w\x1b%Gb", "ab"},
		{"a sequence too long", "a\x1b[" + strings.Repeat("1", 2000) + "Cb", "ab"},
		{"wide", "你好A", "你好A"},
		{"wide at the edge", "012345678你", "012345678|你"},
		{"wide halved", "你\x1b[1;2Hx", " x"},
		{"wide halved from the left", "你\x1b[1;1Hx", "x"},
		{"combining", "e\u0301x\u0302", "e\u0301x\u0302"},
		{"combining on wide", "你\u0301x", "你\u0301x"},
		{"combining at the edge", "012345678e\u0301x", "012345678e\u0301|x"},
		{"combining with nothing", "\u0301x", "x"},
		{"invalid UTF-8", "a\xffb\xe2\x82c\xc0\x80d", "a\ufffdb\ufffdc\ufffd\ufffdd"},
		{"title of screen", "\x1bkname\x1b\\x", "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := screenText(newTest(10, 3, tt.in)); got != tt.want {
				t.Errorf("%q shows %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	rgb, idx := vterm.RGB, vterm.Index
	for _, tt := range []struct {
		in   string
		want vterm.Style
	}{
		{"1;2;3;5;7;8;9;53", vterm.Style{Attrs: vterm.Bold | vterm.Faint | vterm.Italic | vterm.Blink |
			vterm.Inverse | vterm.Conceal | vterm.Strike | vterm.Overline}},
		{"1;31", vterm.Style{Attrs: vterm.Bold, FG: idx(1)}}, // not made bright, as the library does
		{"97;100", vterm.Style{FG: idx(15), BG: idx(8)}},
		{"38;5;200;48;5;17", vterm.Style{FG: idx(200), BG: idx(17)}},
		{"38;2;0;0;1;48;2;1;2;3", vterm.Style{FG: rgb(0, 0, 1), BG: rgb(1, 2, 3)}},
		{"38:2:1:2:3", vterm.Style{FG: rgb(1, 2, 3)}},
		{"38:2::1:2:3", vterm.Style{FG: rgb(1, 2, 3)}},
		{"38:5:9;1", vterm.Style{FG: idx(9), Attrs: vterm.Bold}},
		{"58;5;3;4:3", vterm.Style{ULColor: idx(3), Underline: vterm.UnderlineCurly}},
		{"4", vterm.Style{Underline: vterm.UnderlineSingle}},
		{"21", vterm.Style{Underline: vterm.UnderlineDouble}},
		{"4;4:0", vterm.Style{}},
		{"1;31;", vterm.Style{}},
		{"31;39;41;49;7;27", vterm.Style{}},
		{"38;5", vterm.Style{}},
		{"38;2;1;2", vterm.Style{}},
		{"38;5;300;1", vterm.Style{Attrs: vterm.Bold}},
	} {
		e := newTest(10, 2, "\x1b["+tt.in+"mx")
		var f vterm.Frame
		e.Frame(&f, vterm.Query{})
		if got := f.Style(f.Lines[0].Cells[0]); got != tt.want {
			t.Errorf("SGR %s: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestBlankAndWrittenDiffer(t *testing.T) {
	e := newTest(10, 3, "a  \r\n\x1b[44m\x1b[K")
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	if n := len(f.Lines[0].Cells); n != 3 || f.Lines[0].Cells[2].Rune() != ' ' {
		t.Errorf("a row of \"a  \" has %d cells", n)
	}
	l := f.Lines[1]
	if len(l.Cells) != 10 || !l.Cells[9].Blank() || f.Style(l.Cells[9]).BG != vterm.Index(4) {
		t.Errorf("an erased row keeps no background: %v", l.Cells)
	}
	if len(f.Lines[2].Cells) != 0 {
		t.Error("an untouched row has cells")
	}
}

func TestWideCells(t *testing.T) {
	e := newTest(3, 2, "a你好")
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	want := [][]int{{vterm.WidthNarrow, vterm.WidthWide, vterm.WidthTail}, {vterm.WidthWide, vterm.WidthTail}}
	for y, kinds := range want {
		for x, k := range kinds {
			if got := f.Lines[y].Cells[x].Width(); got != k {
				t.Errorf("cell %d,%d has width kind %d, want %d", y, x, got, k)
			}
		}
	}
	if !f.Lines[0].Wrapped || f.Lines[1].Wrapped {
		t.Error("the soft wrap is lost")
	}
}

func TestLink(t *testing.T) {
	e := newTest(10, 1, "\x1b]8;id=7;http://x/\x1b\\a\x1b[0mb\x1b]8;;\x1b\\c")
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	want := vterm.Link{ID: "7", URI: "http://x/"}
	c := f.Lines[0].Cells
	if l := f.Style(c[1]).Link; l == 0 || f.Links[l] != want || f.Style(c[0]) != f.Style(c[1]) || f.Style(c[2]).Link != 0 {
		t.Errorf("links %v of %v", f.Links, c)
	}
}

func TestResize(t *testing.T) {
	e := newTest(10, 3, "0123456789\r\nb")
	e.Resize(5, 2)
	e.Resize(20, 4)
	if got := screenText(e); got != "01234|b" {
		t.Errorf("shows %q", got)
	}
	_, _ = e.Write([]byte("\x1b[H\t\tx"))
	if got := screenText(e); got != "01234           x|b" {
		t.Errorf("no tab stops in the new columns: %q", got)
	}
	for _, s := range [][2]int{{0, 0}, {-1, 1}, {1, 1}, {1000, 1000}, {80, 24}} {
		e.Resize(s[0], s[1])
		_, _ = e.Write([]byte("x\x1b[1000C\x1b[1000B你\r\n"))
		var f vterm.Frame
		e.Frame(&f, vterm.Query{})
		if !f.Full || !vterm.ValidSize(f.Cols, f.Rows) || f.Cursor.Row >= f.Rows || f.Cursor.Col >= f.Cols {
			t.Errorf("%v: frame %d×%d full=%v cursor %+v", s, f.Cols, f.Rows, f.Full, f.Cursor)
		}
	}
}

func TestResize_RequestedByOutput(t *testing.T) {
	const in = "abc\x1b[8;2;2tdef\x1b[8;4096;4096t"
	for _, fixed := range []bool{false, true} {
		e := New(vterm.Options{Cols: 10, Rows: 3, FixedSize: fixed})
		_, _ = e.Write([]byte(in))
		want := "ad|ef" // the cursor was beyond the new edge
		if fixed {
			want = "abcdef"
		}
		if got := screenText(e); got != want || len(e.Events(nil)) != 1 {
			t.Errorf("fixed %v: %q, want %q", fixed, got, want)
		}
	}
}

func TestSizeIsClamped(t *testing.T) {
	e := New(vterm.Options{Cols: vterm.MaxCols * 2, Rows: -1})
	if e.cols != vterm.MaxCols || e.rows != 24 {
		t.Errorf("size %d×%d", e.cols, e.rows)
	}
}

// TestPanicIsSurvived checks that panics of the library, which csi.go prevents, leave a usable screen.
func TestPanicIsSurvived(t *testing.T) {
	e := newTest(10, 3, "\x1b[31mabc\r\nde")
	for _, hostile := range []string{"\x1b[9223372036854775807@", "\x1b[-1P"} {
		before := e.grid.term
		e.feed([]byte(hostile))
		if e.grid.term == before {
			t.Errorf("the library took %q", hostile)
		}
	}
	_, _ = e.Write([]byte("f"))
	if got := screenText(e); got != "abc|def" {
		t.Errorf("after panics: %q", got)
	}
}
