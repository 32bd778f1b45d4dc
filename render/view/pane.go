package view

import (
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// pane is a session on the screen.
type pane struct {
	id     string
	area   rect // its first row is the status line, unless there is only one
	stream Stream
	cols   int // asked of the stream
	rows   int
	screen render.Screen
	modes  vterm.Modes
	top    int    // row of the screen shown first, when not all rows fit
	dirty  []bool // rows of inner() to draw
	status string // as last drawn
}

// inner is where the session's screen goes.
func (p *pane) inner() rect {
	if p.area.h < 2 {
		return p.area
	}
	return rect{p.area.x, p.area.y + 1, p.area.w, p.area.h - 1}
}

// place moves the pane. Everything in it has to be drawn again.
func (p *pane) place(area rect) {
	p.area = area
	p.top = p.wantTop()
	p.markAll()
}

// fit asks for the size that there is room for.
func (p *pane) fit() {
	if in := p.inner(); in.w != p.cols || in.h != p.rows {
		p.cols, p.rows = in.w, in.h
		p.stream.Resize(in.w, in.h)
	}
}

// apply merges a frame and notes what has to be drawn.
func (p *pane) apply(f Frame) {
	if f.Screen == nil {
		return
	}
	whole := !f.Screen.Delta || f.Screen.Cols != p.screen.Cols || f.Screen.Rows != p.screen.Rows ||
		f.Modes.ReverseVideo != p.modes.ReverseVideo
	p.screen.Apply(f.Screen)
	p.modes = f.Modes
	if top := p.wantTop(); whole || top != p.top {
		p.top = top
		p.markAll()
		return
	}
	for _, l := range f.Screen.Lines {
		if i := l.Row - p.top; i >= 0 && i < len(p.dirty) {
			p.dirty[i] = true
		}
	}
}

// wantTop keeps the cursor in sight of a screen that is higher than the pane: another
// client may have made it so (R96).
func (p *pane) wantTop() int {
	h := p.inner().h
	return max(0, min(p.screen.Cursor.Y-h+1, p.screen.Rows-h))
}

func (p *pane) markAll() {
	p.dirty = make([]bool, p.inner().h)
	for i := range p.dirty {
		p.dirty[i] = true
	}
	p.status = ""
}

// row is the line shown in row i of the pane; nil below the screen's end.
func (p *pane) row(i int) *render.Line {
	if i += p.top; i < len(p.screen.Lines) {
		return &p.screen.Lines[i]
	}
	return nil
}
