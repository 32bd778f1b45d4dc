package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// showAlternate switches between the screens. The cursor is one for both, as in xterm.
func (t *Terminal) showAlternate(on, wipe bool) {
	t.setMode(modeAlt47|modeAlt1047|modeAlt1049, on)
	was := t.scr != t.primary
	if on {
		if t.alternate == nil {
			t.alternate = grid.NewScreen(&t.tables, t.cols, t.rows)
		}
		t.scr.Flush()
		t.scr = t.alternate
		if wipe {
			t.scr.Clear(t.erased())
		}
	} else {
		t.scr.Flush()
		t.scr = t.primary
	}
	if on != was {
		t.scr.TouchAll()
		t.emit(Event{Kind: EventAltScreen, Num: boolInt(on)})
	}
}

// savedCursor is what DECSC keeps.
type savedCursor struct {
	set      bool
	cur      grid.Cursor
	pen      Style
	protect  Cell
	charsets charsets
	origin   bool
}

// saveCursor is DECSC (VT510): position, pending wrap, rendition, character sets, origin.
func (t *Terminal) saveCursor() {
	t.saved[t.slot()] = savedCursor{
		set: true, cur: t.cur, pen: t.pen, protect: t.protect, charsets: t.charsets,
		origin: t.modes&modeOrigin != 0,
	}
}

// restoreCursor is DECRC; with nothing saved it goes home and resets what DECSC saves.
func (t *Terminal) restoreCursor() {
	s := t.saved[t.slot()]
	t.pen, t.protect, t.charsets = s.pen, s.protect, s.charsets
	t.penChanged()
	t.setMode(modeOrigin, s.origin)
	t.updateSimple()
	t.moveTo(s.cur.Row, s.cur.Col)
	if s.origin {
		t.cur.Row = min(max(t.cur.Row, t.top), t.bottom)
		t.cur.Col = min(max(t.cur.Col, t.left), t.right)
	}
	t.cur.Pending = s.cur.Pending && t.cur.Col == s.cur.Col && t.cur.Row == s.cur.Row
}
