package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// Whole lines of printable ASCII, ended by CR LF, that each scroll the screen are printed here
// without asking after every character what the state is, and those that would only pass over
// the screen within one write never get there.

// AppendLines prints the lines at the start of p one after the other into row bottom, which is
// blank, and scrolls rows [top, bottom] after each. Rows that leave go to kept unless it is
// nil. It returns the bytes taken.
func (s *Screen) AppendLines(p []byte, top, bottom int, id StyleID, blank Cell, kept *Scrollback) int {
	at := 0
	for r := s.Raw(bottom); r.Used == 0 && r.Marks == (Marks{}); {
		d := &r.Packed
		n := 0
		if len(p) == at || p[at] != '\r' {
			if n = d.FastASCII(p[at:], s.Cols-1); n == 0 {
				break
			}
		}
		if end := at + n; end+1 >= len(p) || p[end] != '\r' || p[end+1] != '\n' {
			break
		}
		if n > 0 {
			d.Text = d.Text[:n]
			d.Last = int32(n - 1)
			d.Style = id
		}
		r.Used, r.Version = n, s.tables.Version
		first := s.Raw(top)
		if kept != nil {
			kept.Push(first)
		}
		s.RotateUp(top, bottom, 1)
		first.Clear(blank, s.Cols)
		r = first
		at += n + 2
	}
	return at
}

// PassLines prints all but the last lines at the start of p, if there are so many that they
// leave rows [top, bottom] again. What is left then fills the rows, which are blank. The style
// is the default one; kept is as in appendLines.
func (s *Screen) PassLines(p []byte, top, bottom int, kept *Scrollback) int {
	limit := min(s.Cols-1, shortLine)
	height := bottom - top // rows but the last
	if r := s.Raw(bottom); r.Used != 0 || r.Marks != (Marks{}) {
		return 0
	}
	n, size := plainLines(p, limit, 2*height)
	if n < 2*height || size > passLength*n {
		return 0
	}
	_, size = plainLines(p[:min(len(p), max(passBytes, size+8))], limit, len(p))
	passed := size
	for range height {
		passed -= 2
		for passed > 0 && p[passed-1] != '\n' {
			passed--
		}
	}
	for i := top; i < bottom; i++ {
		r := s.Raw(i)
		if kept != nil {
			kept.Push(r)
		}
		r.Clear(0, s.Cols)
		r.Version = s.tables.Version
	}
	if kept != nil {
		kept.pushLines(p[:passed])
	}
	// The rows are blank now: to put the rest into them they need not be scrolled out.
	at := passed
	for i := top; i < bottom; i++ {
		at += s.Raw(i).putLine(p[at:size], s.Cols)
	}
	return size
}

// passLength is the length in the mean up to which lines are passed: longer ones take no
// less time to look at twice than to print.
const passLength = 32

// passBytes bounds what passLines goes over twice, so that it is still in the cache.
const passBytes = 16 << 10

// putLine puts the line at the start of p into a blank row and returns what it takes of p.
func (r *Row) putLine(p []byte, cols int) int {
	n := scan.ASCII(p)
	if n > 0 {
		r.Packed.Reserve(cols)
		r.AppendASCII(p[:n])
	}
	return n + 2
}

// plainLines counts the whole lines at the start of p, at most so many, of at most limit
// printable characters each, and their bytes.
func plainLines(p []byte, limit, most int) (n, size int) {
	for at := 0; n < most && len(p)-at >= 8; {
		w := binary.LittleEndian.Uint64(p[at:])
		odd := scan.NotPrintable(w)
		if odd == 0 {
			if at += 8; at-size > limit {
				break
			}
			continue
		}
		k := bits.TrailingZeros64(odd) / 8
		if at += k; at-size > limit {
			break
		}
		if k == 7 { // the LF stands in the next word
			if at+1 >= len(p) || p[at] != '\r' || p[at+1] != '\n' {
				break
			}
		} else if w>>(8*k&63)&0xffff != '\n'<<8|'\r' {
			break
		}
		at += 2
		n, size = n+1, at
	}
	return n, size
}

// shortLine is the longest line whose length is one byte of its record.
const shortLine = 0x7f

// pushLines makes records of lines that plainLines found.
func (h *Scrollback) pushLines(p []byte) {
	for len(p) > 0 {
		room, before, ends := h.log.Free(2 + shortLine + packedSlack)
		if len(ends) == 0 { // nothing is kept
			n := scan.ASCII(p)
			h.log.Commit(2 + n)
			h.Widest = max(h.Widest, n)
			p = p[n+2:]
			continue
		}
		put, k, widest := 0, 0, h.Widest
		for k < len(ends) && len(p) > 0 && len(room)-put >= 2+shortLine+packedSlack {
			rec := room[put : put+2+shortLine+packedSlack]
			n := copyASCII(rec[2:], p)
			rec[0], rec[1] = recASCII, byte(n)
			put += 2 + n
			ends[k] = uint32(before + put)
			k++
			widest = max(widest, n)
			p = p[n+2:]
		}
		h.log.Fill(k, put)
		h.Widest = widest
	}
}

// copyASCII copies the printable ASCII at the start of p, which a line ends that plainLines found, and returns its length.
// Stores of more than a byte spoil what is behind it.
func copyASCII(out, p []byte) int {
	for n := 0; len(p)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:])
		binary.LittleEndian.PutUint64(out[n:], w)
		if odd := scan.NotPrintable(w); odd != 0 {
			return n + bits.TrailingZeros64(odd)/8
		}
	}
	n := scan.ASCII(p)
	copy(out, p[:n])
	return n
}
