package canvas

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The terminal shows what it would if all cells were compared at each drawing: wide characters over narrow ones and the
// reverse, what goes and comes again, much at once and little.
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
		if c.settled.locked != nil {
			settled++
		}
		if got, want := e.shows(), want.shows(); got != want {
			t.Fatalf("after drawing %d the terminal shows\n%s\nwith all cells compared\n%s", i, got, want)
		}
	}
	if settled < 1000 {
		t.Errorf("cells were settled after %d drawings only", settled)
	}
}

// unsettled has no cell settled by the next drawing.
func (c *Canvas) unsettled() *Canvas {
	c.settled.changes = 1 << 20
	return c
}

// A terminal that was cleared by others and says so, as some programs do that lend a terminal, is drawn anew.
//
// FEATURES: R35
func TestDrawnAnewWhenAsked(t *testing.T) {
	c, e, _ := emulator(t, 20, 3)
	c.Text(0, 0, 20, "first", Plain)
	c.Show()
	c.Text(0, 1, 1, "x", Plain)
	c.Show()
	if c.settled.locked == nil {
		t.Fatal("a small change leaves cells unsettled")
	}
	want := e.shows()
	e.mu.Lock()
	_, _ = e.emu.Write([]byte("\x1b[2J"))
	resized := e.resized
	e.mu.Unlock()
	resized()
	for e.shows() != want {
		<-e.wrote
	}
	c.Text(0, 0, 20, "third", Plain)
	c.Show()
	if got := e.shows(); got != "third\nx" {
		t.Errorf("then it shows %q", got)
	}
}

// While little changes the screen compares next to nothing.
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
