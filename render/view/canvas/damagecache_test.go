package canvas

import (
	"image"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/picture"
)

// TestSettledCells checks that the terminal shows the same as if all cells were compared at each drawing: wide
// characters over narrow ones and the reverse, content that disappears and returns, large and small changes.
//
// FEATURES: R35
func TestSettledCells(t *testing.T) {
	c, e, _ := emulator(t, 24, 6)
	all, want, _ := emulator(t, 24, 6)
	r := rand.New(rand.NewPCG(3, 5))
	texts := []string{"a", "b", "你", "好", "é", " ", " "}
	settled := 0
	for i := range 3000 {
		n, kind := 1, r.IntN(60)
		if kind == 0 {
			n = 12
		}
		for _, c := range []*Canvas{c, all} {
			switch kind {
			case 1:
				c.Clear()
			case 2:
				c.Sync()
			}
		}
		for range n {
			text, st := "", Plain.Bold(r.IntN(4) == 0)
			for range r.IntN(24) {
				text += texts[r.IntN(len(texts))]
			}
			from, y := 12*r.IntN(2), r.IntN(6)
			c.Text(from, y, 12, text, st)
			all.Text(from, y, 12, text, st)
		}
		c.Show()
		all.unsettled().Show()
		if c.damage.locked != nil {
			settled++
		}
		if got, want := e.Shows(), want.Shows(); got != want {
			t.Fatalf("after drawing %d the terminal shows\n%s\nwith all cells compared\n%s", i, got, want)
		}
	}
	if settled < 1000 {
		t.Errorf("cells were settled after %d drawings only", settled)
	}
}

// TestSettledWideCharacters checks that rows drawn as panes do, whole or in part, with wide characters at any position,
// show a cell again once the wide character over it is gone.
//
// FEATURES: R35
func TestSettledWideCharacters(t *testing.T) {
	c, e, _ := emulator(t, 24, 24)
	all, want, _ := emulator(t, 24, 24)
	const rows = 6 // so few that cells settle
	r := rand.New(rand.NewPCG(7, 5))
	texts := []string{"a", "b", "你", "好", "한", "e\u0301", " "}
	draw := func(x, y, w int) {
		text := ""
		for range w {
			text += texts[r.IntN(len(texts))]
		}
		c.Text(x, y, w, text, Plain)
		all.Text(x, y, w, text, Plain)
	}
	broken := [rows]bool{} // drawn in part: half of a wide character is anything
	for i := range 6000 {
		for y := range rows {
			if broken[y] || r.IntN(8) == 0 {
				draw(0, y, 24)
				broken[y] = false
			}
		}
		for r.IntN(2) == 0 {
			x, y := r.IntN(24), r.IntN(rows)
			draw(x, y, min(1+r.IntN(6), 24-x))
			broken[y] = true
		}
		c.Show()
		all.unsettled().Show()
		got, want := e.Texts(), want.Texts()
		for y := range rows {
			if !broken[y] && got[y] != want[y] {
				t.Fatalf("after drawing %d row %d shows\n%q\nwith all cells compared\n%q", i, y, got[y], want[y])
			}
		}
	}
}

// TestSettledCorner checks that a terminal that reaches its corner only through the cell before it keeps that one.
//
// FEATURES: R35
func TestSettledCorner(t *testing.T) {
	c, e, _ := emulatorOf(t, "cygwin", 20, 3)
	c.Text(0, 2, 20, "aaaaaaaaaaaaaaaa1234", Plain)
	c.Show()
	c.Text(0, 0, 1, "x", Plain)
	c.Show()
	c.Text(19, 2, 1, "5", Plain)
	c.Show()
	if got := e.Texts()[2]; c.damage.locked == nil || got != "aaaaaaaaaaaaaaaa1235" {
		t.Errorf("it shows %q", got)
	}
}

// TestSettledWithAnImageThatWaits checks that a pending or invalid image does not cause drawings of all cells.
//
// FEATURES: R35
func TestSettledWithAnImageThatWaits(t *testing.T) {
	c, e, _ := emulator(t, 80, 20)
	c.SetImageSupport(picture.Support{Kind: picture.Sixel, Cell: image.Pt(8, 16), Colors: 256})
	c.SetAsync(func(func() func()) {}) // it never arrives
	img := image.NewNRGBA(image.Rect(0, 0, 640, 160))
	for y := range 20 {
		c.Text(0, y, 80, strings.Repeat("some text ", 8), Plain)
	}
	c.Show()
	for i := range 8 {
		before := len(e.Written())
		c.Text(0, 0, 1, string(rune('A'+i)), Plain)
		for y := range 10 {
			c.Picture(picture.Part{Key: "k", Y: 5 + y, W: 80, H: 1, FromY: y}, img)
		}
		c.Show()
		if n := len(e.Written()) - before; i > 0 && n > 200 {
			t.Errorf("drawing %d of one letter takes %d bytes", i, n)
		}
	}
}

// unsettled makes the next drawing compare all cells.
func (c *Canvas) unsettled() *Canvas {
	c.damage.changes = 1 << 20
	return c
}

// TestRedraw_WhenTerminalWasCleared checks that a terminal that another program cleared is redrawn when it reports
// that, as some programs do that borrow a terminal.
//
// FEATURES: R35
func TestRedraw_WhenTerminalWasCleared(t *testing.T) {
	c, e, _ := emulator(t, 20, 3)
	c.Text(0, 0, 20, "first", Plain)
	c.Show()
	c.Text(0, 1, 1, "x", Plain)
	c.Show()
	if c.damage.locked == nil {
		t.Fatal("a small change leaves cells unsettled")
	}
	want := e.Shows()
	e.WriteForeign("\x1b[2J")
	e.Resize()
	for deadline := time.After(20 * time.Second); e.Shows() != want; {
		select {
		case <-e.Wrote:
		case <-deadline:
			t.Fatalf("it shows %q", e.Shows())
		}
	}
	c.Text(0, 0, 20, "third", Plain)
	c.Show()
	if got := e.Shows(); got != "third\nx" {
		t.Errorf("then it shows %q", got)
	}
}

// TestRedraw_WhileCellsSettle checks that the same holds if cells settle between the terminal's report and the redraw:
// the next drawing is complete.
//
// FEATURES: R35
func TestRedraw_WhileCellsSettle(t *testing.T) {
	c, e, _ := emulator(t, 40, 6)
	c.Text(0, 0, 40, "first", Plain)
	c.Text(0, 2, 40, "third", Plain)
	c.unsettled().Show()
	c.tap().redrawRequested.Store(true) // the screen takes its turn after the next drawing
	e.WriteForeign("\x1b[2J")
	c.Text(0, 1, 1, "x", Plain)
	c.Show()
	if got, want := e.Shows(), "first\nx\nthird"; got != want {
		t.Errorf("it shows %q", got)
	}
	if c.tap().needsRedraw() {
		t.Error("it is redrawn again")
	}
}

// BenchmarkShow measures drawings with few changes, in which the screen compares almost nothing.
func BenchmarkShow(b *testing.B) {
	for name, settle := range map[string]bool{"settled": true, "all": false} {
		b.Run(name, func(b *testing.B) {
			c, _, _ := emulator(b, 200, 60)
			for y := range 60 {
				c.Text(0, y, 200, strings.Repeat("some text ", 20), Plain)
			}
			c.Show()
			for i := 0; b.Loop(); i++ {
				c.Text(0, 0, 1, string(rune('a'+i%26)), Plain)
				if !settle {
					c.unsettled()
				}
				c.Show()
			}
		})
	}
}
