package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// printUTF8 prints characters from p at t.at on while they are not ASCII. It returns
// false when a C1 control began a sequence.
func (t *Terminal) printUTF8(p []byte) bool {
	for t.at < len(p) && (p[t.at] >= 0x80 || t.decoder.Pending()) {
		if t.simple && !t.decoder.Pending() {
			n := t.printRun(p[t.at:])
			n += t.joinRun(p[t.at+n:])
			if t.at += n; n > 0 {
				continue
			}
		}
		r, n := rune(0), 0
		if !t.decoder.Pending() {
			r, n = scan.Rune(p[t.at:])
		}
		if n == 0 {
			r, n = t.decoder.Next(p[t.at:])
		}
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

// printRun prints characters that fit on the cursor's row and that neither join the one
// before nor have no width; p begins above ASCII. It returns the bytes taken; what stopped
// it is for the long way.
func (t *Terminal) printRun(p []byte) int {
	if t.penStale {
		t.freshenPen()
	}
	graphemes := t.modes&modeGraphemes != 0
	if t.cur.pending || graphemes && width.Awaits(t.join) {
		return 0
	}
	line := t.scr.raw(t.cur.row)
	end, col := t.lineEnd(line), t.cur.col
	var run textRun
	if !t.drafts(line, col) {
		run = t.cellRun(t.scr.at(t.cur.row), p, col, end)
	} else if col == line.used {
		run = t.draftRun(line, p, col, end)
	}
	if run.bytes > 0 {
		line.version = t.tables.version
		t.lastRune, t.join = run.last, width.Plain
		if graphemes {
			t.join = width.Start(width.Of(run.last))
		}
		t.advance(line, run.col, end)
	}
	return run.bytes
}

// textRun is what was printed of a run.
type textRun struct {
	bytes, col int
	last       rune
}

// joinRun joins the characters at the start of p that go on with the last one of a draft.
// It returns the bytes taken.
func (t *Terminal) joinRun(p []byte) int {
	line := t.scr.raw(t.cur.row)
	if t.join == 0 || t.modes&modeGraphemes == 0 || line.thawed {
		return 0
	}
	n := 0
	for n < len(p) && p[n] >= utf8.RuneSelf {
		r, size := scan.Rune(p[n:])
		if size == 0 {
			break
		}
		join, joined := width.Step(t.join, width.Of(r))
		if !joined || !t.combineDraft(line, r) {
			break
		}
		t.join = join
		n += size
	}
	return n
}

// starter decodes a character that begins a cluster, whatever character of that kind
// stands before it, and is as wide for everyone. Its length is 0 for any other.
func (t *Terminal) starter(p []byte) (r rune, n, w int) {
	r, n = scan.Rune(p)
	if w = t.starterColumns(r); n == 0 || r < 0xa0 || w == 0 {
		return 0, 0, 0
	}
	return r, n, w
}

// starterColumns is the width of a character that starter takes, 0 for any other.
func (t *Terminal) starterColumns(r rune) int {
	c := width.Of(r).Class()
	if c&t.odd() != 0 {
		return 0
	}
	return c.Columns()
}

// cellRun prints a run into cells.
func (t *Terminal) cellRun(line *row, p []byte, col, end int) (run textRun) {
	cells, pen := line.ensure(t.cols), t.cell
	line.split(col)
	for run.bytes < len(p) && p[run.bytes] >= utf8.RuneSelf {
		r, n, w := t.starter(p[run.bytes:])
		if n == 0 || col+w > end {
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
		run.bytes += n
		run.last = r
	}
	run.col = col
	return run
}
