package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
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

// quickCells stores the run of printable ASCII at the start of p. It returns its length, 0
// when it does not fit or p ends too soon; then some of it may have been stored.
func quickCells(dst []Cell, p []byte, pen Cell) int {
	for n := 0; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		odd := scan.NotPrintable(w)
		if odd == 0 && len(dst)-n >= 8 {
			d := dst[n : n+8 : n+8]
			d[0], d[1], d[2], d[3] = pen|Cell(w&0xff), pen|Cell(w>>8&0xff), pen|Cell(w>>16&0xff), pen|Cell(w>>24&0xff)
			d[4], d[5], d[6], d[7] = pen|Cell(w>>32&0xff), pen|Cell(w>>40&0xff), pen|Cell(w>>48&0xff), pen|Cell(w>>56)
			continue
		}
		k := bits.TrailingZeros64(odd) / 8
		if k > len(dst)-n {
			return 0
		}
		for i := range dst[n : n+k] {
			dst[n+i] = pen | Cell(w&0xff)
			w >>= 8
		}
		return n + k
	}
	return 0
}

// quickASCII copies the run of printable ASCII at the start of p behind the text and
// returns its length. It copies 8 bytes at a time, which leaves rubbish behind the run. The
// length is 0 when the run is longer than limit, there is no room or p ends too soon.
func (d *draft) quickASCII(p []byte, limit int) int {
	out := d.text[len(d.text):cap(d.text)]
	if len(out) < limit+draftSlack {
		return 0
	}
	for n := 0; n <= limit && len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		binary.LittleEndian.PutUint64(out[n:], w)
		if odd := scan.NotPrintable(w); odd != 0 {
			if n += bits.TrailingZeros64(odd) / 8; n <= limit {
				return n
			}
			return 0
		}
	}
	return 0
}
