package vterm

// Resize implements Engine.
func (t *Terminal) Resize(cols, rows int) {
	t.tables.version++
	t.resize(min(max(cols, MinCols), MaxCols), min(max(rows, MinRows), MaxRows))
}

func (t *Terminal) resize(cols, rows int) {
	if cols == t.cols && rows == t.rows {
		return
	}
	t.scr.flush()
	primaryCursor := &t.saved[0].cur
	if t.scr == t.primary {
		primaryCursor = &t.cur
	}
	primary := t.primary.reflow(t.history, primaryCursor, cols, rows)
	if t.scr == t.primary {
		t.scr = primary
	}
	t.primary = primary
	if t.alternate != nil {
		at := &t.saved[1].cur
		if t.scr == t.alternate {
			at = &t.cur
		}
		t.alternate.crop(at, cols, rows)
	}
	t.cols, t.rows = cols, rows
	t.settleSize()
}

// settleSize brings all that depends on the size in line with it.
func (t *Terminal) settleSize() {
	t.resetMargins()
	t.growTabs()
	for _, c := range []*cursor{&t.cur, &t.saved[0].cur, &t.saved[1].cur} {
		c.pending = c.pending && c.col == t.cols-1
		c.row, c.col = min(c.row, t.rows-1), min(c.col, t.cols-1)
	}
	if half := max(1, t.cols/2); t.scr.at(t.cur.row).size != LineNormal && t.cur.col >= half {
		t.cur.col, t.cur.pending = half-1, false
	}
	t.primary.moved = t.tables.version
	if t.alternate != nil {
		t.alternate.moved = t.tables.version
	}
	if t.modes&modeInBandResize != 0 {
		t.reportSize()
	}
}

// reportSize is the in-band report of mode 2048.
func (t *Terminal) reportSize() {
	t.replyCSI("48;%d;%d;%d;%dt", t.rows, t.cols, t.rows*t.opts.CellHeight, t.cols*t.opts.CellWidth)
}
