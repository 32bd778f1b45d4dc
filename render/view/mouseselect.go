package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/page"
)

// beginSelection begins to select text: characters, with more clicks words or rows, with
// Alt a rectangle. A mere click selects nothing.
func (v *viewer) beginSelection(p *pane, e *tcell.EventMouse, x, y int) {
	c := &v.pointer
	c.choosing, c.from, c.unit = p, x, [...]page.Unit{1: page.Characters, 2: page.Words, 3: page.Rows}[c.clicks]
	if e.Modifiers()&tcell.ModAlt != 0 {
		c.unit = page.Block
	}
	switch m := p.copying(); {
	case m == nil:
	case m.Passing():
		p.present()
	default:
		m.Unselect()
	}
	if c.unit == page.Words || c.unit == page.Rows {
		v.selectFrom(p, x, y)
	}
}

func (v *viewer) selectFrom(p *pane, x, y int) {
	m := v.copyMode(p, false)
	row, col := p.cell(x, y)
	m.Select(m.At(row, col), v.pointer.unit)
}

// cell is the row and the column of the pane's inner area at a position; the column is the
// nearest one inside.
func (p *pane) cell(x, y int) (row, col int) {
	in := p.inner()
	return y - in.Y, min(max(x, in.X), in.X+in.W-1) - in.X
}

// dragSelection extends the selection; beyond the pane it scrolls. Let go, it is copied.
func (v *viewer) dragSelection(x, y int) {
	p := v.pointer.choosing
	if moved := x != v.pointer.x || y != v.pointer.y; moved && !p.copying().Selecting() {
		v.selectFrom(p, v.pointer.x, v.pointer.y)
	}
	m := p.copying()
	if !m.Selecting() {
		v.endClick(p)
		return
	}
	row, col := p.cell(x, y)
	m.Drag(row, col, v.pointer.held != 0)
	if v.pointer.held == 0 {
		v.pointer.choosing = nil
		m.Let()
	}
}

// endClick is a click that selected nothing.
func (v *viewer) endClick(p *pane) {
	if v.pointer.held != 0 {
		return
	}
	v.pointer.choosing = nil
	if m := p.copying(); m != nil {
		m.LeaveIfIdle()
	}
}
