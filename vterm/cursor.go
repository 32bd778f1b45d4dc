package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// page holds the cursor and the state that bounds its movements: size, margins, tab stops and modes.
type page struct {
	cols, rows  int
	cur         grid.Cursor
	top, bottom int // DECSTBM, inclusive
	left, right int // DECSLRM, inclusive; the whole width without mode 69
	tabs        tabStops
	modes       modeBits
	savedModes  map[int]bool // modes saved by XTSAVE, by number
	shape       cursorStyle
}

// moveTo places the cursor, clamped to the screen.
func (p *page) moveTo(row, col int) {
	p.cur.Row = min(max(row, 0), p.rows-1)
	p.cur.Col = min(max(col, 0), p.cols-1)
	p.cur.Pending = false
}

// moveToOrigin places the cursor relative to the home position. In origin mode (DECOM) that is the corner of the
// margins, which bound the cursor then.
func (p *page) moveToOrigin(row, col int) {
	if p.modes&modeOrigin == 0 {
		p.moveTo(row, col)
		return
	}
	p.moveTo(min(max(row, 0)+p.top, p.bottom), min(max(col, 0)+p.left, p.right))
}

// fromOrigin returns the cursor's position relative to the origin that moveToOrigin uses.
func (p *page) fromOrigin() (row, col int) {
	if p.modes&modeOrigin == 0 {
		return p.cur.Row, p.cur.Col
	}
	return p.cur.Row - p.top, p.cur.Col - p.left
}

func (p *page) home() { p.moveToOrigin(0, 0) }

// cursorPosition implements CUP and HVP.
func (p *page) cursorPosition(s *parse.Seq) {
	p.moveToOrigin(s.Count(0)-1, s.Count(1)-1)
}

func (p *page) cursorColumn(s *parse.Seq) {
	row, _ := p.fromOrigin()
	p.moveToOrigin(row, s.Count(0)-1)
}

func (p *page) cursorRow(s *parse.Seq) {
	_, col := p.fromOrigin()
	p.moveToOrigin(s.Count(0)-1, col)
}

func (p *page) columnRelative(s *parse.Seq) {
	row, col := p.fromOrigin()
	p.moveToOrigin(row, col+s.Count(0))
}

func (p *page) rowRelative(s *parse.Seq) {
	row, col := p.fromOrigin()
	p.moveToOrigin(row+s.Count(0), col)
}

// up moves the cursor up. The top margin stops it, unless it is above the margin.
func (p *page) up(n int) {
	limit := 0
	if p.cur.Row >= p.top {
		limit = p.top
	}
	p.moveTo(max(p.cur.Row-n, limit), p.cur.Col)
}

func (p *page) down(n int) {
	limit := p.rows - 1
	if p.cur.Row <= p.bottom {
		limit = p.bottom
	}
	p.moveTo(min(p.cur.Row+n, limit), p.cur.Col)
}

func (p *page) forward(n int) {
	limit := p.cols - 1
	if p.cur.Col <= p.right {
		limit = p.right
	}
	p.moveTo(p.cur.Row, min(p.cur.Col+n, limit))
}

// backward implements CUB and BS, with reverse wrap (modes 45 and 1045): from the left margin to the right one of the
// line above, and from the first line to the last. A pending wrap then counts as a column.
func (p *page) backward(n int) {
	wrap := p.modes&modeAutowrap != 0 && p.modes&(modeReverseWrap|modeReverseWrap2) != 0
	if p.cur.Pending && wrap {
		n--
	}
	p.cur.Pending = false
	left := p.left
	if p.cur.Col < left {
		left = 0
	}
	for n > 0 {
		step := min(n, p.cur.Col-left)
		p.cur.Col -= step
		if n -= step; n == 0 || !wrap {
			return
		}
		switch p.cur.Row {
		case p.top:
			p.cur.Row = p.bottom
		case 0:
			p.cur.Row = p.rows - 1
		default:
			p.cur.Row--
		}
		p.cur.Col, left = p.right, p.left
		n--
	}
}

func (p *page) carriageReturn() {
	p.cur.Pending = false
	if p.modes&modeOrigin == 0 && p.cur.Col < p.left {
		p.cur.Col = 0
		return
	}
	p.cur.Col = p.left
}

// index implements IND and LF without LNM: down one line, scrolling at the bottom margin.
func (t *Terminal) index() {
	t.cur.Pending = false
	switch {
	case t.cur.Row == t.bottom:
		if t.left <= t.cur.Col && t.cur.Col <= t.right {
			t.scrollLine()
		}
	case t.cur.Row < t.rows-1:
		t.cur.Row++
	}
}

// reverseIndex implements RI.
func (t *Terminal) reverseIndex() {
	t.cur.Pending = false
	switch {
	case t.cur.Row == t.top:
		if t.left <= t.cur.Col && t.cur.Col <= t.right {
			t.scrollDown(1)
		}
	case t.cur.Row > 0:
		t.cur.Row--
	}
}

// lineFeed implements LF, VT and FF.
func (t *Terminal) lineFeed() {
	t.index()
	if t.modes&modeNewLine != 0 {
		t.carriageReturn()
	}
}

func (t *Terminal) nextLine() {
	t.index()
	t.carriageReturn()
}

// forwardIndex implements DECFI: right one column, scrolling at the right margin. A pending wrap
// survives the scroll, as in xterm.
func (t *Terminal) forwardIndex() {
	switch {
	case t.cur.Col == t.right:
		t.scrollColumns(t.left, -1)
	default:
		t.moveTo(t.cur.Row, t.cur.Col+1)
	}
}

// backIndex implements DECBI.
func (t *Terminal) backIndex() {
	switch {
	case t.cur.Col == t.left:
		t.scrollColumns(t.left, 1)
	default:
		t.moveTo(t.cur.Row, t.cur.Col-1)
	}
}

// savedCursor is the state saved by DECSC.
type savedCursor struct {
	set      bool // DECSC was used
	cur      grid.Cursor
	pen      Style
	protect  Cell
	charsets charsets // designated sets
	origin   bool     // origin mode
}

// saveCursor implements DECSC (VT510): position, pending wrap, rendition, character sets, origin.
func (t *Terminal) saveCursor() {
	t.saved[t.slot()] = savedCursor{
		set: true, cur: t.cur, pen: t.pen, protect: t.protect, charsets: t.charsets,
		origin: t.modes&modeOrigin != 0,
	}
}

// restoreCursor implements DECRC. Without a saved cursor it moves home and resets what DECSC saves.
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
