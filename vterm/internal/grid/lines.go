package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
)

// Whole lines of printable ASCII, ended by CR LF, that each scroll the screen are printed here
// without asking after every character what the state is, and those that would only pass over
// the screen within one write never get there.

// AppendLines prints the lines at the start of p into row bottom, which is blank, and scrolls rows [top, bottom] up
// after each. It pushes rows that leave to scrollback, unless that is nil. It returns the number of consumed bytes.
func (s *Screen) AppendLines(p []byte, top, bottom int, id StyleID, blank Cell, scrollback *Scrollback) int {
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
		if scrollback != nil {
			scrollback.Push(first)
		}
		s.RotateUp(top, bottom, 1)
		first.Clear(blank, s.Cols)
		r = first
		at += n + 2
	}
	return at
}

// PassLines prints all but the last lines at the start of p directly into the scrollback, if they are numerous enough
// to scroll out of rows [top, bottom] again. The remaining lines then fill these rows, which are blank. The style must
// be the default one; scrollback is as in AppendLines.
func (s *Screen) PassLines(p []byte, top, bottom int, scrollback *Scrollback) int {
	limit := min(s.Cols-1, shortLine)
	height := bottom - top // rows but the last
	if r := s.Raw(bottom); r.Used != 0 || r.Marks != (Marks{}) || 2*height > passLinesMax {
		return 0
	}
	n, size := plainLines(p, limit, 2*height, nil)
	if n < 2*height || size > passLength*n {
		return 0
	}
	return s.passLines(p[:min(len(p), max(passBytes, size+8))], limit, top, bottom, scrollback)
}

// passLines implements PassLines once p has enough lines.
//
//go:noinline // else every line that is not passed would pay for making room for the lengths
func (s *Screen) passLines(p []byte, limit, top, bottom int, scrollback *Scrollback) int {
	var lengths [passLinesMax]byte
	height := bottom - top
	n, size := plainLines(p, limit, len(lengths), lengths[:])
	passed := size
	for i := n - height; i < n; i++ {
		passed -= int(lengths[i]) + 2
	}
	for i := top; i < bottom; i++ {
		r := s.Raw(i)
		if scrollback != nil {
			scrollback.Push(r)
		}
		r.Clear(0, s.Cols)
		r.Version = s.tables.Version
	}
	if scrollback != nil {
		scrollback.pushLines(p, lengths[:n-height])
	}
	// The rows are blank now: to put the rest into them they need not be scrolled out.
	at := passed
	for i := top; i < bottom; i++ {
		at += s.Raw(i).putLine(p[at:size], s.Cols)
	}
	return size
}

// passLength is the largest mean length of lines that PassLines handles: reading longer lines twice takes as long as
// printing them.
const passLength = 32

// passBytes limits the bytes that passLines reads twice, so that they are still in the cache.
const passBytes = 16 << 10

// passLinesMax is the largest number of lines in passBytes.
const passLinesMax = passBytes / 2

// putLine puts the line at the start of p into a blank row and returns the number of consumed bytes.
func (r *Row) putLine(p []byte, cols int) int {
	n := bytescan.ASCII(p)
	if n > 0 {
		r.Packed.Reserve(cols)
		r.AppendASCII(p[:n])
	}
	return n + 2
}

// plainLines counts the complete lines at the start of p, up to most, that have at most limit printable characters
// each, and their bytes. It stores their lengths in lengths while that has space.
func plainLines(p []byte, limit, most int, lengths []byte) (n, size int) {
	p = p[:len(p):len(p)] // so that a rest of it is known to have a capacity
	for at := 0; n < most && len(p)-at >= 8; {
		w := binary.LittleEndian.Uint64(p[at:])
		if w&0xffff00 == '\n'<<16|'\r'<<8 && byte(w)-0x20 < 0x5f && at == size && limit > 0 {
			if n < len(lengths) {
				lengths[n] = 1
			}
			at += 3 // one letter: the start of the next line is predicted without searching the end of this one
			n, size = n+1, at
			continue
		}
		odd := bytescan.NotPrintable(w)
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
		if k == 7 { // the LF is in the next word
			if at+1 >= len(p) || p[at] != '\r' || p[at+1] != '\n' {
				break
			}
		} else if w>>(8*k&63)&0xffff != '\n'<<8|'\r' {
			break
		}
		if n < len(lengths) {
			lengths[n] = byte(at - size)
		}
		at += 2
		n, size = n+1, at
	}
	return n, size
}

// shortLine is the longest line whose length is one byte of its record.
const shortLine = 0x7f

// pushLines stores the lines at the start of p, found by plainLines with these lengths, as records.
func (h *Scrollback) pushLines(p, lengths []byte) {
	h.open = 0
	const reach = 2 + shortLine + packedSlack
	for len(lengths) > 0 {
		room, before, ends := h.log.ReserveBatch(reach)
		if len(ends) == 0 { // nothing is kept
			for _, n := range lengths {
				h.log.Commit(2 + int(n))
				h.Widest = max(h.Widest, int(n))
			}
			return
		}
		put, k, widest := 0, 0, h.Widest
		for k < len(ends) && k < len(lengths) && len(room)-put >= reach {
			n := int(lengths[k])
			rec := room[put : put+reach]
			rec[0], rec[1] = recASCII, byte(n)
			copyShort(rec[2:], p, n)
			put += 2 + n
			ends[k] = uint32(before + put)
			k++
			widest = max(widest, n)
			p = p[n+2:]
		}
		h.log.CommitBatch(k, put)
		h.Widest = widest
		lengths = lengths[k:]
	}
}

// copyShort copies the first n bytes of p. It stores several bytes at a time and overwrites bytes after them.
func copyShort(out, p []byte, n int) {
	for i := 0; i < n; i += 8 {
		if len(p)-i < 8 || len(out)-i < 8 {
			copy(out[i:n], p[i:n])
			return
		}
		binary.LittleEndian.PutUint64(out[i:], binary.LittleEndian.Uint64(p[i:]))
	}
}
