package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// fastText prints the printable ASCII at the start of p if the state is plain. It returns the number of consumed bytes,
// or 0 for the slow path. It calls next to nothing, so its variables stay in registers.
func (t *Terminal) fastText(p []byte) int {
	if t.penStale && !t.freshenKnown() || !t.simple || t.join != 0 && t.join != width.Plain {
		return 0
	}
	if t.cur.Pending {
		if t.modes&modeAutowrap == 0 {
			return 0
		}
		t.wrap()
	}
	r := t.scr.Raw(t.cur.Row)
	col := t.cur.Col
	room := t.right - col + 1
	if r.Size != LineNormal || room <= 0 {
		return 0
	}
	if !r.Inflated && col < r.Used {
		t.scr.Inflate(r)
	}
	n := 0
	if r.Inflated {
		if r.Wide || len(r.Cells) != t.cols {
			return 0
		}
		if cells := r.Cells[col : col+room]; len(p) > 1 && p[1] < ' ' {
			cells[0] = t.cell | grid.Cell(p[0])
			n = 1
		} else if n = grid.FastCells(cells, p, t.cell); n == 0 {
			return 0
		}
		r.Used = max(r.Used, col+n)
	} else {
		d, id := &r.Packed, t.cell.Style()
		if t.protect != 0 {
			return 0
		}
		if col > r.Used {
			r.Begin(&t.tables, col, id)
		}
		if n = d.FastASCII(p, room); n == 0 {
			return 0
		}
		if id != d.Style && !d.SwitchStyle(col, id) {
			r.Begin(&t.tables, col, id)
		}
		d.Text = d.Text[:len(d.Text)+n]
		d.Last = int32(len(d.Text) - 1)
		r.Used = col + n
	}
	r.Version = t.tables.Version
	if t.cur.Col = col + n; n == room {
		t.cur.Col, t.cur.Pending = t.right, true
		r.Wrapped = false
	}
	t.lastRune = rune(p[n-1])
	t.join = width.Plain
	return n
}

// fastTextWithoutID is fastText for a pen whose style gets no id (grid.StyleTable.Lacks) on a packed row.
func (t *Terminal) fastTextWithoutID(p []byte) int {
	if !t.simple || t.protect != 0 || t.join != 0 && t.join != width.Plain || !t.tables.Styles.Lacks(&t.pen) {
		return 0
	}
	if t.cur.Pending {
		if t.modes&modeAutowrap == 0 {
			return 0
		}
		t.wrap()
		t.cur.Pending = false
	}
	r := t.scr.Raw(t.cur.Row)
	col := t.cur.Col
	room := t.right - col + 1
	if r.Size != LineNormal || room <= 0 || r.Inflated || col < r.Used {
		return 0
	}
	n := r.AppendUnpacked(&t.tables, p, col, room, &t.pen)
	if n == 0 {
		return 0
	}
	r.Version = t.tables.Version
	t.lastRune, t.join = rune(p[n-1]), width.Plain
	t.advance(r, col+n, t.right+1)
	return n
}

// fastColoredLetters combines runColorSGRs and fastTextWithoutID for single letters on the cursor's row, each in a colour, after
// others of the same form, as in images made of characters. It returns the number of consumed bytes.
func (t *Terminal) fastColoredLetters(p []byte) (at int) {
	if !t.simple || t.protect != 0 || t.cur.Pending || !t.pen.ColorOnly() {
		return 0
	}
	r := t.scr.Raw(t.cur.Row)
	var letters [manyLetters]bytescan.ColoredLetter
	for few := 16; ; few = len(letters) { // what is read and not taken is read again
		col := t.cur.Col
		room := t.right - col + 1
		if room <= 0 || t.cur.Pending || !t.sgrCache.seldom() || !r.EndsColored(&t.tables, col) {
			return at
		}
		read := bytescan.ColoredLetters(p[at:], letters[:min(room, few, sampleEvery-t.sgrCache.misses%sampleEvery)])
		n := r.AppendColored(&t.tables, letters[:read])
		if n == 0 {
			return at
		}
		t.sgrCache.misses += n
		last := letters[n-1]
		t.pen.FG = RGB(0, 0, 0) | Color(last.RGB())
		t.penChanged()
		r.Version = t.tables.Version
		t.lastRune, t.join = rune(last.Letter()), width.Plain
		t.advance(r, col+n, t.right+1)
		if at += last.End(); n < read {
			return at
		}
	}
}

// fastLines prints whole lines of printable ASCII, such as logs, while the cursor is at the start of the lowest row of
// the margins in a plain state. The effect is that of text, CR and LF one after the other. It returns the number of
// consumed bytes.
func (t *Terminal) fastLines(p []byte) int {
	if t.cur.Row != t.bottom || t.cur.Col != 0 || !t.canFastLines() {
		return 0
	}
	kept := t.scrollbackAtTop()
	at := 0
	for n := 1; n > 0 && t.cell == 0 && t.pen.BG == 0; at += n {
		n = t.scr.PassLines(p[at:], t.top, t.bottom, kept)
	}
	if t.pen.BG == t.blankBG { // else a line that scrolls the slow way finds out what blank is
		at += t.scr.AppendLines(p[at:], t.top, t.bottom, t.cell.Style(), t.blank, kept)
	}
	if at > 0 {
		t.scr.BreakWrap(t.top)
		t.scr.Touch(t.top, t.bottom+1)
		t.noteLast(p[:at])
	}
	return at
}

// canFastLines reports whether lines on the lowest row of the margins can be printed by the fast path.
func (t *Terminal) canFastLines() bool {
	return t.simple && !t.penStale && t.protect == 0 && t.modes&modeNewLine == 0 && t.join == 0 && !t.cur.Pending &&
		t.marginsFull() && t.scrolls == nil
}

// scrollbackAtTop returns the scrollback for lines that leave the top margin, or nil if they are dropped.
func (t *Terminal) scrollbackAtTop() *grid.Scrollback {
	if t.top == 0 && t.scr == t.primary {
		return t.scrollback
	}
	return nil
}

// fastSteps is fastLines for lines of one letter that end with LF alone: each starts where the previous one ended.
func (t *Terminal) fastSteps(p []byte) (at int) {
	if t.cur.Row != t.bottom || !t.canFastLines() || t.cell != 0 || t.pen.BG != 0 {
		return 0
	}
	for {
		n := t.scr.PassSteps(p[at:], t.cur.Col, t.top, t.bottom, t.scrollbackAtTop())
		if n == 0 {
			break
		}
		at += 2 * n
		t.cur.Col = min(t.cur.Col+n, t.cols-1)
	}
	if at > 0 {
		t.scr.BreakWrap(t.top)
		t.scr.Touch(t.top, t.bottom+1)
		t.lastRune = rune(p[at-2])
	}
	return at
}

// noteLast records the last character of complete lines, which may all be empty.
func (x *textState) noteLast(lines []byte) {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] >= ' ' {
			x.lastRune = rune(lines[i])
			return
		}
	}
}
