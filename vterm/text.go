package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
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
	if t.cur.Pending && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	r := t.scr.Raw(t.cur.Row)
	r.Version = t.tables.Version
	end := t.lineEnd(r)
	col := t.cur.Col
	n := min(len(s), end-col)
	if t.drafts(r, col) {
		r.Begin(&t.tables, col, t.cell.Style())
		r.Packed.Reserve(end - col)
		r.AppendASCII(s[:n])
	} else {
		t.scr.Overwrite(r, col, s[:n], t.cell)
	}
	t.lastRune = rune(s[n-1])
	t.join = width.Plain
	if col += n; col < end {
		t.cur.Col, t.cur.Pending = col, false
		return n
	}
	r.Wrapped = false
	t.cur.Col, t.cur.Pending = end-1, true
	if t.modes&modeAutowrap == 0 && n < len(s) {
		// Without autowrap the rest is printed in the last column; only its last stays.
		t.scr.Overwrite(r, end-1, s[len(s)-1:], t.cell)
		t.lastRune = rune(s[len(s)-1])
		return len(s)
	}
	return n
}

// drafts reports whether what the pen prints at col of a row can be appended to its draft.
func (t *Terminal) drafts(r *grid.Row, col int) bool {
	return !r.Inflated && col >= r.Used && t.protect == 0
}

// lineEnd is the column after the last that text may take: the right margin unless the
// cursor stands beyond it; half of it on a line of double width.
func (p *page) lineEnd(r *grid.Row) int {
	end := p.cols
	if p.cur.Col <= p.right {
		end = p.right + 1
	}
	if r.Size != LineNormal {
		end = max(1, min(end, p.cols/2))
		p.cur.Col = min(p.cur.Col, end-1)
	}
	return end
}

// wrap goes to the start of the next line because a character did not fit.
func (t *Terminal) wrap() {
	if t.marginsFull() {
		t.scr.Raw(t.cur.Row).Wrapped = true
	}
	t.index()
	t.cur.Col = t.left
}

// control1 runs a C1 control. It returns false when the parser has more to read.
func (t *Terminal) control1(c byte) bool {
	if e := t.parser.C1(c); e != parse.None {
		t.dispatch(e)
	}
	return t.parser.State == parse.Ground
}
