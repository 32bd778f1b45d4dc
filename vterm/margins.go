package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

func (p *page) resetMargins() {
	p.top, p.bottom, p.left, p.right = 0, p.rows-1, 0, p.cols-1
}

// setTopBottom implements DECSTBM. It rejects margins with fewer than two lines.
func (p *page) setTopBottom(s *parse.Seq) {
	top, bottom := s.Count(0), s.Param(1, 0)
	if bottom == 0 || bottom > p.rows {
		bottom = p.rows
	}
	if top < bottom {
		p.top, p.bottom = top-1, bottom-1
		p.home()
	}
}

// setLeftRight implements DECSLRM under DECLRMM, else SCOSC: both are CSI s.
func (t *Terminal) setLeftRight(s *parse.Seq) {
	if t.modes&modeMargins == 0 {
		if s.N == 0 {
			t.saveCursor()
		}
		return
	}
	left, right := s.Count(0), s.Param(1, 0)
	if right == 0 || right > t.cols {
		right = t.cols
	}
	if left < right {
		t.left, t.right = left-1, right-1
		t.home()
	}
}

// marginsFull reports whether the margins span the whole width, so that whole lines scroll.
func (p *page) marginsFull() bool { return p.left == 0 && p.right == p.cols-1 }

// inMargins reports whether the cursor is inside all four margins.
func (p *page) inMargins() bool {
	return p.top <= p.cur.Row && p.cur.Row <= p.bottom && p.left <= p.cur.Col && p.cur.Col <= p.right
}

// region returns the region between the margins, from row top on.
func (p *page) region(top int) grid.Region {
	return grid.Region{Top: top, Bottom: p.bottom, Left: p.left, Right: p.right}
}
