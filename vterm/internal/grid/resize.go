package grid

// Reflow converts s, which must not be used afterwards, into a screen of another size. Rows that no longer fit go to
// the history. If rows become free, the history returns lines, so that the bottom stays in place. Blank rows below the
// cursor are dropped first.
func (s *Screen) Reflow(h *Scrollback, cur *Cursor, cols, rows int) *Screen {
	s.InflateAll()
	old := s.all()
	used := lastUsed(old, cur.Row)
	blank := len(old) - used
	var out []*Row
	f := reflow{tables: s.tables, cols: cols}
	f.emit = func(r *Row) { out = append(out, takeRow(r)) }
	f.row, f.col = -1, 0

	for _, r := range h.pull(true) {
		f.feed(r, len(r.Cells))
	}
	f.feedScreen(old[:used], cur, s.Cols)
	f.finish(false)
	*cur = Cursor{max(f.row, 0), f.col, f.pending}
	if cols != s.Cols {
		h.widthChanged(cols)
	}
	out = h.refill(out, cur, cols, rows, blank)
	return fitRows(h, out, cur, cols, rows)
}

// feedScreen passes rows of a screen to the reflow and marks the cursor.
func (f *reflow) feedScreen(rows []*Row, cur *Cursor, cols int) {
	for i, r := range rows {
		f.begin(r.Size)
		if i == cur.Row {
			f.setMark(*cur)
		}
		f.feed(r, cols)
	}
}

// feed passes a row to the reflow.
func (f *reflow) feed(r *Row, cols int) {
	f.begin(r.Size)
	if r.Wrapped && r.Size == LineNormal {
		f.line = append(f.line, r.Ensure(cols)[:cols]...)
	} else {
		f.line = append(f.line, r.Cells[:r.Used]...)
	}
	f.end(r.Wrapped, r.Size)
}

// lastUsed returns the number of rows down to the last that has content or the cursor.
func lastUsed(rows []*Row, cursorRow int) int {
	n := len(rows)
	for n > cursorRow+1 && n > 0 && union(rows[n-1].Cells[:rows[n-1].Used]) == 0 {
		n--
	}
	return n
}

func takeRow(r *Row) *Row {
	c := *r
	c.Cells = append([]Cell(nil), r.Cells...)
	return &c
}

// refill moves history lines back above the screen's lines while there is room.
func (h *Scrollback) refill(out []*Row, cur *Cursor, cols, rows, blank int) []*Row {
	for len(out)+blank < rows && h.Len() > 0 {
		pulled := h.pullRows(rows-len(out)-blank, cols)
		joined := 0 // rows at the top of the screen that continue the pulled line
		for wrapped := pulled[len(pulled)-1].Wrapped; wrapped && joined < len(out); joined++ {
			wrapped = out[joined].Wrapped
		}
		var above []*Row
		f := reflow{tables: h.tables, cols: cols}
		f.emit = func(r *Row) { above = append(above, takeRow(r)) }
		for _, r := range pulled {
			f.feed(r, len(r.Cells))
		}
		f.feedScreen(out[:joined], cur, cols)
		f.finish(false)
		if cur.Row >= joined {
			cur.Row += len(above) - joined
		} else {
			*cur = Cursor{f.row, f.col, f.pending}
		}
		out = append(above, out[joined:]...)
	}
	return out
}

// pullRows removes enough pieces of the last history line to fill this number of rows, so that they are reflowed
// together.
func (h *Scrollback) pullRows(rows, cols int) []*Row {
	pulled := h.pull(false)
	for cells := 0; h.Len() > 0 && readHeader(h.log.At(h.Len()-1)).isWrapped(); {
		if cells += pieceCells; cells >= rows*cols {
			break
		}
		pulled = append(h.pull(false), pulled...)
	}
	return pulled
}

// fitRows returns the screen of rows. It pushes excess rows at the top into the history and keeps the cursor visible.
func fitRows(h *Scrollback, out []*Row, cur *Cursor, cols, rows int) *Screen {
	over := max(0, len(out)-rows)
	over = min(over, cur.Row)
	for _, r := range out[:over] {
		h.Push(r)
	}
	out = out[over:]
	cur.Row -= over
	if len(out) > rows {
		out = out[:rows]
		out[rows-1].Wrapped = false
	}
	s := NewScreen(h.tables, cols, 0)
	if n := rows - len(out); n > 0 {
		out = append(out, makeRows(n)...)
	}
	s.setRows(out)
	return s
}

// Crop changes the size without reflow, as for the alternate screen. Rows are removed at the bottom, and at the top if
// the cursor requires it.
func (s *Screen) Crop(cur *Cursor, cols, rows int) {
	s.InflateAll()
	w := append([]*Row(nil), s.all()...)
	if over := cur.Row - rows + 1; over > 0 {
		w = w[over:]
		cur.Row -= over
	}
	w = w[:min(len(w), rows)]
	if n := rows - len(w); n > 0 {
		w = append(w, makeRows(n)...)
	}
	for _, r := range w {
		r.fit(cols)
		if half := max(1, cols/2); r.Size != LineNormal && r.Used > half {
			r.Fill(half, cols, 0, cols)
		}
	}
	s.Cols = cols
	s.setRows(w)
}

// fit gives an inflated row exactly cols cells.
func (r *Row) fit(cols int) {
	if len(r.Cells) == 0 {
		return
	}
	if len(r.Cells) <= cols {
		r.Ensure(cols)
		return
	}
	r.split(cols)
	r.Cells = r.Cells[:cols:cols]
	r.Used = min(r.Used, cols)
	r.trim(r.Used, 0)
}
