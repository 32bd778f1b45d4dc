package view

import (
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// pane is a session on the screen.
type pane struct {
	id     string
	area   layout.Rect // its first row is the status line, unless there is only one
	stream Stream
	cols   int // asked of the stream; 0: no say
	rows   int
	screen render.Screen
	modes  vterm.Modes
	top    int            // row of the screen shown first, when not all rows fit
	left   int            // column shown first
	dirty  []bool         // rows of inner() to draw
	status string         // as last drawn
	copy   *copymode.Mode // nil: the screen is shown; see copying

	placedAt time.Time
	boxed    bool // what lies outside the session's screen is marked
}

// inner is where the session's screen goes.
func (p *pane) inner() layout.Rect {
	if p.area.H < 2 {
		return p.area
	}
	return layout.Rect{X: p.area.X, Y: p.area.Y + 1, W: p.area.W, H: p.area.H - 1}
}

// place moves the pane. Everything in it has to be drawn again.
func (p *pane) place(area layout.Rect) {
	p.area = area
	p.left, p.top = p.wantLeft(), p.wantTop()
	if m := p.copying(); m != nil {
		m.Resize(p.inner().H)
	}
	p.markAll()
}

// fit asks for a size.
func (p *pane) fit(cols, rows int) {
	if cols != p.cols || rows != p.rows {
		p.cols, p.rows = cols, rows
		p.stream.Resize(cols, rows)
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
	m := p.copying()
	if m.StandsStill() {
		return // the screen is not what is shown
	}
	if m != nil {
		m.Leave()
		p.copy, whole = nil, true
	}
	if top, left := p.wantTop(), p.wantLeft(); whole || top != p.top || left != p.left {
		p.top, p.left = top, left
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
	h := p.inner().H
	return max(0, min(p.screen.Cursor.Y-h+1, p.screen.Rows-h))
}

// wantLeft does so for a screen that is wider. It moves by halves of the pane, so that
// typing does not make all rows slide.
func (p *pane) wantLeft() int {
	w := p.inner().W
	step := max(1, w/2)
	beyond := min(p.screen.Cursor.X, p.screen.Cols-1) - w + 1
	if beyond <= 0 || p.screen.Cols <= w {
		return 0
	}
	return min((beyond+step-1)/step*step, p.screen.Cols-w)
}

func (p *pane) markAll() {
	p.dirty = make([]bool, p.inner().H)
	for i := range p.dirty {
		p.dirty[i] = true
	}
	p.status = ""
}

// copying is the pane's copy mode; nil: the live screen is shown.
func (p *pane) copying() *copymode.Mode {
	if p.copy != nil && p.copy.Left() {
		p.present()
	}
	return p.copy
}

// begin begins copy mode at what is shown, unless it is on.
func (p *pane) begin(host copymode.Host, history copymode.History) *copymode.Mode {
	if m := p.copying(); m.StandsStill() {
		return m
	}
	p.present()
	p.copy = copymode.New(host, history, p.id, &p.screen, p.top, p.inner().H)
	return p.copy
}

// present shows the live screen again.
func (p *pane) present() {
	if p.copy != nil {
		p.copy.Leave()
		p.copy = nil
		p.left, p.top = p.wantLeft(), p.wantTop()
		p.markAll()
	}
}

// row is the line shown in row i of the pane; nil below the screen's end.
func (p *pane) row(i int) *render.Line {
	if m := p.copying(); m != nil {
		return m.Line(i)
	}
	if i += p.top; i < len(p.screen.Lines) {
		return &p.screen.Lines[i]
	}
	return nil
}

func (v *viewer) pane(id string) *pane {
	for _, p := range v.panes {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (v *viewer) focused() *pane { return v.pane(v.m.Focus) }

// at is the pane at a position.
func (v *viewer) at(x, y int) *pane {
	for _, p := range v.panes {
		if p.area.Contains(x, y) {
			return p
		}
	}
	return nil
}

// locate sets the position of the mouse on the session's screen: for a drag the nearest one, wherever
// the mouse is; otherwise false when it is not on the screen.
func (p *pane) locate(m *input.Mouse, e *tcell.EventMouse, drag bool) bool {
	x, y := e.Position()
	in := p.inner()
	m.Col, m.Row = x-in.X+p.left, y-in.Y+p.top
	cols, rows := min(in.W+p.left, p.screen.Cols), min(in.H+p.top, p.screen.Rows)
	if drag {
		m.Col, m.Row = min(max(m.Col, p.left), cols-1), min(max(m.Row, p.top), rows-1)
	}
	return m.Col >= p.left && m.Col < cols && m.Row >= p.top && m.Row < rows
}
