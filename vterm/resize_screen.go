package vterm

// reflow makes a screen of another size of s, which is not used any more. Rows that no longer
// fit go to the history; where rows became free, the history gives lines back, so that what was at the bottom
// stays there. Blank rows under the cursor are the first to go.
func (s *screen) reflow(h *history, cur *cursor, cols, rows int) *screen {
	s.thawAll()
	old := s.window()
	used := lastUsed(old, cur.row)
	blank := len(old) - used
	var out []*row
	f := flow{tables: s.tables, cols: cols}
	f.emit = func(r *row) { out = append(out, takeRow(r)) }
	f.row, f.col = -1, 0

	for _, r := range h.pull(true) {
		f.feed(r, len(r.cells))
	}
	for i, r := range old[:used] {
		if i == cur.row {
			f.setMark(*cur)
		}
		f.feed(r, s.cols)
	}
	f.finish(false)
	*cur = cursor{max(f.row, 0), f.col, f.pending}
	if cols != s.cols {
		h.widthChanged(cols)
	}
	out = h.refill(out, cur, cols, rows, blank)
	return fitRows(h, out, cur, cols, rows)
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

// refill puts lines back above the screen's while it has room for them.
func (h *history) refill(out []*row, cur *cursor, cols, rows, blank int) []*row {
	for len(out)+blank < rows && h.Len() > 0 {
		var above []*row
		f := flow{tables: h.tables, cols: cols}
		f.emit = func(r *row) { above = append(above, takeRow(r)) }
		for _, r := range h.pull(false) {
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
func fitRows(h *history, out []*row, cur *cursor, cols, rows int) *screen {
	over := max(0, len(out)-rows)
	over = min(over, cur.row)
	for _, r := range out[:over] {
		h.push(r)
	}
	out = out[over:]
	cur.row -= over
	if len(out) > rows {
		out = out[:rows]
		out[rows-1].wrapped = false
	}
	s := newScreen(h.tables, cols, 0)
	if n := rows - len(out); n > 0 {
		out = append(out, makeRows(n)...)
	}
	s.setRows(out)
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
