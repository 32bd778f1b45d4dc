package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// fastText prints the printable ASCII at the start of p when nothing is special about the
// state. It returns the bytes taken, 0 for the slow path. It calls next to nothing, so that what it
// works with stays in registers.
func (t *Terminal) fastText(p []byte) int {
	if t.penStale || !t.simple || t.join != 0 && t.join != width.Plain {
		return 0
	}
	if t.cur.Pending {
		if t.modes&modeAutowrap == 0 {
			return 0
		}
		t.wrap()
	}
	r := t.scr.Raw(t.cur.Row)
	col := t.cur.Col
	room := t.right - col + 1
	if r.Size != LineNormal || room <= 0 {
		return 0
	}
	n := 0
	if r.Inflated {
		if r.Wide || len(r.Cells) != t.cols {
			return 0
		}
		if cells := r.Cells[col : col+room]; len(p) > 1 && p[1] < ' ' {
			cells[0] = t.cell | grid.Cell(p[0])
			n = 1
		} else if n = grid.FastCells(cells, p, t.cell); n == 0 {
			return 0
		}
		r.Used = max(r.Used, col+n)
	} else {
		d, id := &r.Packed, t.cell.Style()
		if col < r.Used || t.protect != 0 {
			return 0
		}
		if col > r.Used {
			r.Begin(&t.tables, col, id)
		}
		if n = d.FastASCII(p, room); n == 0 {
			return 0
		}
		if id != d.Style && !d.SwitchStyle(col, id) {
			r.Begin(&t.tables, col, id)
		}
		d.Text = d.Text[:len(d.Text)+n]
		d.Last = int32(len(d.Text) - 1)
		r.Used = col + n
	}
	r.Version = t.tables.Version
	if t.cur.Col = col + n; n == room {
		t.cur.Col, t.cur.Pending = t.right, true
		r.Wrapped = false
	}
	t.lastRune = rune(p[n-1])
	t.join = width.Plain
	return n
}

// looseText is fastText for a pen whose style is to get no id (grid.StyleTable.Lacks) on a packed row.
func (t *Terminal) looseText(p []byte) int {
	if !t.simple || t.protect != 0 || t.join != 0 && t.join != width.Plain || !t.tables.Styles.Lacks(&t.pen) {
		return 0
	}
	if t.cur.Pending {
		if t.modes&modeAutowrap == 0 {
			return 0
		}
		t.wrap()
		t.cur.Pending = false
	}
	r := t.scr.Raw(t.cur.Row)
	col := t.cur.Col
	room := t.right - col + 1
	if r.Size != LineNormal || room <= 0 || r.Inflated || col < r.Used {
		return 0
	}
	n := r.AppendLoose(&t.tables, p, col, room, &t.pen)
	if n == 0 {
		return 0
	}
	r.Version = t.tables.Version
	t.lastRune, t.join = rune(p[n-1]), width.Plain
	t.advance(r, col+n, t.right+1)
	return n
}

// looseLetter is looseText for a single letter before the last column, in a colour, behind others of the kind: images of
// characters are made of them. It returns false to leave the letter to looseText.
func (t *Terminal) looseLetter(c byte) bool {
	col := t.cur.Col
	if !t.simple || t.protect != 0 || col >= t.right {
		return false
	}
	r := t.scr.Raw(t.cur.Row)
	if !r.AppendColored(&t.tables, c, col, &t.pen) {
		return false
	}
	r.Version = t.tables.Version
	t.lastRune, t.join = rune(c), width.Plain
	t.cur.Col = col + 1
	return true
}

// fastLines prints whole lines of printable ASCII, which is what a log is made of, while the
// cursor stands at the start of the lowest row of the margins and nothing is special about the
// state. It comes to the same as text, CR and LF one after the other. It returns the bytes
// taken.
func (t *Terminal) fastLines(p []byte) int {
	if t.cur.Row != t.bottom || t.cur.Col != 0 || !t.simple || t.penStale || t.protect != 0 ||
		t.modes&modeNewLine != 0 || t.join != 0 || t.cur.Pending || !t.marginsFull() || t.scrolls != nil {
		return 0
	}
	var kept *grid.Scrollback
	if t.top == 0 && t.scr == t.primary {
		kept = t.scrollback
	}
	at := 0
	for n := 1; n > 0 && t.cell == 0 && t.pen.BG == 0; at += n {
		n = t.scr.PassLines(p[at:], t.top, t.bottom, kept)
	}
	if t.pen.BG == t.blankBG { // else a line that scrolls the slow way finds out what blank is
		at += t.scr.AppendLines(p[at:], t.top, t.bottom, t.cell.Style(), t.blank, kept)
	}
	if at > 0 {
		t.scr.Unlink(t.top)
		t.scr.Touch(t.top, t.bottom+1)
		t.noteLast(p[:at])
	}
	return at
}

// noteLast notes the last character of whole lines, which may all be empty.
func (x *textState) noteLast(lines []byte) {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] >= ' ' {
			x.lastRune = rune(lines[i])
			return
		}
	}
}
