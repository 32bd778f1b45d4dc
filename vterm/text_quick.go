package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// quickText prints the printable ASCII at the start of p when nothing is special about the
// state. It returns the bytes taken, 0 for the long way. It calls nothing, so that what it
// works with stays in registers.
func (t *Terminal) quickText(p []byte) int {
	if t.penStale || t.cur.Pending || !t.simple || t.join != 0 && t.join != width.Plain {
		return 0
	}
	r := t.scr.Raw(t.cur.Row)
	col := t.cur.Col
	room := t.right - col // one column less: a row that becomes full is for the long way
	if r.Size != LineNormal || room <= 0 {
		return 0
	}
	n := 0
	if r.Inflated {
		if r.Wide || len(r.Cells) != t.cols {
			return 0
		}
		if n = grid.FastCells(r.Cells[col:col+room], p, t.cell); n == 0 {
			return 0
		}
		r.Used = max(r.Used, col+n)
	} else {
		d, id := &r.Packed, t.cell.Style()
		if col != r.Used || t.protect != 0 {
			return 0
		}
		if n = d.FastASCII(p, room); n == 0 || id != d.Style && !d.SwitchStyle(col, id) {
			return 0
		}
		d.Text = d.Text[:len(d.Text)+n]
		d.Last = int32(len(d.Text) - 1)
		r.Used = col + n
	}
	r.Version = t.tables.Version
	t.cur.Col = col + n
	t.lastRune = rune(p[n-1])
	t.join = width.Plain
	return n
}
