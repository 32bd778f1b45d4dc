package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// Overwrite stores a run of ASCII in the cells of a row, which gets some if it has none.
func (s *Screen) Overwrite(r *Row, col int, p []byte, pen Cell) {
	if !r.Inflated {
		s.Inflate(r)
	}
	end := col + len(p)
	if r.Wide || len(r.Cells) < end {
		r.Ensure(s.Cols)
		r.split(col)
		r.split(end)
	}
	putASCII(r.Cells[col:end], p, pen)
	r.Used = max(r.Used, end)
}

// putASCII stores a run; dst is not longer than s.
func putASCII(dst []Cell, s []byte, pen Cell) {
	s = s[:len(dst)]
	for len(dst) >= 8 {
		d, b := dst[:8:8], s[:8:8]
		d[0] = pen | Cell(b[0])
		d[1] = pen | Cell(b[1])
		d[2] = pen | Cell(b[2])
		d[3] = pen | Cell(b[3])
		d[4] = pen | Cell(b[4])
		d[5] = pen | Cell(b[5])
		d[6] = pen | Cell(b[6])
		d[7] = pen | Cell(b[7])
		dst, s = dst[8:], s[8:]
	}
	for i := range dst {
		dst[i] = pen | Cell(s[i])
	}
}

// FastCells stores the run of printable ASCII at the start of p, or what of it fits. It returns
// how much that is, 0 when p ends too soon; then some of it may have been stored.
func FastCells(dst []Cell, p []byte, pen Cell) int {
	p, dst = p[:len(p):len(p)], dst[:len(dst):len(dst)] // so that a rest of them is known to have a capacity
	for n := 0; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		odd := scan.NotPrintable(w)
		if odd == 0 && len(dst)-n >= 8 {
			d := dst[n : n+8 : n+8]
			d[0], d[1], d[2], d[3] = pen|Cell(w&0xff), pen|Cell(w>>8&0xff), pen|Cell(w>>16&0xff), pen|Cell(w>>24&0xff)
			d[4], d[5], d[6], d[7] = pen|Cell(w>>32&0xff), pen|Cell(w>>40&0xff), pen|Cell(w>>48&0xff), pen|Cell(w>>56)
			continue
		}
		k := min(bits.TrailingZeros64(odd)/8, len(dst)-n)
		for i := range dst[n : n+k] {
			dst[n+i] = pen | Cell(w&0xff)
			w >>= 8
		}
		return n + k
	}
	return 0
}

// FastASCII copies the run of printable ASCII at the start of p, or limit bytes of a longer one, behind
// the text and returns the length. It copies 8 bytes at a time, which leaves rubbish behind the run. The
// length is 0 when there is no room or p ends too soon.
func (d *Packed) FastASCII(p []byte, limit int) int {
	out := d.Text[len(d.Text):cap(d.Text)]
	if len(out) < limit+packedSlack {
		return 0
	}
	p, out = p[:len(p):len(p)], out[:len(out):len(out)] // as in FastCells
	for n := 0; n <= limit && len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		binary.LittleEndian.PutUint64(out[n:], w)
		if odd := scan.NotPrintable(w); odd != 0 {
			return min(n+bits.TrailingZeros64(odd)/8, limit)
		}
		if n+8 >= limit {
			return limit
		}
	}
	return 0
}
