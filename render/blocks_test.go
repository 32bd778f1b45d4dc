package render

import (
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
