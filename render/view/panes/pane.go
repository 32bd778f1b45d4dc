package panes

import (
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Pane is a session on the screen.
type Pane struct {
	set    *Set
	ID     string
	Area   layout.Rect // its first row is the status line, unless there is only one
	stream Stream
	Cols   int // asked of the stream; 0: no say
	Rows   int
	screen render.Screen
	modes  vterm.Modes
	top    int            // row of the screen shown first, when not all rows fit
	left   int            // column shown first
	dirty  []bool         // rows of inner() to draw
	status string         // as last drawn
	copy   *copymode.Mode // nil: the screen is shown; see copying

	float  bool          // over others
	folded bool          // only its title is shown
	above  []layout.Rect // what lies over it
	edge   *tcell.Style  // of the border, as last drawn

	placedAt time.Time
	boxed    bool // what lies outside the session's screen is marked

	asked map[string]bool // images, by their keys, that are on their way
	ahead ahead
}

// Inner is where the session's screen goes.
func (p *Pane) Inner() layout.Rect {
	switch {
	case p.folded:
		return layout.Rect{X: p.Area.X, Y: p.Area.Y, W: p.Area.W}
	case p.framed():
		return layout.Rect{X: p.Area.X + 1, Y: p.Area.Y + 1, W: p.Area.W - 2, H: p.Area.H - 2}
	case p.Area.H < 2:
		return p.Area
	}
	return layout.Rect{X: p.Area.X, Y: p.Area.Y + 1, W: p.Area.W, H: p.Area.H - 1}
}

// place moves the pane. Everything in it has to be drawn again.
func (p *Pane) place(at layout.Place) {
	p.Area, p.float, p.folded = at.Area, at.Float, at.Folded
	p.left, p.top = p.wantLeft(), p.wantTop()
	if m := p.Copying(); m != nil {
		m.Resize(p.Inner().H)
	}
	p.markAll()
}

// fit asks for a size.
func (p *Pane) fit(cols, rows int) {
	if cols != p.Cols || rows != p.Rows {
		p.Cols, p.Rows = cols, rows
		p.stream.Resize(cols, rows)
	}
}

// Apply merges a frame and notes what has to be drawn. rows: of the pane nothing is but rows, and the cursor.
func (p *Pane) Apply(f Frame) (rows bool) {
	if f.Picture != nil {
		p.take(f.Picture)
		return false
	}
	if f.Screen == nil {
		p.takeNotice(f, false)
		return false
	}
	rows = f.Screen.Title == p.screen.Title && f.Modes.Mouse == p.modes.Mouse && !f.Held
	if !f.Screen.Delta { // the stream may be another, which was asked for nothing
		p.asked = nil
	}
	resized := f.Screen.Cols != p.screen.Cols || f.Screen.Rows != p.screen.Rows
	whole := !f.Screen.Delta || resized || f.Modes.ReverseVideo != p.modes.ReverseVideo
	p.screen.Apply(f.Screen)
	p.modes = f.Modes
	p.takeNotice(f, resized)
	m := p.Copying()
	if m.StandsStill() {
		return false // the screen is not what is shown
	}
	if m != nil {
		m.Leave()
		p.copy, whole = nil, true
	}
	if top, left := p.wantTop(), p.wantLeft(); whole || top != p.top || left != p.left {
		p.top, p.left = top, left
		p.markAll()
		return false
	}
	for _, l := range f.Screen.Lines {
		if i := l.Row - p.top; i >= 0 && i < len(p.dirty) {
			p.dirty[i] = true
		}
	}
	return rows
}

// wantTop keeps the cursor in sight of a screen that is higher than the pane: another
// client may have made it so (R96).
func (p *Pane) wantTop() int {
	h := p.Inner().H
	return max(0, min(p.screen.Cursor.Y-h+1, p.screen.Rows-h))
}

// wantLeft does so for a screen that is wider. It moves by halves of the pane, so that
// typing does not make all rows slide.
func (p *Pane) wantLeft() int {
	w := p.Inner().W
	step := max(1, w/2)
	beyond := min(p.screen.Cursor.X, p.screen.Cols-1) - w + 1
	if beyond <= 0 || p.screen.Cols <= w {
		return 0
	}
	return min((beyond+step-1)/step*step, p.screen.Cols-w)
}

func (p *Pane) markAll() {
	p.dirty = make([]bool, p.Inner().H)
	for i := range p.dirty {
		p.dirty[i] = true
	}
	p.status, p.edge = "", nil
}

// Copying is the pane's copy mode; nil: the live screen is shown.
func (p *Pane) Copying() *copymode.Mode {
	if p.copy != nil && p.copy.Left() {
		p.Present()
	}
	return p.copy
}

// CopyMode has the pane in copy mode: at what is shown, unless it is on.
func (p *Pane) CopyMode() *copymode.Mode {
	if m := p.Copying(); m.StandsStill() {
		return m
	}
	p.Present()
	p.copy = copymode.New(p.set.copy, p.set.history, p.ID, &p.screen, p.top, p.Inner().H)
	return p.copy
}

// Scroll moves what is shown by some rows, in copy mode; down to the newest one it is live
// again.
func (p *Pane) Scroll(by int) {
	if p.Copying() != nil || by < 0 {
		p.CopyMode().Scroll(by)
	}
}

// Terminal is the modes of the session's terminal.
func (p *Pane) Terminal() *vterm.Modes { return &p.modes }

// Act does something to the session. seen: it may be drawn before the session has said anything.
func (p *Pane) Act(in Input) (seen bool) {
	n := p.stream.Act(in)
	if n > 0 {
		p.typed(in, n)
	}
	return n > 0
}

// Present shows the live screen again.
func (p *Pane) Present() {
	if p.copy != nil {
		p.copy.Leave()
		p.copy = nil
		p.left, p.top = p.wantLeft(), p.wantTop()
		p.markAll()
	}
}

// row is the line shown in row i of the pane; nil below the screen's end.
func (p *Pane) row(i int) *render.Line {
	if m := p.Copying(); m != nil {
		return m.Line(i)
	}
	if i += p.top; i < len(p.screen.Lines) {
		return &p.screen.Lines[i]
	}
	return nil
}

// Locate sets the position of the mouse on the session's screen: for a drag the nearest one, wherever
// the mouse is; otherwise false when it is not on the screen.
func (p *Pane) Locate(m *input.Mouse, e *tcell.EventMouse, drag bool) bool {
	x, y := e.Position()
	in := p.Inner()
	m.Col, m.Row = x-in.X+p.left, y-in.Y+p.top
	cols, rows := min(in.W+p.left, p.screen.Cols), min(in.H+p.top, p.screen.Rows)
	if drag {
		m.Col, m.Row = min(max(m.Col, p.left), cols-1), min(max(m.Row, p.top), rows-1)
	}
	return m.Col >= p.left && m.Col < cols && m.Row >= p.top && m.Row < rows
}

// FollowTime is how long a session may take to get its pane's size.
const FollowTime = time.Second

// outgrown reports that the session's screen has a size that the pane did not ask for,
// for longer than it takes to follow.
func (p *Pane) outgrown(now time.Time) bool {
	in := p.Inner()
	return p.screen.Cols > 0 && (p.screen.Cols != in.W || p.screen.Rows != in.H) && now.Sub(p.placedAt) >= FollowTime
}
