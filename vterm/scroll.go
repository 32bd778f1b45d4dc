package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// scrollUp moves the lines between the margins up by n. Whole lines that leave the top of
// the primary screen go to the history, whatever the bottom margin is (as in xterm).
func (t *Terminal) scrollUp(n int) {
	n = min(n, t.bottom-t.top+1)
	if !t.marginsFull() {
		t.shiftBox(t.top, n)
		return
	}
	if t.top == 0 && t.scr == t.primary {
		for i := range n {
			t.history.push(t.scr.raw(i))
		}
	}
	t.rollUp(t.top, n)
}

// scrollLine is scrollUp by one line: what a line feed does.
func (t *Terminal) scrollLine() {
	s, top, bottom := t.scr, t.top, t.bottom
	if !t.marginsFull() {
		t.shiftBox(top, 1)
		return
	}
	r := s.raw(top)
	if top == 0 {
		if s == t.primary {
			t.history.push(r)
		}
	} else {
		s.raw(top - 1).wrapped = false
	}
	s.rotateUp(top, bottom, 1)
	r.clear(t.erased(), t.cols)
	t.touch(top, bottom+1)
}

// scrollDown moves the lines between the margins down by n.
func (t *Terminal) scrollDown(n int) {
	n = min(n, t.bottom-t.top+1)
	if !t.marginsFull() {
		t.shiftBoxDown(t.top, n)
		return
	}
	t.rollDown(t.top, n)
}

// rollUp moves whole lines from top to the bottom margin up by n.
func (t *Terminal) rollUp(top, n int) {
	t.scr.rotateUp(top, t.bottom, n)
	blank := t.erased()
	for i := t.bottom - n + 1; i <= t.bottom; i++ {
		t.scr.raw(i).clear(blank, t.cols)
	}
	t.unlink(top)
	t.touch(top, t.bottom+1)
}

// rollDown moves whole lines from top to the bottom margin down by n.
func (t *Terminal) rollDown(top, n int) {
	t.scr.rotateDown(top, t.bottom, n)
	blank := t.erased()
	for i := top; i < top+n; i++ {
		t.scr.raw(i).clear(blank, t.cols)
	}
	t.scr.raw(t.bottom).wrapped = false
	t.unlink(top)
	t.touch(top, t.bottom+1)
}

// unlink ends the soft wrap of the line above top: what followed it has moved.
func (t *Terminal) unlink(top int) {
	if top > 0 {
		t.scr.raw(top - 1).wrapped = false
	}
}

// shiftBox scrolls the columns between the left and right margin up by n.
func (t *Terminal) shiftBox(top, n int) {
	for i := top; i <= t.bottom-n; i++ {
		t.copySpan(i, i+n)
	}
	for i := t.bottom - n + 1; i <= t.bottom; i++ {
		t.stamped(i).fill(t.left, t.right+1, t.erased(), t.cols)
	}
}

// shiftBoxDown scrolls the columns between the left and right margin down by n.
func (t *Terminal) shiftBoxDown(top, n int) {
	for i := t.bottom; i >= top+n; i-- {
		t.copySpan(i, i-n)
	}
	for i := top; i < top+n; i++ {
		t.stamped(i).fill(t.left, t.right+1, t.erased(), t.cols)
	}
}

// copySpan copies the columns between the margins from row src to row dst.
func (t *Terminal) copySpan(dst, src int) {
	from, to := t.scr.at(src), t.stamped(dst)
	from.split(t.left)
	from.split(t.right + 1)
	to.split(t.left)
	to.split(t.right + 1)
	copy(to.ensure(t.cols)[t.left:t.right+1], from.ensure(t.cols)[t.left:t.right+1])
	to.wide = to.wide || from.wide
	to.image = to.image || from.image
	to.settle(t.right + 1)
}

// scrollColumns moves the columns from col to the right margin by n, to the right when
// n is positive, in all lines between the margins.
func (t *Terminal) scrollColumns(col, n int) {
	for i := t.top; i <= t.bottom; i++ {
		r := t.stamped(i)
		if n > 0 {
			r.shiftRight(col, t.right+1, n, t.erased(), t.cols)
		} else {
			r.shiftLeft(col, t.right+1, -n, t.erased(), t.cols)
		}
		if t.right == t.cols-1 {
			r.wrapped = false
		}
	}
}

// inMargins reports whether the cursor is inside all four margins.
func (t *Terminal) inMargins() bool {
	return t.top <= t.cur.row && t.cur.row <= t.bottom && t.left <= t.cur.col && t.cur.col <= t.right
}

// insertLines is IL.
func (t *Terminal) insertLines(s *parse.Seq) {
	if !t.inMargins() {
		return
	}
	n := min(s.Count(0), t.bottom-t.cur.row+1)
	if t.marginsFull() {
		t.rollDown(t.cur.row, n)
	} else {
		t.shiftBoxDown(t.cur.row, n)
	}
	t.cur.col, t.cur.pending = t.left, false
}

// deleteLines is DL.
func (t *Terminal) deleteLines(s *parse.Seq) {
	if !t.inMargins() {
		return
	}
	n := min(s.Count(0), t.bottom-t.cur.row+1)
	if t.marginsFull() {
		t.rollUp(t.cur.row, n)
	} else {
		t.shiftBox(t.cur.row, n)
	}
	t.cur.col, t.cur.pending = t.left, false
}

func (t *Terminal) scrollUpBy(s *parse.Seq) { t.scrollUp(s.Count(0)) }

// scrollDownBy is SD. With five parameters it is xterm's highlight tracking, which
// needs a mouse at hand and is swallowed.
func (t *Terminal) scrollDownBy(s *parse.Seq) {
	if s.N <= 1 {
		t.scrollDown(s.Count(0))
	}
}

func (t *Terminal) scrollLeft(s *parse.Seq) {
	if t.inMargins() {
		t.scrollColumns(t.left, -s.Count(0))
	}
}

func (t *Terminal) scrollRight(s *parse.Seq) {
	if t.inMargins() {
		t.scrollColumns(t.left, s.Count(0))
	}
}

// insertColumns is DECIC.
func (t *Terminal) insertColumns(s *parse.Seq) {
	if t.inMargins() {
		t.scrollColumns(t.cur.col, s.Count(0))
	}
}

// deleteColumns is DECDC.
func (t *Terminal) deleteColumns(s *parse.Seq) {
	if t.inMargins() {
		t.scrollColumns(t.cur.col, -s.Count(0))
	}
}

// insertChars is ICH.
func (t *Terminal) insertChars(s *parse.Seq) {
	t.shiftCells(s.Count(0))
}

// deleteChars is DCH.
func (t *Terminal) deleteChars(s *parse.Seq) {
	t.shiftCells(-s.Count(0))
}

func (t *Terminal) shiftCells(n int) {
	t.cur.pending = false
	if t.cur.col < t.left || t.cur.col > t.right {
		return
	}
	r := t.row()
	if n > 0 {
		r.shiftRight(t.cur.col, t.right+1, n, t.erased(), t.cols)
	} else {
		r.shiftLeft(t.cur.col, t.right+1, -n, t.erased(), t.cols)
	}
	if t.right == t.cols-1 {
		r.wrapped = false
	}
}
