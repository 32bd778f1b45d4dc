package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// fastMoves runs CUP followed by a few letters at p[at:], and repeats while the same form follows: full-screen programs
// draw changes in this way. It accepts CUP with a row of one or two digits and a column of up to three, without origin
// mode, and letters into cells in a plain state. It returns where it stopped. It calls nothing, so its variables stay
// in registers. It branches on the length of numbers, so the CPU predicts the start of the next sequence while it still
// reads this one.
func (t *Terminal) fastMoves(p []byte, at int) int {
	if t.modes&modeOrigin != 0 {
		return at
	}
	rows, cols, pen, version := t.scr.Window(), t.cols, t.cell, t.tables.Version
	prints := t.simple && !t.penStale
	p = p[:len(p):len(p)] // lets the compiler know that the remaining slice has the same capacity
	for len(p)-at >= keyReach {
		q := (*[10]byte)(p[at:])
		if q[0] != 0x1b || q[1] != '[' {
			break
		}
		w := binary.LittleEndian.Uint64(q[2:]) // what is still to be read, the first byte lowest
		d := byte(w) - '0'
		if d > 9 {
			break
		}
		row, n := int(d), 6
		if d = byte(w >> 8); d != ';' {
			if d -= '0'; d > 9 || byte(w>>16) != ';' {
				break
			}
			row = 10*row + int(d)
			w >>= 8
			n++
		}
		w >>= 16
		if d = byte(w) - '0'; d > 9 {
			break
		}
		col := int(d)
		if d = byte(w >> 8); d != 'H' {
			if d -= '0'; d > 9 {
				break
			}
			col = 10*col + int(d)
			w >>= 8
			n++
			if d = byte(w >> 8); d != 'H' {
				if d -= '0'; d > 9 || byte(w>>16) != 'H' {
					break
				}
				col = 10*col + int(d)
				w >>= 8
				n++
			}
		}
		w >>= 16
		at += n
		if n > 8 { // less than two bytes of w remain
			w = binary.LittleEndian.Uint64(p[at:])
		}
		row, col = min(max(row, 1), len(rows))-1, min(max(col, 1), cols)-1
		t.cur.Row, t.cur.Col, t.cur.Pending, t.join = row, col, false, 0
		if byte(w)-0x20 >= 0x5f {
			continue
		}
		r := rows[row]
		room := t.right - col + 1
		if !prints || room <= 0 || r == nil || !r.Inflated || r.Wide || r.Size != LineNormal || col >= len(r.Cells) {
			break
		}
		r.Cells[col] = pen | grid.Cell(w&0xff)
		if n = 1; byte(w>>8) >= ' ' {
			w = binary.LittleEndian.Uint64(p[at:])
			if n = bits.TrailingZeros64(bytescan.NotPrintable(w)) / 8; n == 8 || n > room {
				break // the first letter is printed again
			}
			cells := r.Cells[col+1 : col+n]
			for i := range cells {
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
