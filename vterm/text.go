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
	if t.join != joinPlain && t.join != 0 && t.joinsASCII() {
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
	r := t.row()
	end := t.lineEnd(r)
	col := t.cur.col
	n := min(len(s), end-col)
	if r.wide || len(r.cells) < end {
		r.ensure(t.cols)
		r.split(col)
		r.split(col + n)
	}
	putASCII(r.cells[col:col+n], s, t.cell)
	r.used = max(r.used, col+n)
	t.lastRune = rune(s[n-1])
	t.join = joinPlain
	if col += n; col < end {
		t.cur.col, t.cur.pending = col, false
		return n
	}
	r.wrapped = false
	t.cur.col, t.cur.pending = end-1, true
	if t.modes&modeAutowrap == 0 && n < len(s) {
		// Without autowrap the rest is printed in the last column; only its last stays.
		r.cells[end-1] = t.cell | Cell(s[len(s)-1])
		t.lastRune = rune(s[len(s)-1])
		return len(s)
	}
	return n
}

var joinPlain = width.Start(width.Of('a'))

// putASCII stores a run; dst is not longer than s.
func putASCII(dst []Cell, s []byte, pen Cell) {
	s = s[:len(dst)]
	for len(dst) >= 8 {
		d, b := dst[:8:8], s[:8:8]
		d[0] = pen | Cell(b[0])
		d[1] = pen | Cell(b[1])
		d[2] = pen | Cell(b[2])
		d[3] = pen | Cell(b[3])
		d[4] = pen | Cell(b[4])
		d[5] = pen | Cell(b[5])
		d[6] = pen | Cell(b[6])
		d[7] = pen | Cell(b[7])
		dst, s = dst[8:], s[8:]
	}
	for i := range dst {
		dst[i] = pen | Cell(s[i])
	}
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
		t.scr.at(t.cur.row).wrapped = true
	}
	t.index()
	t.cur.col = t.left
}

// printUTF8 prints characters from p at t.at on while they are not ASCII. It returns
// false when a C1 control began a sequence.
func (t *Terminal) printUTF8(p []byte) bool {
	for t.at < len(p) && (p[t.at] >= 0x80 || t.partLen > 0) {
		if t.simple && t.partLen == 0 {
			if n := t.printRun(p[t.at:]); n > 0 {
				t.at += n
				continue
			}
		}
		r, n := t.decode(p[t.at:])
		t.at += n
		switch {
		case r < 0:
			continue
		case r < 0xa0:
			return t.control1(byte(r))
		}
		t.printMapped(r)
	}
	return true
}

// printRun prints characters above ASCII that fit on the cursor's row and that neither
// join the one before nor have no width. It returns the bytes taken; what stopped it is
// for the long way.
func (t *Terminal) printRun(p []byte) int {
	if t.penStale {
		t.freshenPen()
	}
	if t.cur.pending {
		return 0
	}
	line := t.row()
	end, col, join := t.lineEnd(line), t.cur.col, t.join
	cells, pen := line.ensure(t.cols), t.cell
	line.split(col)
	i, last := 0, rune(0)
	for i < len(p) && p[i] >= 0x80 {
		r, n := decodeRune(p[i:])
		props := width.Of(r)
		w := props.Columns()
		state := joinPlain
		if n == 0 || r < 0xa0 || w == 0 {
			break
		}
		if !props.Plain() || width.Prepends(join) {
			s, joined := width.Step(join, props)
			if joined && t.modes&modeGraphemes != 0 {
				break
			}
			state, w = s, t.columns(props)
		}
		if col+w > end {
			break
		}
		if line.wide && col+w < line.used {
			line.split(col + w)
		}
		if w == 1 {
			cells[col] = pen | Cell(r)
		} else {
			line.wide = true
			cells[col] = pen | Cell(r) | WidthWide<<cellWidthShift
			cells[col+1] = pen | WidthTail<<cellWidthShift
		}
		if col += w; col > line.used {
			line.used = col
		}
		i += n
		last, join = r, state
	}
	if i > 0 {
		t.join, t.lastRune = join, last
		t.advance(line, col, end)
	}
	return i
}

// control1 runs a C1 control. It returns false when the parser has more to read.
func (t *Terminal) control1(c byte) bool {
	if e := t.parser.C1(c); e != parse.None {
		t.dispatch(e)
	}
	return t.parser.State == parse.Ground
}
