package render

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/vt10x"
)

// engines lists both emulators: rendering must not depend on which one made the screen.
var engines = []struct {
	name string
	make func(cols, rows int) vterm.Engine
}{
	{"native", native},
	{"vt10x", func(cols, rows int) vterm.Engine { return vt10x.New(vterm.Options{Cols: cols, Rows: rows}) }},
}

func native(cols, rows int) vterm.Engine { return vterm.New(vterm.Options{Cols: cols, Rows: rows}) }

// frameOf is the screen after some output.
func frameOf(e vterm.Engine, output string) *vterm.Frame {
	_, _ = e.Write([]byte(output))
	f := &vterm.Frame{}
	e.Frame(f, vterm.Query{})
	return f
}

// deltaOf returns the changes since a version.
func deltaOf(e vterm.Engine, since uint64) *vterm.Frame {
	f := &vterm.Frame{}
	e.Frame(f, vterm.Query{Since: since})
	return f
}

func screenOf(e vterm.Engine, output string) *Screen {
	s := &Screen{}
	FromFrame(s, frameOf(e, output))
	return s
}

// garbage makes a frame that no engine would: cells are 8 bytes of data each.
func garbage(data []byte) *vterm.Frame {
	f := &vterm.Frame{
		Cols: 7, Rows: 5, Full: len(data)%2 == 0, Title: string(data[:min(len(data), 9)]),
		Styles:   []vterm.Style{{}, {FG: vterm.Index(3), Underline: 9}, {BG: vterm.Color(0xff000000), Link: 1}, {Link: 77}, {Attrs: 0xffff}},
		Clusters: []string{"", "e\u0301", "\x1b[31m", "a\xffb", "\u009b"},
		Links:    []vterm.Link{{}, {ID: "i\x07", URI: "http://x/\x1b\\\x1b[2J"}},
	}
	for row := 0; len(data) > 0; row++ {
		var l vterm.Line
		l.Row, l.Wrapped, l.Size = row-1, data[0]&1 != 0, vterm.LineSize(data[0]>>1)
		data = data[1:]
		for len(l.Cells) < 9 && len(data) > 0 {
			var c vterm.Cell
			for i := range min(8, len(data)) {
				c |= vterm.Cell(data[i]) << (8 * i)
			}
			if data[0]&3 != 0 { // most cells refer to styles that exist
				c = c.WithStyle(c.Style() % 6)
			}
			l.Cells = append(l.Cells, c)
			data = data[min(8, len(data)):]
		}
		f.Lines = append(f.Lines, l)
	}
	if n := len(f.Lines); n > 0 {
		f.Cursor = vterm.Cursor{Row: n / 2, Col: len(f.Lines[0].Cells), Pending: n%2 == 0, Shape: vterm.CursorShape(n), Visible: true}
	}
	return f
}

func fail(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
