package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// overwrite stores a run of ASCII in the cells of a row, which gets some if it has none.
func (s *screen) overwrite(r *row, col int, p []byte, pen Cell) {
	if !r.thawed {
		s.thaw(r)
	}
	end := col + len(p)
	if r.wide || len(r.cells) < end {
		r.ensure(s.cols)
		r.split(col)
		r.split(end)
	}
	putASCII(r.cells[col:end], p, pen)
	r.used = max(r.used, end)
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
