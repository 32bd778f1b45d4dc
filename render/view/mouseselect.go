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
	switch {
	case p.look == nil:
	case p.look.passing:
		v.present(p)
	case p.look.sel != nil:
		p.look.sel = nil
		p.markAll()
	}
	if c.unit == page.Words || c.unit == page.Rows {
		v.selectFrom(p, x, y)
	}
}

func (v *viewer) selectFrom(p *pane, x, y int) {
	if p.look == nil || p.look.passing {
		p.look = newLook(p)
	}
	at := v.posAt(p, x, y)
	p.look.sel = &page.Selection{Anchor: at, Head: at, Unit: v.pointer.unit}
	p.look.cursor = at
	p.markAll()
}

// posAt is the cell of a look under the mouse.
func (v *viewer) posAt(p *pane, x, y int) page.Pos {
	in := p.inner()
	x, y = min(max(x, in.X), in.X+in.W-1), min(max(y, in.Y), in.Y+in.H-1)
	return p.look.page.Clamp(page.Pos{Row: p.look.top + y - in.Y, Col: x - in.X})
}

// dragSelection extends the selection; beyond the pane it scrolls. Let go, it is copied.
func (v *viewer) dragSelection(x, y int) {
	p := v.pointer.choosing
	if moved := x != v.pointer.x || y != v.pointer.y; moved && (p.look == nil || p.look.sel == nil) {
		v.selectFrom(p, v.pointer.x, v.pointer.y)
	}
	l := p.look
	if l == nil || l.sel == nil {
		v.endClick(p)
		return
	}
	in := p.inner()
	if v.pointer.held != 0 {
		if y < in.Y {
			l.scroll(y - in.Y)
		} else if y >= in.Y+in.H {
			l.scroll(y - in.Y - in.H + 1)
		}
		v.fetch(p, nil)
	}
	if to := v.posAt(p, x, y); to != l.sel.Head {
		l.sel.Head, l.cursor = to, to
		p.markAll()
	}
	if v.pointer.held != 0 {
		return
	}
	v.pointer.choosing = nil
	v.copySelection(p)
	l.passing = l.atEnd() && !l.keys
}

// endClick is a click that selected nothing.
func (v *viewer) endClick(p *pane) {
	if v.pointer.held != 0 {
		return
	}
	v.pointer.choosing = nil
	if p.look != nil && p.look.idle() {
		v.present(p)
	}
}
