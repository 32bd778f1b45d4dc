package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// Whole lines of printable ASCII, ended by CR LF, that each scroll the screen are what a log
// is made of. They are printed here without asking after every character what the state is,
// and those that would only pass over the screen within one Write never get there. It comes
// to the same as text, CR and LF one after the other.

// quickLines prints the lines at the start of p while the cursor stands at the start of the
// lowest row of the margins and nothing is special about the state. It returns the bytes
// taken.
func (t *Terminal) quickLines(p []byte) int {
	if t.cur.row != t.bottom || t.cur.col != 0 || !t.simple || t.penStale || t.protect != 0 ||
		t.modes&modeNewLine != 0 || t.join != 0 || t.cur.pending || !t.marginsFull() {
		return 0
	}
	passed := 0
	for n := 1; n > 0 && t.cell == 0 && t.pen.BG == 0; passed += n {
		n = t.passLines(p[passed:])
	}
	at := t.rowLines(p[passed:])
	if passed+at > 0 {
		if t.top > 0 {
			t.scr.raw(t.top - 1).wrapped = false
		}
		t.scr.touch(t.top, t.bottom+1)
	}
	return passed + at
}

// keeps reports whether lines that leave the margins at the top go to the history.
func (t *Terminal) keeps() bool { return t.top == 0 && t.scr == t.primary }

// rowLines prints lines into rows.
func (t *Terminal) rowLines(p []byte) int {
	s, id := t.scr, t.cell.Style()
	at := 0
	for r := s.raw(t.bottom); r.used == 0 && r.rowMarks == (rowMarks{}); {
		d := &r.draft
		n := 0
		if len(p) == at || p[at] != '\r' {
			if n = d.quickASCII(p[at:], t.cols-1); n == 0 {
				break
			}
		}
		if end := at + n; end+1 >= len(p) || p[end] != '\r' || p[end+1] != '\n' {
			break
		}
		if n > 0 {
			d.text = d.text[:n]
			d.last = int32(n - 1)
			d.style = id
			t.lastRune = rune(p[at+n-1])
		}
		r.used, r.version = n, t.tables.version
		first := s.raw(t.top)
		if t.keeps() {
			t.history.push(first)
		}
		s.rotateUp(t.top, t.bottom, 1)
		first.clear(t.erased(), t.cols)
		r = first
		at += n + 2
	}
	return at
}

// passLines prints all but the last lines at the start of p, if there are so many that they
// leave the margins again. What is left then fills the rows, which are blank.
func (t *Terminal) passLines(p []byte) int {
	limit := min(t.cols-1, packShort)
	height := t.bottom - t.top // rows of the margins but the cursor's
	if r := t.scr.raw(t.bottom); r.used != 0 || r.rowMarks != (rowMarks{}) {
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
	for i := t.top; i < t.bottom; i++ {
		r := t.scr.raw(i)
		if t.keeps() {
			t.history.push(r)
		}
		r.clear(0, t.cols)
		r.version = t.tables.version
	}
	if t.keeps() {
		t.history.pushLines(p[:passed])
	}
	// The rows are blank now: to put the rest into them they need not be scrolled out.
	at := passed
	for i := t.top; i < t.bottom; i++ {
		at += t.putLine(t.scr.raw(i), p[at:size])
	}
	t.noteLast(p[:size])
	return size
}

// noteLast notes the last character of whole lines, which may all be empty.
func (t *Terminal) noteLast(lines []byte) {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] >= ' ' {
			t.lastRune = rune(lines[i])
			return
		}
	}
}

// passLength is the length in the mean up to which lines are passed: longer ones take no
// less time to look at twice than to print.
const passLength = 32

// passBytes bounds what passLines goes over twice, so that it is still in the cache.
const passBytes = 16 << 10

// putLine puts the line at the start of p into a blank row and returns what it takes of p.
func (t *Terminal) putLine(r *row, p []byte) int {
	n := scan.ASCII(p)
	if n > 0 {
		r.draft.reserve(t.cols)
		r.appendASCII(p[:n])
	}
	return n + 2
}

// plainLines counts the whole lines at the start of p, at most so many, of at most limit
// printable characters each, and their bytes.
func plainLines(p []byte, limit, most int) (n, size int) {
	for at := 0; n < most && len(p)-at >= 8; {
		odd := scan.NotPrintable(binary.LittleEndian.Uint64(p[at:]))
		if odd == 0 {
			if at += 8; at-size > limit {
				break
			}
			continue
		}
		if at += bits.TrailingZeros64(odd) / 8; at-size > limit || at+1 >= len(p) || p[at] != '\r' || p[at+1] != '\n' {
			break
		}
		at += 2
		n, size = n+1, at
	}
	return n, size
}

// packShort is the longest line whose length is one byte of its record.
const packShort = 0x7f

// pushLines makes records of lines that plainLines found.
func (h *history) pushLines(p []byte) {
	for at := 0; at < len(p); {
		rec := h.log.Room(2 + packShort + draftSlack)
		n := 0
		if len(rec) < 2+packShort+draftSlack {
			n = scan.ASCII(p[at:]) // nothing is kept
		} else {
			rec[0] = packASCII
			for out := rec[2:]; ; n += 8 {
				if len(p)-at-n < 8 {
					m := scan.ASCII(p[at+n:])
					copy(out[n:], p[at+n:at+n+m])
					n += m
					break
				}
				w := binary.LittleEndian.Uint64(p[at+n:])
				binary.LittleEndian.PutUint64(out[n:], w)
				if odd := scan.NotPrintable(w); odd != 0 {
					n += bits.TrailingZeros64(odd) / 8
					break
				}
			}
			rec[1] = byte(n)
		}
		h.log.Commit(2 + n)
		h.widest = max(h.widest, n)
		at += n + 2
	}
}
