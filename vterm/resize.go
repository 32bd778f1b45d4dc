package vterm

// pullMax bounds the history rows that one resize takes back to complete a line.
const pullMax = 2048

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
	t.resizePrimary(primaryCursor, cols, rows)
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

// resizePrimary reflows the primary screen. Rows that no longer fit go to the history;
// where rows became free, the history gives lines back, so that what was at the bottom
// stays there. Blank rows under the cursor are the first to go.
func (t *Terminal) resizePrimary(cur *cursor, cols, rows int) {
	t.primary.thawAll()
	old := t.primary.window()
	used := lastUsed(old, cur.row)
	blank := len(old) - used
	var out []*row
	f := flow{tables: &t.tables, cols: cols}
	f.emit = func(r *row) { out = append(out, takeRow(r)) }
	f.row, f.col = -1, 0

	for _, r := range t.pullLine(true) {
		f.feed(r, len(r.cells))
	}
	for i, r := range old[:used] {
		if i == cur.row {
			f.setMark(*cur)
		}
		f.feed(r, t.primary.cols)
	}
	f.finish(false)
	*cur = cursor{max(f.row, 0), f.col, f.pending}
	if cols != t.primary.cols {
		t.history.widthChanged(cols)
	}
	out = t.refill(out, cur, cols, rows, blank)
	t.primary = t.fitRows(out, cur, cols, rows, t.primary)
}

// feed gives a row to the flow.
func (f *flow) feed(r *row, cols int) {
	if r.wrapped {
		f.line = append(f.line, r.ensure(cols)[:cols]...)
	} else {
		f.line = append(f.line, r.cells[:r.used]...)
	}
	f.end(r.wrapped, r.size)
}

// lastUsed is the number of rows down to the last that holds something or the cursor.
func lastUsed(rows []*row, cursorRow int) int {
	n := len(rows)
	for n > cursorRow+1 && n > 0 && rows[n-1].used == 0 {
		n--
	}
	return n
}

func takeRow(r *row) *row {
	c := *r
	c.cells = append([]Cell(nil), r.cells...)
	return &c
}

// pullLine takes the last logical line back from the history, oldest row first. With
// openOnly it does so only when that line goes on on the screen.
func (t *Terminal) pullLine(openOnly bool) []*row {
	h := t.history
	var rows []*row
	for len(rows) < pullMax && h.log.Len() > 0 {
		rec := h.log.At(h.log.Len() - 1)
		head := readHeader(rec)
		if !head.wrapped() && (openOnly || len(rows) > 0) {
			break
		}
		r := &row{rowMarks: rowMarks{wrapped: head.wrapped(), size: head.size(), thawed: true}}
		r.cells = t.tables.unpackCells(nil, head)
		r.used = len(r.cells)
		rows = append(rows, r)
		h.log.Truncate(1)
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// refill puts lines of the history above the screen's while it has room for them.
func (t *Terminal) refill(out []*row, cur *cursor, cols, rows, blank int) []*row {
	for len(out)+blank < rows && t.history.log.Len() > 0 {
		var above []*row
		f := flow{tables: &t.tables, cols: cols}
		f.emit = func(r *row) { above = append(above, takeRow(r)) }
		for _, r := range t.pullLine(false) {
			f.feed(r, len(r.cells))
		}
		f.finish(false)
		if len(above) == 0 {
			break
		}
		cur.row += len(above)
		out = append(above, out...)
	}
	return out
}

// fitRows makes the screen of rows, pushing what is too much at the top into the history
// and keeping the cursor in sight.
func (t *Terminal) fitRows(out []*row, cur *cursor, cols, rows int, old *screen) *screen {
	over := max(0, len(out)-rows)
	over = min(over, cur.row)
	for _, r := range out[:over] {
		t.history.push(r)
	}
	out = out[over:]
	cur.row -= over
	if len(out) > rows {
		out = out[:rows]
		out[rows-1].wrapped = false
	}
	s := newScreen(&t.tables, cols, 0)
	if n := rows - len(out); n > 0 {
		out = append(out, makeRows(n)...)
	}
	s.setRows(out)
	if t.scr == old {
		t.scr = s
	}
	return s
}

// crop changes the size without reflow, as the alternate screen does: rows are cut at
// the bottom, at the top as far as the cursor needs it.
func (s *screen) crop(cur *cursor, cols, rows int) {
	s.thawAll()
	w := append([]*row(nil), s.window()...)
	if over := cur.row - rows + 1; over > 0 {
		w = w[over:]
		cur.row -= over
	}
	w = w[:min(len(w), rows)]
	if n := rows - len(w); n > 0 {
		w = append(w, makeRows(n)...)
	}
	for _, r := range w {
		r.fit(cols)
		if half := max(1, cols/2); r.size != LineNormal && r.used > half {
			r.fill(half, cols, 0, cols)
		}
	}
	s.cols = cols
	s.setRows(w)
}

// fit gives a row that has cells exactly cols of them.
func (r *row) fit(cols int) {
	if len(r.cells) == 0 {
		return
	}
	if len(r.cells) <= cols {
		r.ensure(cols)
		return
	}
	r.split(cols)
	r.cells = r.cells[:cols:cols]
	r.used = min(r.used, cols)
	r.trim(r.used, 0)
}
