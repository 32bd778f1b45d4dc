package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// printASCII prints a run of 0x20–0x7e.
func (t *Terminal) printASCII(s []byte) {
	if !t.simple {
		for _, c := range s {
			t.printMapped(rune(c))
		}
		return
	}
	if t.penStale {
		t.freshenPen()
	}
	if t.join != width.Plain && t.join != 0 && t.joinsASCII() {
		t.print(rune(s[0]))
		s = s[1:]
	}
	for len(s) > 0 {
		s = s[t.printSome(s):]
	}
}

// joinsASCII reports whether a letter goes on with the cluster before it: after a
// prepended mark (UAX #29, GB9b).
func (t *Terminal) joinsASCII() bool {
	_, joined := width.Step(t.join, width.Of('a'))
	return joined && t.modes&modeGraphemes != 0
}

// printSome prints what of a non-empty run fits on the cursor's row.
func (t *Terminal) printSome(s []byte) int {
	if t.cur.pending && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	r := t.scr.raw(t.cur.row)
	r.version = t.tables.version
	end := t.lineEnd(r)
	col := t.cur.col
	n := min(len(s), end-col)
	if t.drafts(r, col) {
		r.begin(&t.tables, col, t.cell.Style())
		r.draft.reserve(end - col)
		r.appendASCII(s[:n])
	} else {
		t.scr.overwrite(r, col, s[:n], t.cell)
	}
	t.lastRune = rune(s[n-1])
	t.join = width.Plain
	if col += n; col < end {
		t.cur.col, t.cur.pending = col, false
		return n
	}
	r.wrapped = false
	t.cur.col, t.cur.pending = end-1, true
	if t.modes&modeAutowrap == 0 && n < len(s) {
		// Without autowrap the rest is printed in the last column; only its last stays.
		t.scr.overwrite(r, end-1, s[len(s)-1:], t.cell)
		t.lastRune = rune(s[len(s)-1])
		return len(s)
	}
	return n
}

// drafts reports whether what the pen prints at col of a row can be appended to its draft.
func (t *Terminal) drafts(r *row, col int) bool {
	return !r.thawed && col >= r.used && t.protect == 0
}

// lineEnd is the column after the last that text may take: the right margin unless the
// cursor stands beyond it; half of it on a line of double width.
func (t *Terminal) lineEnd(r *row) int {
	end := t.cols
	if t.cur.col <= t.right {
		end = t.right + 1
	}
	if r.size != LineNormal {
		end = max(1, min(end, t.cols/2))
		t.cur.col = min(t.cur.col, end-1)
	}
	return end
}

// wrap goes to the start of the next line because a character did not fit.
func (t *Terminal) wrap() {
	if t.marginsFull() {
		t.scr.raw(t.cur.row).wrapped = true
	}
	t.index()
	t.cur.col = t.left
}

// control1 runs a C1 control. It returns false when the parser has more to read.
func (t *Terminal) control1(c byte) bool {
	if e := t.parser.C1(c); e != parse.None {
		t.dispatch(e)
	}
	return t.parser.State == parse.Ground
}
