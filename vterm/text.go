package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
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

// joinsASCII reports whether a letter continues the cluster before it: after a prepended mark (UAX #29, GB9b).
func (t *Terminal) joinsASCII() bool {
	_, joined := width.Step(t.join, width.Of('a'))
	return joined && t.modes&modeGraphemes != 0
}

// printSome prints the part of a non-empty run that fits on the cursor's row, and returns its length.
func (t *Terminal) printSome(s []byte) int {
	if t.cur.Pending && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	r := t.scr.Raw(t.cur.Row)
	r.Version = t.tables.Version
	end := t.lineEnd(r)
	col := t.cur.Col
	n := min(len(s), end-col)
	if t.canAppend(r, col) {
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

// canAppend reports whether text printed with the pen at col of a row can be appended in packed form.
func (d *rendition) canAppend(r *grid.Row, col int) bool {
	return !r.Inflated && col >= r.Used && d.protect == 0
}

// lineEnd returns the column after the last one for text: the right margin unless the cursor is beyond it; half of it
// on a line of double width.
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

// wrap moves to the start of the next line because a character did not fit.
func (t *Terminal) wrap() {
	if t.marginsFull() {
		r := t.scr.Raw(t.cur.Row)
		if r.Used < t.cols { // the cursor was put back to where a wrap was due
			t.scr.At(t.cur.Row).Ensure(t.cols)
		}
		r.Wrapped, r.Version = true, t.tables.Version // it may have been printed long ago
	}
	t.index()
	t.cur.Col = t.left
}

// control1 runs a C1 control. It returns false if a sequence follows that the parser must read.
func (t *Terminal) control1(c byte) bool {
	if e := t.parser.C1(c); e != parse.None {
		t.dispatch(e)
	}
	return t.parser.State == parse.Ground
}

// printUTF8 prints characters from p at t.at on while they are not ASCII. It returns false if a C1 control started a
// sequence.
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
			r, n = bytescan.Rune(p[t.at:])
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

// printRun prints characters that neither join the previous one nor lack a width, row by row. p starts above ASCII. It
// returns the number of consumed bytes; the slow path handles the rest.
func (t *Terminal) printRun(p []byte) (taken int) {
	if t.penStale {
		t.freshenPen()
	}
	graphemes := t.modes&modeGraphemes != 0
	for taken < len(p) && p[taken] >= utf8.RuneSelf && !(graphemes && width.Awaits(t.join)) {
		rest := p[taken:]
		if t.cur.Pending {
			if t.modes&modeAutowrap == 0 || grid.StarterColumns(rest, t.skippedClass()) == 0 {
				break
			}
			t.wrap()
			t.cur.Pending = false
		}
		line := t.scr.Raw(t.cur.Row)
		end, col := t.lineEnd(line), t.cur.Col
		if col+1 == end && grid.StarterColumns(rest, t.skippedClass()) == 2 {
			r, n := bytescan.Rune(rest)
			t.print(r)
			taken += n
			continue
		}
		var run grid.Run
		if !t.canAppend(line, col) {
			run = t.scr.At(t.cur.Row).PutRun(rest, col, end, t.cell, t.skippedClass(), t.cols)
		} else if col == line.Used {
			run = line.AppendRun(&t.tables, rest, col, end, t.cell.Style(), t.skippedClass(), t.join, graphemes)
		}
		if run.Bytes == 0 {
			break
		}
		line.Version = t.tables.Version
		t.lastRune, t.join = run.Last, width.Plain
		if graphemes {
			t.join = run.State
		}
		t.advance(line, run.Col, end)
		taken += run.Bytes
	}
	return taken
}

// joinRun joins the characters at the start of p that continue the last one of a packed row. It returns the number of
// consumed bytes.
func (t *Terminal) joinRun(p []byte) int {
	if len(p) == 0 || p[0] < utf8.RuneSelf || t.join == 0 || t.modes&modeGraphemes == 0 {
		return 0
	}
	line := t.scr.Raw(t.cur.Row)
	if line.Inflated {
		return 0
	}
	n := 0
	for n < len(p) && p[n] >= utf8.RuneSelf {
		r, size := bytescan.Rune(p[n:])
		if size == 0 {
			break
		}
		join, joined := width.Step(t.join, width.Of(r))
		if !joined || !t.combinePacked(line, r) {
			break
		}
		t.join = join
		n += size
	}
	return n
}

// skippedClass returns the class of characters that the fast paths skip.
func (t *Terminal) skippedClass() width.Class {
	if t.opts.AmbiguousWide {
		return width.SomeAmbiguous
	}
	return 0
}
