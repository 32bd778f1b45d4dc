package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
)

// Overwrite stores a run of ASCII in the cells of a row, which is inflated first if necessary.
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

// FastCells stores the printable ASCII at the start of p, as far as dst has space. It returns the number of stored
// bytes, or 0 if p ends too soon; some may have been stored then.
func FastCells(dst []Cell, p []byte, pen Cell) int {
	p, dst = p[:len(p):len(p)], dst[:len(dst):len(dst)] // so that a rest of them is known to have a capacity
	for n := 0; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		odd := bytescan.NotPrintable(w)
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

// FastASCII appends the printable ASCII at the start of p, at most limit bytes, to the text and returns the length. It
// copies 8 bytes at a time, which leaves garbage after the run. The length is 0 if the space is short or p ends too
// soon.
func (d *Packed) FastASCII(p []byte, limit int) int {
	out := d.Text[len(d.Text):cap(d.Text)]
	if len(out) < limit+packedSlack {
		return 0
	}
	p, out = p[:len(p):len(p)], out[:len(out):len(out)] // as in FastCells
	for n := 0; n <= limit && len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		binary.LittleEndian.PutUint64(out[n:], w)
		if odd := bytescan.NotPrintable(w); odd != 0 {
			return min(n+bits.TrailingZeros64(odd)/8, limit)
		}
		if n+8 >= limit {
			return limit
		}
	}
	return 0
}
