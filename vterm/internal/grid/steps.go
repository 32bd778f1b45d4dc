package grid

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// Lines of one letter that are ended by LF alone, as raw programs print them, each stand a column further right than the one
// before, until they stand in the last. Those that would only pass over the screen within one write never get there.

// PassSteps prints such lines at the start of p, the first in column col of row bottom, and scrolls rows [top, bottom] after
// each, if there are so many that they leave these rows again. All but the last lines are not put on the screen. The style is
// the default one, rows that leave go to kept unless it is nil. It returns how many lines it took, of two bytes each.
func (s *Screen) PassSteps(p []byte, col, top, bottom int, kept *Scrollback) int {
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
		if kept != nil {
			kept.Push(r)
		}
		r.Clear(0, s.Cols)
	}
	passed := n - height
	if kept != nil {
		kept.pushSteps(p[:2*passed], col, s.Cols-1)
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

// stepsMin is how many lines are worth it, stepsMax bounds how many are looked at in vain.
const stepsMin, stepsMax = 8, 512

// steps counts the lines of one printable letter and LF at the start of p.
func steps(p []byte) int {
	const ends, space = 0x0a000a000a000a00, ('\n' ^ ' ') * 0x0100010001000100
	at := 0
	for ; len(p)-at >= 8; at += 8 {
		w := binary.LittleEndian.Uint64(p[at:])
		if w&0xff00ff00ff00ff00 != ends || scan.NotPrintable(w^space) != 0 {
			break
		}
	}
	for len(p)-at >= 2 && p[at]-0x20 < 0x5f && p[at+1] == '\n' {
		at += 2
	}
	return at / 2
}

// pushSteps makes records of the lines in p, which steps found, the first letter in column col, none behind column last.
func (h *Scrollback) pushSteps(p []byte, col, last int) {
	h.Widest = max(h.Widest, min(col+len(p)/2, last+1))
	for len(p) > 0 {
		room, before, ends := h.log.Free(3 + last)
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
		h.log.Fill(k, put)
		p = p[2*k:]
	}
}
