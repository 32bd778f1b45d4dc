package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// moveTo places the cursor, clamped to the screen.
func (t *Terminal) moveTo(row, col int) {
	t.cur.Row = min(max(row, 0), t.rows-1)
	t.cur.Col = min(max(col, 0), t.cols-1)
	t.cur.Pending = false
}

// moveToOrigin places the cursor counted from the home position: the corner of the
// margins in origin mode (DECOM), which it cannot leave then.
func (t *Terminal) moveToOrigin(row, col int) {
	if t.modes&modeOrigin == 0 {
		t.moveTo(row, col)
		return
	}
	t.moveTo(min(max(row, 0)+t.top, t.bottom), min(max(col, 0)+t.left, t.right))
}

// fromOrigin is the cursor's position as moveToOrigin counts.
func (t *Terminal) fromOrigin() (row, col int) {
	if t.modes&modeOrigin == 0 {
		return t.cur.Row, t.cur.Col
	}
	return t.cur.Row - t.top, t.cur.Col - t.left
}

func (t *Terminal) home() { t.moveToOrigin(0, 0) }

// cursorPosition is CUP and HVP.
func (t *Terminal) cursorPosition(s *parse.Seq) {
	t.moveToOrigin(s.Count(0)-1, s.Count(1)-1)
}

// quickMove is CUP with two numbers, without origin mode: what stands between ESC [ and H,
// and H, in the bytes of a word, the first one lowest. It returns false for anything else.
func (t *Terminal) quickMove(w uint64) bool {
	row, col := 0, 0
	for ; byte(w)-'0' < 10; w >>= 8 {
		row = 10*row + int(byte(w)-'0')
	}
	if byte(w) != ';' || t.modes&modeOrigin != 0 {
		return false
	}
	for w >>= 8; byte(w)-'0' < 10; w >>= 8 {
		col = 10*col + int(byte(w)-'0')
	}
	if byte(w) != 'H' {
		return false
	}
	t.cur.Row = min(max(row, 1), t.rows) - 1
	t.cur.Col = min(max(col, 1), t.cols) - 1
	t.cur.Pending = false
	return true
}

func (t *Terminal) cursorColumn(s *parse.Seq) {
	row, _ := t.fromOrigin()
	t.moveToOrigin(row, s.Count(0)-1)
}

func (t *Terminal) cursorRow(s *parse.Seq) {
	_, col := t.fromOrigin()
	t.moveToOrigin(s.Count(0)-1, col)
}

func (t *Terminal) columnRelative(s *parse.Seq) {
	row, col := t.fromOrigin()
	t.moveToOrigin(row, col+s.Count(0))
}

func (t *Terminal) rowRelative(s *parse.Seq) {
	row, col := t.fromOrigin()
	t.moveToOrigin(row+s.Count(0), col)
}

// up moves within the margins: the top one stops the cursor unless it is above already.
func (t *Terminal) up(n int) {
	limit := 0
	if t.cur.Row >= t.top {
		limit = t.top
	}
	t.moveTo(max(t.cur.Row-n, limit), t.cur.Col)
}

func (t *Terminal) down(n int) {
	limit := t.rows - 1
	if t.cur.Row <= t.bottom {
		limit = t.bottom
	}
	t.moveTo(min(t.cur.Row+n, limit), t.cur.Col)
}

func (t *Terminal) forward(n int) {
	limit := t.cols - 1
	if t.cur.Col <= t.right {
		limit = t.right
	}
	t.moveTo(t.cur.Row, min(t.cur.Col+n, limit))
}

// backward is CUB and BS, with reverse wrap (modes 45 and 1045): from the left margin to
// the right one of the line above, and from the first line to the last. A pending wrap
// counts as a column then.
func (t *Terminal) backward(n int) {
	wrap := t.modes&modeAutowrap != 0 && t.modes&(modeReverseWrap|modeReverseWrap2) != 0
	if t.cur.Pending && wrap {
		n--
	}
	t.cur.Pending = false
	left := t.left
	if t.cur.Col < left {
		left = 0
	}
	for n > 0 {
		step := min(n, t.cur.Col-left)
		t.cur.Col -= step
		if n -= step; n == 0 || !wrap {
			return
		}
		switch t.cur.Row {
		case t.top:
			t.cur.Row = t.bottom
		case 0:
			t.cur.Row = t.rows - 1
		default:
			t.cur.Row--
		}
		t.cur.Col, left = t.right, t.left
		n--
	}
}

func (t *Terminal) carriageReturn() {
	t.cur.Pending = false
	if t.modes&modeOrigin == 0 && t.cur.Col < t.left {
		t.cur.Col = 0
		return
	}
	t.cur.Col = t.left
}

// index is IND and LF without LNM: down one line, scrolling at the bottom margin.
func (t *Terminal) index() {
	t.cur.Pending = false
	switch {
	case t.cur.Row == t.bottom:
		if t.left <= t.cur.Col && t.cur.Col <= t.right {
			t.scrollLine()
		}
	case t.cur.Row < t.rows-1:
		t.cur.Row++
	}
}

// reverseIndex is RI.
func (t *Terminal) reverseIndex() {
	t.cur.Pending = false
	switch {
	case t.cur.Row == t.top:
		if t.left <= t.cur.Col && t.cur.Col <= t.right {
			t.scrollDown(1)
		}
	case t.cur.Row > 0:
		t.cur.Row--
	}
}

// lineFeed is LF, VT and FF.
func (t *Terminal) lineFeed() {
	t.index()
	if t.modes&modeNewLine != 0 {
		t.carriageReturn()
	}
}

func (t *Terminal) nextLine() {
	t.index()
	t.carriageReturn()
}

// forwardIndex is DECFI: right one column, scrolling at the right margin. A pending wrap
// survives the scroll, as in xterm.
func (t *Terminal) forwardIndex() {
	switch {
	case t.cur.Col == t.right:
		if t.top <= t.cur.Row && t.cur.Row <= t.bottom {
			t.scrollColumns(t.left, -1)
		}
	default:
		t.moveTo(t.cur.Row, t.cur.Col+1)
	}
}

// backIndex is DECBI.
func (t *Terminal) backIndex() {
	switch {
	case t.cur.Col == t.left:
		if t.top <= t.cur.Row && t.cur.Row <= t.bottom {
			t.scrollColumns(t.left, 1)
		}
	default:
		t.moveTo(t.cur.Row, t.cur.Col-1)
	}
}
