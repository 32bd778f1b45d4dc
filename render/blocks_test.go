package render

import (
	"context"
	"encoding/base64"
	"reflect"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// FEATURES: R36
func TestBlocks(t *testing.T) {
	s := &Screen{}
	// Two by four pixels, one of them transparent and one pair of them, on two by two cells.
	pixels := []byte{
		255, 0, 0, 255, 0, 0, 0, 0,
		0, 0, 255, 255, 0, 255, 0, 255,
		1, 2, 3, 255, 0, 0, 0, 0,
		9, 9, 9, 0, 0, 0, 0, 0,
	}
	FromFrame(s, frameOf(vterm.New(vterm.Options{Cols: 10, Rows: 4}),
		"ab\x1b_Ga=T,f=32,s=2,v=4,c=2,r=2;"+base64.StdEncoding.EncodeToString(pixels)+"\x1b\\cd\r\nplain\x1b_Ga=T,f=100,c=2,r=1;AAAA\x1b\\"))
	plain := s.Lines[2].Spans
	var b Blocks
	b.Show(t.Context(), s)
	type cell struct {
		text   string
		col    int
		fg, bg string
	}
	var got []cell
	for _, l := range s.Lines[:2] {
		for _, sp := range l.Spans {
			got = append(got, cell{sp.Text, sp.Col, sp.FG, sp.BG})
		}
	}
	want := []cell{
		{"ab", 0, "", ""}, {"▀", 2, "#ff0000", "#0000ff"}, {"▄", 3, "#00ff00", ""},
		{"  ", 0, "", ""}, {"▀", 2, "#010203", ""}, {" ", 3, "", ""}, {"cd", 4, "", ""},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if !reflect.DeepEqual(s.Lines[2].Spans, plain) || s.Lines[0].Text != "ab  " {
		t.Errorf("an image that is none: %+v; the text %q", s.Lines[2].Spans, s.Lines[0].Text)
	}
}

// TestBlocksAbove renders images in the scrollback as blocks too. If the time is up before they are scaled, they are
// still listed; the newest are scaled first.
//
// FEATURES: R36, R120
func TestBlocksAbove(t *testing.T) {
	e := vterm.New(vterm.Options{Cols: 10, Rows: 3})
	f := frameOf(e, "ab\x1b_Ga=T,f=24,s=1,v=2,c=3,r=2;/wAAAAD/\x1b\\\r\n\n\n\n\nend")
	var lines []vterm.Line
	for i := range e.History().Len() {
		var l vterm.Line
		e.History().Line(i, &l)
		lines = append(lines, l)
	}
	e.Frame(f, vterm.Query{HistoryTo: len(lines)})
	ended, end := context.WithCancel(t.Context())
	end()
	for want, ctx := range map[string]context.Context{"▀▀▀": t.Context(), "   ": ended} {
		s := &Screen{}
		FromFrame(s, f)
		s.Scrollback = Lines(nil, f, lines)
		if !s.HasImages() {
			t.Fatal("no image is found")
		}
		(&Blocks{Images: true}).Show(ctx, s)
		for y, l := range s.Scrollback[:2] {
			if len(l.Pictures) != 1 || l.Pictures[0] != (Picture{Key: l.Pictures[0].Key, Col: 2, Width: 3, Y: y, Cols: 3, Rows: 2}) {
				t.Fatalf("row %d: %+v", y, l.Pictures)
			}
			if got := l.Spans[1].Text; got != want {
				t.Errorf("row %d is %q, want %q", y, got, want)
			}
		}
		if s.Scrollback[2].Pictures != nil {
			t.Errorf("%+v", s.Scrollback[2])
		}
	}
}
