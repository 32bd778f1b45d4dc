package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// fastMoves carries out CUP and the few letters behind it at the start of p, and again as long as the
// like follows: that is how programs of the whole screen draw what changed. It takes CUP with two
// numbers, seven bytes with what separates and ends them, without origin mode, and letters into cells
// about which nothing is special. It returns the bytes taken, 0 when p begins with anything else. It
// calls nothing, so that what it works with stays in registers.
func (t *Terminal) fastMoves(p []byte) (at int) {
	if t.modes&modeOrigin != 0 {
		return 0
	}
	rows, pen, version := t.scr.Window(), t.cell, t.tables.Version
	prints := t.simple && !t.penStale
	for len(p)-at >= keyReach {
		q := (*[10]byte)(p[at:])
		if q[0] != 0x1b || q[1] != '[' {
			break
		}
		w := binary.LittleEndian.Uint64(q[2:]) // what is still to be read, the first byte lowest
		row, col, n := 0, 0, 2
		for d := byte(w) - '0'; d < 10; d = byte(w) - '0' {
			row = 10*row + int(d)
			w >>= 8
			n++
		}
		semi := n
		if n++; byte(w) != ';' || n == 3 {
			break
		}
		w >>= 8
		for d := byte(w) - '0'; d < 10; d = byte(w) - '0' {
			col = 10*col + int(d)
			w >>= 8
			n++
		}
		if byte(w) != 'H' || n == semi+1 {
			break
		}
		w >>= 8
		n++
		row, col = min(max(row, 1), len(rows))-1, min(max(col, 1), t.cols)-1
		at += n
		t.cur.Row, t.cur.Col, t.cur.Pending, t.join = row, col, false, 0
		if n > 8 { // less than two bytes are left of w
			w = binary.LittleEndian.Uint64(p[at:])
		}
		if byte(w)-0x20 >= 0x5f {
			continue
		}
		r := rows[row]
		room := t.right - col + 1
		if !prints || room <= 0 || r == nil || !r.Inflated || r.Wide || r.Size != LineNormal || len(r.Cells) != t.cols {
			break
		}
		cells := r.Cells[col:]
		cells[0] = pen | grid.Cell(w&0xff)
		if n = 1; byte(w>>8) >= ' ' {
			w = binary.LittleEndian.Uint64(p[at:])
			if n = bits.TrailingZeros64(scan.NotPrintable(w)) / 8; n == 8 || n > room {
				break // the first letter is printed again
			}
			for i := 1; i < n; i++ {
				w >>= 8
				cells[i] = pen | grid.Cell(w&0xff)
			}
		}
		r.Used = max(r.Used, col+n)
		r.Version = version
		t.lastRune, t.join = rune(w&0xff), width.Plain
		if t.cur.Col = col + n; n == room {
			t.cur.Col, t.cur.Pending = t.right, true
			r.Wrapped = false
		}
		at += n
	}
	return at
}
