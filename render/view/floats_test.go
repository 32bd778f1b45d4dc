package view

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// drag moves the pressed mouse from one position to others, and lets it go at the last one.
func (b *bench) drag(at ...[2]int) {
	for _, p := range at {
		b.send(tcell.NewEventMouse(p[0], p[1], tcell.ButtonPrimary, 0))
	}
	last := at[len(at)-1]
	b.send(tcell.NewEventMouse(last[0], last[1], 0, 0))
}

// TestFloatsAreDrawn checks that a floating pane is drawn over the others, which continue below it, and uncovers them
// when it is hidden or moved. A wide character that it covers by half is a blank.
//
// FEATURES: R117
func TestFloatsAreDrawn(t *testing.T) {
	b := newBench(t, 60, 16, Options{})
	b.list(running("a"), running("b"))
	b.keys("^F")
	if at := b.m.Places[1].Area; !b.m.Places[1].Float || at != (layout.Rect{X: 12, Y: 2, W: 36, H: 9}) {
		t.Fatalf("%+v", b.m.Places)
	}
	b.print("a", strings.Repeat("一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十\r\n", 14))
	b.print("b", "over it all")
	for y, want := range map[int]string{
		1:  "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十",
		2:  "一二三四五六┌ 2 b  sh ─────",
		3:  "一二三四五六│over it all                       │五六七八九十",
		10: "一二三四五六└──────────────────────────────────┘五六七八九十",
	} {
		if got := b.row(y); !strings.HasPrefix(got, want) {
			t.Errorf("row %d: %q; want %q", y, got, want)
		}
	}
	b.drag([2]int{20, 2}, [2]int{21, 3}, [2]int{23, 3}) // by its title
	if got, want := b.row(4), "一二三四五六七 │over it all                       │ 七八九十"; got != want {
		t.Errorf("dragged: %q; want %q", got, want)
	}
	b.print("a", "\x1b[Hchanged below")
	if got, want := b.row(4), "               │over it all"; !strings.HasPrefix(got, want) {
		t.Errorf("drawn over: %q; want %q", got, want)
	}
	b.drag([2]int{50, 11}, [2]int{55, 13}) // by its corner
	if at := b.m.Places[1].Area; at != (layout.Rect{X: 15, Y: 3, W: 41, H: 11}) {
		t.Errorf("resized to %v", at)
	}
	b.drag([2]int{15, 8}, [2]int{11, 8}) // by its left edge
	if at := b.m.Places[1].Area; at != (layout.Rect{X: 11, Y: 3, W: 45, H: 11}) {
		t.Errorf("resized to %v", at)
	}
	b.keys("^O")
	if b.m.Focus != "a" || strings.Contains(b.term.Text(), "over it all") {
		t.Errorf("hidden, with the focus on %s:\n%s", b.m.Focus, b.term.Text())
	}
	b.keys("^O")
	b.print("b", "over it all")
	b.shows("over it all")
	b.drag([2]int{2, 14}, [2]int{2, 14}) // a click below it
	if b.m.Focus != "a" || strings.Contains(b.term.Text(), "over it all") {
		t.Errorf("clicked below, with the focus on %s:\n%s", b.m.Focus, b.term.Text())
	}
	b.keys("^O^*")
	b.print("b", "over it all")
	b.drag([2]int{2, 14}, [2]int{2, 14})
	b.shows("over it all")
	if _, _, shown := b.term.GetCursor(); b.m.Focus != "a" || !shown {
		t.Errorf("pinned, with the focus on %s, cursor %v", b.m.Focus, shown)
	}
}

// TestFloatKeys checks the keys of floating panes, and their messages if no pane can float.
func TestFloatKeys(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	b.keys("^F")
	b.shows("only pane of the tab")
	b.src.made = "n"
	b.keys("^O")
	b.call()
	b.list(running("a"), running("n"))
	if b.m.Focus != "n" || !b.m.IsFloating("n") {
		t.Fatalf("focus %s, %+v", b.m.Focus, b.m.Places)
	}
	was := b.m.Places[1].Area
	b.send(tcell.NewEventKey(tcell.KeyCtrlSpace, 0, tcell.ModCtrl), tcell.NewEventKey(tcell.KeyRune, 'l', tcell.ModAlt))
	b.keys("^L^K")
	want := layout.Rect{X: was.X + growBy, Y: was.Y, W: was.W + growBy, H: was.H - growBy/2}
	if got := b.m.Places[1].Area; got != want {
		t.Errorf("moved, wider, shorter: %v; want %v", got, want)
	}
	b.keys("^F^_")
	if got := b.m.Places; len(got) != 2 || !got[0].Folded || got[1].Folded || got[0].Area.H != 1 {
		t.Errorf("stacked: %+v", got)
	}
	b.shows("stacked:")
	b.drag([2]int{5, 0}, [2]int{5, 0}) // its title
	if b.m.Focus != "a" || b.m.Places[0].Folded {
		t.Errorf("clicked: focus %s, %+v", b.m.Focus, b.m.Places)
	}
	b.term.SetSize(19, 6)
	b.send(tcell.NewEventResize(19, 6))
	b.keys("^O")
	b.shows("too small for flo…")
}

// TestFrames checks that frames take the space of a border from each pane, and that separators disappear.
func TestFrames(t *testing.T) {
	b := newBench(t, 60, 8, Options{LiveOptions: LiveOptions{Frames: true}})
	b.list(running("a"), running("b"))
	b.print("a", "one\r\ntwo")
	if p := b.panes.Get("a"); p.Cols != 28 || p.Rows != 5 {
		t.Errorf("a session of %d×%d", p.Cols, p.Rows)
	}
	b.m.Focus = "a"
	b.settle()
	if x, y, _ := b.term.GetCursor(); x != 4 || y != 2 {
		t.Errorf("the cursor is at %d,%d", x, y)
	}
	b.golden("frames")
	b.keys("^#")
	if got := b.row(1); !strings.HasPrefix(got, "one") || strings.Contains(b.term.Text(), "┌") {
		t.Errorf("without frames:\n%s", b.term.Text())
	}
	for _, size := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {12, 5}, {1000, 500}} {
		b.term.SetSize(size[0], size[1])
		b.send(tcell.NewEventResize(size[0], size[1]))
		b.keys("^#")
	}
}
