package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/scan"
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
	if t.appends(r, col) {
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

// appends reports whether what the pen prints at col of a row can be appended to it packed.
func (d *rendition) appends(r *grid.Row, col int) bool {
	return !r.Inflated && col >= r.Used && d.protect == 0
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
		r := t.scr.Raw(t.cur.Row)
		if r.Used < t.cols { // the cursor was put back to where a wrap was due
			t.scr.At(t.cur.Row).Ensure(t.cols)
		}
		r.Wrapped, r.Version = true, t.tables.Version // it may have been printed long ago
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

// printRun prints characters that neither join the one before nor have no width, row by row; p begins above ASCII. It
// returns the bytes taken; what stopped it is for the slow path.
func (t *Terminal) printRun(p []byte) (taken int) {
	if t.penStale {
		t.freshenPen()
	}
	graphemes := t.modes&modeGraphemes != 0
	for taken < len(p) && p[taken] >= utf8.RuneSelf && !(graphemes && width.Awaits(t.join)) {
		rest := p[taken:]
		if t.cur.Pending {
			if t.modes&modeAutowrap == 0 || grid.StarterColumns(rest, t.odd()) == 0 {
				break
			}
			t.wrap()
			t.cur.Pending = false
		}
		line := t.scr.Raw(t.cur.Row)
		end, col := t.lineEnd(line), t.cur.Col
		if col+1 == end && grid.StarterColumns(rest, t.odd()) == 2 {
			r, n := scan.Rune(rest)
			t.print(r)
			taken += n
			continue
		}
		var run grid.Run
		if !t.appends(line, col) {
			run = t.scr.At(t.cur.Row).PutRun(rest, col, end, t.cell, t.odd(), t.cols)
		} else if col == line.Used {
			run = line.AppendRun(&t.tables, rest, col, end, t.cell.Style(), t.odd(), t.join, graphemes)
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

// joinRun joins the characters at the start of p that go on with the last one of a packed row.
// It returns the bytes taken.
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
		r, size := scan.Rune(p[n:])
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

// odd is the mark of classes that the fast paths leave alone.
func (t *Terminal) odd() width.Class {
	if t.opts.AmbiguousWide {
		return width.SomeAmbiguous
	}
	return 0
}
