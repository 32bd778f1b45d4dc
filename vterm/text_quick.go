package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// quickText prints the printable ASCII at the start of p when nothing is special about the
// state. It returns the bytes taken, 0 for the long way. It calls nothing, so that what it
// works with stays in registers.
func (t *Terminal) quickText(p []byte) int {
	if t.penStale || t.cur.pending || !t.simple || t.join != 0 && t.join != width.Plain {
		return 0
	}
	r := t.scr.raw(t.cur.row)
	col := t.cur.col
	room := t.right - col // one column less: a row that becomes full is for the long way
	if r.size != LineNormal || room <= 0 {
		return 0
	}
	n := 0
	if r.thawed {
		if r.wide || len(r.cells) != t.cols {
			return 0
		}
		if n = quickCells(r.cells[col:col+room], p, t.cell); n == 0 {
			return 0
		}
		r.used = max(r.used, col+n)
	} else {
		d, id := &r.draft, t.cell.Style()
		if col != r.used || t.protect != 0 {
			return 0
		}
		if n = d.quickASCII(p, room); n == 0 || id != d.style && !d.switchStyle(col, id) {
			return 0
		}
		d.text = d.text[:len(d.text)+n]
		d.last = int32(len(d.text) - 1)
		r.used = col + n
	}
	r.version = t.tables.version
	t.cur.col = col + n
	t.lastRune = rune(p[n-1])
	t.join = width.Plain
	return n
}
