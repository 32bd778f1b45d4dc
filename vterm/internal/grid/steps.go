package grid

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
)

// Lines of one letter that end with LF alone, as raw programs print them, are each a column further right than the
// previous one, until they reach the last. Those that would only pass over the screen within one write are never stored
// in it.

// PassSteps prints lines of one letter and LF at the start of p, the first in column col of row bottom, if they are
// numerous enough to scroll out of rows [top, bottom] again. It scrolls after each line; only the last lines are put on
// the screen. The style must be the default one. It pushes rows that leave to scrollback, unless that is nil. It
// returns the number of consumed lines, of two bytes each.
func (s *Screen) PassSteps(p []byte, col, top, bottom int, scrollback *Scrollback) int {
	height := bottom - top // rows but the last
	if r := s.Raw(bottom); r.Used != 0 || r.Marks != (Marks{}) || 2*height > stepsMax || s.Cols > shortLine {
		return 0
	}
	p = p[:min(len(p), passBytes)]
	n := steps(p)
	if n < max(2*height, stepsMin) {
		return 0
	}
	for i := top; i < bottom; i++ {
		r := s.Raw(i)
		if scrollback != nil {
			scrollback.Push(r)
		}
		r.Clear(0, s.Cols)
	}
	passed := n - height
	if scrollback != nil {
		scrollback.pushSteps(p[:2*passed], col, s.Cols-1)
	}
	for i := range height {
		k := passed + i
		r := s.Raw(top + i)
		r.pad(s.tables, min(col+k, s.Cols-1))
		r.AppendASCII(p[2*k : 2*k+1])
		r.Version = s.tables.Version
	}
	return n
}

// stepsMin is the smallest number of lines that makes PassSteps worthwhile; stepsMax limits the lines examined in vain.
const stepsMin, stepsMax = 8, 512

// steps returns the number of lines of one printable letter and LF at the start of p.
func steps(p []byte) int {
	const ends, space = 0x0a000a000a000a00, ('\n' ^ ' ') * 0x0100010001000100
	at := 0
	for ; len(p)-at >= 8; at += 8 {
		w := binary.LittleEndian.Uint64(p[at:])
		if w&0xff00ff00ff00ff00 != ends || bytescan.NotPrintable(w^space) != 0 {
			break
		}
	}
	for len(p)-at >= 2 && p[at]-0x20 < 0x5f && p[at+1] == '\n' {
		at += 2
	}
	return at / 2
}

// pushSteps stores the lines in p, found by steps, as records. The first letter is in column col; none is beyond column
// last.
func (h *Scrollback) pushSteps(p []byte, col, last int) {
	h.Widest = max(h.Widest, min(col+len(p)/2, last+1))
	for len(p) > 0 {
		room, before, ends := h.log.ReserveBatch(3 + last)
		if len(ends) == 0 { // nothing is kept
			for ; len(p) > 0; p = p[2:] {
				h.log.Commit(0)
			}
			return
		}
		put, k := 0, 0
		for k < len(ends) && 2*k < len(p) && len(room)-put >= 3+last {
			rec := room[put : put+3+col]
			rec[0], rec[1] = recASCII, byte(col+1)
			clear(rec[2 : 2+col])
			rec[2+col] = p[2*k]
			put += len(rec)
			ends[k] = uint32(before + put)
			k++
			col = min(col+1, last)
		}
		h.log.CommitBatch(k, put)
		p = p[2*k:]
	}
}
