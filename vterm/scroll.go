package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// scrollUp moves the lines between the margins up by n. Whole lines that leave the top of the primary screen go to the
// history, for any bottom margin (as in xterm).
func (t *Terminal) scrollUp(n int) {
	n = min(n, t.bottom-t.top+1)
	if !t.marginsFull() {
		t.scr.ShiftUp(t.region(t.top), n, t.blankCell())
		return
	}
	if t.scrolls != nil {
		t.scrolls(t.top, t.bottom, n)
	}
	if t.top == 0 && t.scr == t.primary {
		for i := range n {
			t.scrollback.Push(t.scr.Raw(i))
		}
	}
	t.scr.RollUp(t.top, t.bottom, n, t.blankCell())
}

// scrollLine is scrollUp by one line, for a line feed.
func (t *Terminal) scrollLine() {
	s, top, bottom := t.scr, t.top, t.bottom
	if !t.marginsFull() {
		s.ShiftUp(t.region(top), 1, t.blankCell())
		return
	}
	if t.scrolls != nil {
		t.scrolls(top, bottom, 1)
	}
	r := s.Raw(top)
	if top == 0 {
		if s == t.primary {
			t.scrollback.Push(r)
		}
	} else {
		s.BreakWrap(top)
	}
	s.RotateUp(top, bottom, 1)
	r.Clear(t.blankCell(), t.cols)
	t.scr.Touch(top, bottom+1)
}

// scrollDown moves the lines between the margins down by n.
func (t *Terminal) scrollDown(n int) {
	n = min(n, t.bottom-t.top+1)
	if !t.marginsFull() {
		t.scr.ShiftDown(t.region(t.top), n, t.blankCell())
		return
	}
	if t.scrolls != nil {
		t.scrolls(t.top, t.bottom, -n)
	}
	t.scr.RollDown(t.top, t.bottom, n, t.blankCell())
}

// scrollColumns moves the columns from col to the right margin by n, to the right if n is positive, in all lines
// between the margins. It does nothing if the cursor is outside of them.
func (t *Terminal) scrollColumns(col, n int) {
	if !t.inMargins() {
		return
	}
	t.scr.ShiftColumns(grid.Region{Top: t.top, Bottom: t.bottom, Left: col, Right: t.right}, n, t.blankCell())
}

// insertLines implements IL.
func (t *Terminal) insertLines(s *parse.Seq) {
	if !t.inMargins() {
		return
	}
	n := min(s.Count(0), t.bottom-t.cur.Row+1)
	if t.marginsFull() {
		if t.scrolls != nil {
			t.scrolls(t.cur.Row, t.bottom, -n)
		}
		t.scr.RollDown(t.cur.Row, t.bottom, n, t.blankCell())
	} else {
		t.scr.ShiftDown(t.region(t.cur.Row), n, t.blankCell())
	}
	t.cur.Col, t.cur.Pending = t.left, false
}

// deleteLines implements DL.
func (t *Terminal) deleteLines(s *parse.Seq) {
	if !t.inMargins() {
		return
	}
	n := min(s.Count(0), t.bottom-t.cur.Row+1)
	if t.marginsFull() {
		if t.scrolls != nil {
			t.scrolls(t.cur.Row, t.bottom, n)
		}
		t.scr.RollUp(t.cur.Row, t.bottom, n, t.blankCell())
	} else {
		t.scr.ShiftUp(t.region(t.cur.Row), n, t.blankCell())
	}
	t.cur.Col, t.cur.Pending = t.left, false
}

// scrollDownBy implements SD. With five parameters it is xterm's highlight tracking, which needs a mouse and is
// ignored.
func (t *Terminal) scrollDownBy(s *parse.Seq) {
	if s.N <= 1 {
		t.scrollDown(s.Count(0))
	}
}

// shiftCells implements ICH, and DCH if n is negative.
func (t *Terminal) shiftCells(n int) {
	t.cur.Pending = false
	if t.cur.Col < t.left || t.cur.Col > t.right {
		return
	}
	t.scr.ShiftColumns(grid.Region{Top: t.cur.Row, Bottom: t.cur.Row, Left: t.cur.Col, Right: t.right}, n, t.blankCell())
}

// OnScroll sets f, which is called before whole rows from top to bottom move up by n, or down if n is negative. The
// rows that leave still exist (Row). f must not change the terminal.
func (t *Terminal) OnScroll(f func(top, bottom, n int)) { t.scrolls = f }

// Row copies a row of the shown screen into l, and the tables that its cells refer to into f.
func (t *Terminal) Row(f *Frame, l *Line, row int) {
	t.scr.CopyRow(l, row)
	f.Clusters = t.tables.Clusters.List[:len(t.tables.Clusters.List):len(t.tables.Clusters.List)]
}
