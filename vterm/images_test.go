package vterm

import (
	"strings"
	"testing"
)

// Where an image's first cell is stays known when its rows scroll, also above the screen.
//
// FEATURES: R112
func TestPlaced(t *testing.T) {
	term := newTest(t, 20, 6)
	if term.Frame(&Frame{}, Query{}); testing.AllocsPerRun(10, func() { term.placed(term.scr) }) > 0 {
		t.Error("a screen without images costs something")
	}
	feed(term, "ab\x1b_Ga=T,f=24,s=1,v=1,c=3,r=4;AAAA\x1b\\")
	at := func() map[int]Place {
		var f Frame
		term.Frame(&f, Query{})
		return f.Placed
	}
	for _, c := range []struct {
		what, input string
		row, col    int
	}{
		{"where it was put", "", 0, 2},
		{"scrolled by one", "\x1b[6;1H\n", -1, 2},
		{"its first column is written over", "\x1b[1;3Hx\x1b[2;3Hx\x1b[3;3Hx", -1, 3},
		{"scrolled by three", "\x1b[6;1H\n\n", -3, 3},
	} {
		feed(term, c.input)
		if got := at(); len(got) != 1 || got[1] != (Place{c.row, c.col, 3, 4}) {
			t.Errorf("%s: %v, want %d, %d", c.what, got, c.row, c.col)
		}
	}
	if wide, high := term.spread(&Placement{Image: &Image{Format: ImageSixel, Width: 20, Height: 36}, Cols: 3, Rows: 3}); wide != 2.5 || high != 2.25 {
		t.Errorf("an image that is not stretched is spread over %v × %v", wide, high)
	}
	feed(term, strings.Repeat("\n", 20))
	if got := at(); got != nil {
		t.Errorf("what scrolled away is at %v", got)
	}
}
