package vterm

import (
	"encoding/base64"
	"maps"
	"math"
	"strings"
	"testing"
)

// TestPlaced checks that the position of an image's first cell stays known when its rows scroll, also above the screen.
//
// FEATURES: R112
func TestPlaced(t *testing.T) {
	term := newTest(t, 20, 6)
	if term.Frame(&Frame{}, Query{}); testing.AllocsPerRun(10, func() { term.findPlacements(term.scr) }) > 0 {
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
	if wide, high := term.coveredCells(&Placement{Image: &Image{Format: ImageSixel, Width: 20, Height: 36}, Cols: 3, Rows: 3}); wide != 2.5 || high != 2.25 {
		t.Errorf("an unscaled image covers %v × %v", wide, high)
	}
	feed(term, strings.Repeat("\n", 20))
	if got := at(); got != nil {
		t.Errorf("a scrolled-off image is at %v", got)
	}
}

// gifOf returns the header of a GIF of this size, in base64, without pixels.
func gifOf(w, h int) string {
	return base64.StdEncoding.EncodeToString([]byte{'G', 'I', 'F', '8', '9', 'a', byte(w), byte(w >> 8), byte(h), byte(h >> 8), 0, 0, 0, 0x3b})
}

// TestITermImages shows files of iTerm2 in the cells that their arguments select, whole and in parts, for any split of
// the stream.
//
// FEATURES: R30, R112
func TestITermImages(t *testing.T) {
	at := func(term *Terminal) (Place, int, int) {
		var f Frame
		term.Frame(&f, Query{})
		for _, p := range f.Placed {
			return p, f.Cursor.Row, f.Cursor.Col
		}
		return Place{}, f.Cursor.Row, f.Cursor.Col
	}
	file := func(args string) string { return "ab\x1b]1337;File=inline=1;" + args + ":" + gifOf(20, 36) + "\x07" }
	for _, c := range []struct {
		input    string
		place    Place
		row, col int
	}{
		{file(""), Place{0, 2, 2.5, 2.25}, 2, 5},
		{file("width=5"), Place{0, 2, 5, 4.5}, 4, 7},
		{file("width=5;height=2;preserveAspectRatio=0"), Place{0, 2, 5, 2}, 1, 7},
		{file("height=8"), Place{-2, 2, 8 / .9, 8}, 5, 11}, // scrolled
		{file("height=100%;doNotMoveCursor=1"), Place{0, 2, 6 / .9, 6}, 0, 2},
		{"\x1b]1337;MultipartFile=inline=1\x1b\\\x1b]1337;FilePart=" + gifOf(8, 16)[:8] + "\x1b\\x\x1b]1337;FilePart=" + gifOf(8, 16)[8:] + "\x07y\x1b]1337;FileEnd\x07", Place{0, 2, 1, 1}, 0, 3},
		{"\x1b]1337;File=:" + gifOf(8, 16) + "\x07", Place{}, 0, 0},
	} {
		for cut := range len(c.input) {
			term, again := newTest(t, 20, 6), newTest(t, 20, 6)
			feed(term, c.input[:cut])
			if err := again.Restore(term.AppendSnapshot(nil)); err != nil {
				t.Fatalf("%q cut at %d: %v", c.input, cut, err)
			}
			feed(again, c.input[cut:])
			if err := term.Restore(again.AppendSnapshot(nil)); err != nil {
				t.Fatalf("%q: %v", c.input, err)
			}
			place, row, col := at(term)
			near := math.Abs(place.Cols-c.place.Cols) < 1e-9 && math.Abs(place.Rows-c.place.Rows) < 1e-9
			place.Cols, place.Rows = c.place.Cols, c.place.Rows
			if !near || place != c.place || row != c.row || col != c.col {
				p, _, _ := at(term)
				t.Fatalf("%q cut at %d: %v, cursor %d, %d; want %v, %d, %d", c.input, cut, p, row, col, c.place, c.row, c.col)
			}
		}
	}
}

// TestITermFileIsLong checks that a file may exceed the limit of other operating system commands, and that other keys
// still work.
func TestITermFileIsLong(t *testing.T) {
	term := newTest(t, 20, 6)
	long := base64.StdEncoding.EncodeToString(append([]byte("GIF89a\x08\x00\x10\x00"), make([]byte, 3<<20)...))
	feed(term, "\x1b]1337;Fi")
	for i := 0; i < len(long); i += 1 << 16 {
		if i == 0 {
			feed(term, "le=inline=1:")
		}
		feed(term, long[i:min(i+1<<16, len(long))])
	}
	feed(term, "\x07\x1b]1337;CurrentDir=/x\x07")
	if n := len(term.images.Images); n != 1 || len(term.images.Images[0].Data) != 3<<20+10 {
		t.Errorf("%d images", n)
	}
	if e := term.Events(nil); len(e) != 1 || e[0].Kind != EventCwd {
		t.Errorf("%v", e)
	}
	term = newTest(t, 20, 6, "\x1b]1337;File=inline=1:"+long+"\x07")
	if len(term.images.Images) != 1 {
		t.Error("a complete file is rejected")
	}
	term = newTest(t, 20, 6, "\x1b]1337;Xile=inline=1:"+long+"\x07x")
	if len(term.images.Images) != 0 || text(term) != "x" {
		t.Errorf("%q", text(term))
	}
}

// TestPlacedAbove finds images in history lines: whole if they start above the requested lines, and by their end if
// their start was dropped.
//
// FEATURES: R112
func TestPlacedAbove(t *testing.T) {
	term := New(Options{Cols: 20, Rows: 4, ScrollbackLines: 10})
	var f Frame
	at := func(from, to int) map[int]Place {
		term.Frame(&f, Query{HistoryFrom: from, HistoryTo: to})
		return f.PlacedAbove
	}
	same := func(what string, got map[int]Place, want map[int]Place) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	feed(term, "top\r\n")
	if got := at(0, 5); got != nil {
		t.Errorf("no images: %v", got)
	}
	feed(term, "ab\x1b_Ga=T,f=24,s=1,v=1,c=3,r=6;AAAA\x1b\\\r\nxy\x1b_Ga=T,f=24,s=1,v=1,c=2,r=1;AAAA\x1b\\\r\n1\r\n2\r\n3\r\n4")
	// Lines 1 to 6 are of the first, line 7 is the second's.
	if n := term.History().Len(); n != 8 {
		t.Fatalf("%d lines", n)
	}
	first, second := Place{1, 2, 3, 6}, Place{7, 2, 2, 1}
	same("all", at(0, 100), map[int]Place{1: first, 2: second})
	same("the end of one", at(5, 8), map[int]Place{1: first, 2: second})
	same("its last line", at(6, 7), map[int]Place{1: first})
	same("others", at(0, 1), nil)
	for _, r := range [][2]int{{-1, 8}, {8, 9}, {5, 5}, {6, 2}} {
		same("a range that is none", at(r[0], r[1]), nil)
	}
	feed(term, strings.Repeat("\r\nmore", 5)) // lines 0 to 2 are dropped: four rows of the first image are left
	same("its beginning is gone", at(0, 10), map[int]Place{1: {-2, 2, 3, 6}, 2: {4, 2, 2, 1}})
	same("seen from further down", at(2, 10), map[int]Place{1: {-2, 2, 3, 6}, 2: {4, 2, 2, 1}})

	term = New(Options{Cols: 20, Rows: 4, ScrollbackLines: 2})
	feed(term, "\x1b_Ga=T,f=24,s=1,v=1,c=3,r=8;AAAA\x1b\\") // it is still on the screen
	same("it goes on on the screen", at(0, 2), map[int]Place{1: {-2, 0, 3, 8}})
	same("on the screen", f.Placed, map[int]Place{1: {-4, 0, 3, 8}})

	term = New(Options{Cols: 20, Rows: 4})
	feed(term, "\x1b_Ga=T,f=24,s=1,v=1,c=2,r=9000;AAAA\x1b\\") // more rows than any image is given
	n := term.History().Len()
	same("a tall one", at(n-1, n), map[int]Place{1: {0, 0, 2, float64(n + 4)}})
}
