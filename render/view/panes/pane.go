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

// Pane shows a session on the screen.
type Pane struct {
	set    *Set
	ID     string
	Area   layout.Rect // its first row is the title row, unless it has only one row
	stream Stream
	Cols   int // size requested from the stream; 0: none
	Rows   int
	screen render.Screen
	modes  vterm.Modes
	top    int            // first visible row of the screen, if not all rows fit
	left   int            // first visible column
	dirty  []bool         // rows of Inner to redraw
	status string         // title row as last drawn
	copy   *copymode.Mode // copy mode; nil: the live screen is shown

	float  bool          // it floats over other panes
	folded bool          // only its title is shown
	covers []layout.Rect // areas of panes on top of it
	edge   *tcell.Style  // style of the border, as last drawn

	placedAt      time.Time
	outsideMarked bool // the area outside the session's screen is marked

	requested map[string]bool // requested images, by key
	echo      localEcho
}

// Inner returns the area of the session's screen.
func (p *Pane) Inner() layout.Rect {
	switch {
	case p.folded:
		return layout.Rect{X: p.Area.X, Y: p.Area.Y, W: p.Area.W}
	case p.hasBorder():
		return layout.Rect{X: p.Area.X + 1, Y: p.Area.Y + 1, W: p.Area.W - 2, H: p.Area.H - 2}
	case p.Area.H < 2:
		return p.Area
	}
	return layout.Rect{X: p.Area.X, Y: p.Area.Y + 1, W: p.Area.W, H: p.Area.H - 1}
}

// place moves the pane and schedules a full redraw.
func (p *Pane) place(at layout.Place) {
	p.Area, p.float, p.folded = at.Area, at.Float, at.Folded
	p.left, p.top = p.wantLeft(), p.wantTop()
	if m := p.Copying(); m != nil {
		m.Resize(p.Inner().H)
	}
	p.markAll()
}

// fit requests a size from the stream.
func (p *Pane) fit(cols, rows int) {
	if cols != p.Cols || rows != p.Rows {
		p.Cols, p.Rows = cols, rows
		p.stream.Resize(cols, rows)
	}
}

// Apply applies a frame and marks what to redraw. rows reports that only rows and the cursor changed.
func (p *Pane) Apply(f Frame) (rows bool) {
	if f.Picture != nil {
		p.decodePicture(f.Picture)
		return false
	}
	if f.Screen == nil {
		p.confirmEcho(f, false)
		return false
	}
	rows = f.Screen.Title == p.screen.Title && f.Modes.Mouse == p.modes.Mouse && !f.InputRejected
	if !f.Screen.Delta { // the stream may be a new one without earlier requests
		p.requested = nil
	}
	resized := f.Screen.Cols != p.screen.Cols || f.Screen.Rows != p.screen.Rows
	whole := !f.Screen.Delta || resized || f.Modes.ReverseVideo != p.modes.ReverseVideo
	p.screen.Apply(f.Screen)
	p.modes = f.Modes
	p.confirmEcho(f, resized)
	m := p.Copying()
	if m.IsFrozen() {
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

// wantTop returns the first row to show of a screen that is higher than the pane, so that the cursor is visible:
// another client may have set the size (R96).
func (p *Pane) wantTop() int {
	h := p.Inner().H
	return max(0, min(p.screen.Cursor.Y-h+1, p.screen.Rows-h))
}

// wantLeft does the same for columns. It moves by halves of the pane, so that typing does not make all rows slide.
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

// Copying returns the pane's copy mode, or nil if it shows the live screen.
func (p *Pane) Copying() *copymode.Mode {
	if p.copy != nil && p.copy.IsLive() {
		p.LeaveCopyMode()
	}
	return p.copy
}

// CopyMode enters copy mode at the shown rows, unless it is already on.
func (p *Pane) CopyMode() *copymode.Mode {
	if m := p.Copying(); m.IsFrozen() {
		return m
	}
	p.LeaveCopyMode()
	p.copy = copymode.New(p.set.copy, p.set.history, p.ID, &p.screen, p.top, p.Inner().H)
	return p.copy
}

// Scroll scrolls by a number of rows in copy mode. At the newest row it returns to the live screen.
func (p *Pane) Scroll(by int) {
	if p.Copying() != nil || by < 0 {
		p.CopyMode().Scroll(by)
	}
}

// Modes returns the modes of the session's terminal.
func (p *Pane) Modes() *vterm.Modes { return &p.modes }

// SendInput sends input to the session. seen reports that its echo may be drawn before the session answers.
func (p *Pane) SendInput(in Input) (seen bool) {
	n := p.stream.SendInput(in)
	if n > 0 {
		p.noteInput(in, n)
	}
	return n > 0
}

// LeaveCopyMode returns to the live screen.
func (p *Pane) LeaveCopyMode() {
	if p.copy != nil {
		p.copy.Leave()
		p.copy = nil
		p.left, p.top = p.wantLeft(), p.wantTop()
		p.markAll()
	}
}

// row returns the line shown in row i of the pane, or nil below the screen's end.
func (p *Pane) row(i int) *render.Line {
	if m := p.Copying(); m != nil {
		return m.Line(i)
	}
	if i += p.top; i < len(p.screen.Lines) {
		return &p.screen.Lines[i]
	}
	return nil
}

// Locate sets the position of the mouse on the session's screen: the nearest one for a drag, else false if the mouse is
// outside.
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

// FollowTime is how long a session may take to adopt its pane's size.
const FollowTime = time.Second

// hasOtherSize reports whether the session's screen has kept another size than the pane requested for longer than a resize
// takes.
func (p *Pane) hasOtherSize(now time.Time) bool {
	in := p.Inner()
	return p.screen.Cols > 0 && (p.screen.Cols != in.W || p.screen.Rows != in.H) && now.Sub(p.placedAt) >= FollowTime
}
