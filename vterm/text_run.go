package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
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
	if t.cur.Pending || graphemes && width.Awaits(t.join) {
		return 0
	}
	line := t.scr.Raw(t.cur.Row)
	end, col := t.lineEnd(line), t.cur.Col
	var run grid.Run
	if !t.drafts(line, col) {
		run = t.scr.At(t.cur.Row).PutRun(p, col, end, t.cell, t.odd(), t.cols)
	} else if col == line.Used {
		run = line.AppendRun(&t.tables, p, col, end, t.cell.Style(), t.odd())
	}
	if run.Bytes > 0 {
		line.Version = t.tables.Version
		t.lastRune, t.join = run.Last, width.Plain
		if graphemes {
			t.join = width.Start(width.Of(run.Last))
		}
		t.advance(line, run.Col, end)
	}
	return run.Bytes
}

// joinRun joins the characters at the start of p that go on with the last one of a draft.
// It returns the bytes taken.
func (t *Terminal) joinRun(p []byte) int {
	line := t.scr.Raw(t.cur.Row)
	if t.join == 0 || t.modes&modeGraphemes == 0 || line.Inflated {
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

// odd is the mark of classes that the quick ways leave alone.
func (t *Terminal) odd() width.Class {
	if t.opts.AmbiguousWide {
		return width.SomeAmbiguous
	}
	return 0
}
