package view

import (
	"testing"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
)

func TestBorder(t *testing.T) {
	area := layout.Rect{W: 81, H: 24}
	for _, c := range []struct {
		name     string
		x, y     int
		to       [2]int
		grabbed  bool
		stacked  bool
		w, h     int  // of the first pane, afterwards
		keepGrid bool // the grid of all sessions stays one
	}{
		{"between two columns, to the right", 40, 3, [2]int{50, 3}, true, false, 50, 12, false},
		{"a mere click", 40, 3, [2]int{40, 3}, true, false, 40, 12, true},
		{"a title below another pane", 3, 12, [2]int{3, 15}, true, true, 40, 15, false},
		{"the first row", 3, 0, [2]int{3, 5}, false, false, 40, 12, true},
		{"in a pane", 3, 3, [2]int{9, 9}, false, false, 40, 12, true},
	} {
		m := model.New(nil)
		m.Update(model.Update{Sessions: []model.Session{running("a"), running("b"), running("c"), running("d")}}, epoch)
		m.Places = m.Arrange(area)
		var b border
		if got := b.grab(&m, area, c.x, c.y); got != c.grabbed {
			t.Errorf("%s: grabbed %v", c.name, got)
			continue
		}
		if c.grabbed {
			if got := b.drag(&m, c.to[0], c.to[1], false); got != c.stacked || b.isActive() {
				t.Errorf("%s: stacked %v, still dragged %v", c.name, got, b.isActive())
			}
		}
		first := m.Arrange(area)[0].Area
		if first.W != c.w || first.H != c.h || m.Tab().Auto != c.keepGrid {
			t.Errorf("%s: the first pane is %d×%d, grid %v; want %d×%d, %v", c.name, first.W, first.H, m.Tab().Auto, c.w, c.h, c.keepGrid)
		}
	}
}
