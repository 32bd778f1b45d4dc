package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// Resize implements Engine.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = min(max(cols, MinCols), MaxCols), min(max(rows, MinRows), MaxRows)
	if cols == t.cols && rows == t.rows {
		return // a replay starts with the size and keeps what is shown
	}
	t.tables.Version++
	t.resize(cols, rows)
}

func (t *Terminal) resize(cols, rows int) {
	if cols == t.cols && rows == t.rows {
		return
	}
	t.scr.Flush()
	primaryCursor := &t.saved[0].cur
	if t.scr == t.primary {
		primaryCursor = &t.cur
	}
	primary := t.primary.Reflow(t.scrollback, primaryCursor, cols, rows)
	if t.scr == t.primary {
		t.scr = primary
	}
	t.primary = primary
	if t.alternate != nil {
		at := &t.saved[1].cur
		if t.scr == t.alternate {
			at = &t.cur
		}
		t.alternate.Crop(at, cols, rows)
	}
	t.cols, t.rows = cols, rows
	t.applySize()
}

// applySize updates all state that depends on the size.
func (t *Terminal) applySize() {
	t.resetMargins()
	t.tabs.grow(t.cols)
	for _, c := range []*grid.Cursor{&t.cur, &t.saved[0].cur, &t.saved[1].cur} {
		c.Pending = c.Pending && c.Col == t.cols-1
		c.Row, c.Col = min(c.Row, t.rows-1), min(c.Col, t.cols-1)
	}
	if half := max(1, t.cols/2); t.scr.At(t.cur.Row).Size != LineNormal && t.cur.Col >= half {
		t.cur.Col, t.cur.Pending = half-1, false
	}
	t.primary.Moved = t.tables.Version
	if t.alternate != nil {
		t.alternate.Moved = t.tables.Version
	}
	if t.modes&modeInBandResize != 0 {
		t.reportSize()
	}
}

// reportSize sends the in-band report of mode 2048.
func (t *Terminal) reportSize() {
	t.replyCSI("48;%d;%d;%d;%dt", t.rows, t.cols, t.rows*t.opts.CellHeight, t.cols*t.opts.CellWidth)
}
