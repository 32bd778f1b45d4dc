package grid

import "slices"

// Screen is one of the two grids. Its rows are a window that slides over a buffer of twice their number, so that
// scrolling the whole screen moves one pointer per line and finding a row needs no division.
type Screen struct {
	ring []*Row // window [base, base+rows); nil: a row that was never written to
	base int
	rows int
	Cols int
	// The tables that the styles of packed rows refer to.
	tables *Tables
	// Moved is the version at which every row last moved or changed.
	Moved uint64
	// Rows [dirtyLo, dirtyHi) have changed and are stamped by Flush.
	dirtyLo, dirtyHi int
}

// NewScreen returns a blank screen.
func NewScreen(tb *Tables, cols, rows int) *Screen {
	s := &Screen{Cols: cols, tables: tb}
	s.setRows(make([]*Row, rows))
	return s
}

func makeRows(n int) []*Row {
	block := make([]Row, n)
	rows := make([]*Row, n)
	for i := range rows {
		rows[i] = &block[i]
	}
	return rows
}

// setRows replaces the rows.
func (s *Screen) setRows(rows []*Row) {
	s.rows, s.base = len(rows), 0
	s.dirtyLo, s.dirtyHi = s.rows, 0
	s.ring = append(slices.Grow(s.ring[:0], 2*len(rows)), rows...)
	s.ring = s.ring[:2*len(rows)]
	clear(s.ring[len(rows):])
}

// Raw returns row i without inflating it: its cells may still be packed, so they must not be read. Use At to read them.
func (s *Screen) Raw(i int) *Row {
	r := s.ring[s.base+i]
	if r == nil {
		r = s.make(i)
	}
	return r
}

// make creates a row that was never written to.
//
//go:noinline
func (s *Screen) make(i int) *Row {
	r := new(Row)
	s.ring[s.base+i] = r
	return r
}

// At returns row i, inflated.
func (s *Screen) At(i int) *Row {
	r := s.Raw(i)
	if !r.Inflated {
		s.Inflate(r)
	}
	return r
}

// MutableRow returns row i, inflated and stamped as changed.
func (s *Screen) MutableRow(i int) *Row {
	r := s.At(i)
	r.Version = s.tables.Version
	return r
}

// Touch marks rows [lo, hi) as changed.
func (s *Screen) Touch(lo, hi int) {
	s.dirtyLo, s.dirtyHi = min(s.dirtyLo, lo), max(s.dirtyHi, hi)
}

// TouchAll marks all rows as changed.
func (s *Screen) TouchAll() { s.Moved = s.tables.Version }

// Flush stamps the rows that Touch marked.
func (s *Screen) Flush() {
	if s.dirtyLo < s.dirtyHi {
		for i := s.dirtyLo; i < min(s.dirtyHi, s.rows); i++ {
			s.Raw(i).Version = s.tables.Version
		}
	}
	s.dirtyLo, s.dirtyHi = s.rows, 0
}

// Clear empties all rows; blank is what their cells become.
func (s *Screen) Clear(blank Cell) {
	for i := range s.rows {
		s.EraseRow(i, blank)
	}
}

// InflateAll inflates every row.
func (s *Screen) InflateAll() {
	for i := range s.rows {
		s.At(i)
	}
}

// Window returns the rows in order, packed or inflated; nil for a row that was never written to. It is valid until the
// next rotation.
func (s *Screen) Window() []*Row { return s.ring[s.base : s.base+s.rows] }

// all is Window with all rows created.
func (s *Screen) all() []*Row {
	for i := range s.rows {
		s.Raw(i)
	}
	return s.Window()
}

// RotateUp moves rows [top, bottom] up by n; the first n reappear at the bottom.
func (s *Screen) RotateUp(top, bottom, n int) {
	if top == 0 && bottom == s.rows-1 {
		for range n {
			s.slide()
		}
		return
	}
	w := s.ring[s.base+top : s.base+bottom+1]
	if n == 1 {
		first := w[0]
		copy(w, w[1:])
		w[len(w)-1] = first
		return
	}
	rotate(w, n)
}

// slide rotates the whole screen up by one.
func (s *Screen) slide() {
	s.ring[s.base+s.rows] = s.ring[s.base]
	if s.base++; s.base == s.rows {
		copy(s.ring, s.ring[s.rows:])
		s.base = 0
	}
}

// rotateDown moves rows [top, bottom] down by n; the last n reappear at the top.
func (s *Screen) rotateDown(top, bottom, n int) {
	w := s.ring[s.base+top : s.base+bottom+1]
	if n == 1 {
		last := w[len(w)-1]
		copy(w[1:], w)
		w[0] = last
		return
	}
	rotate(w, len(w)-n)
}

func rotate(w []*Row, n int) {
	slices.Reverse(w[:n])
	slices.Reverse(w[n:])
	slices.Reverse(w)
}

// CopyRow copies row i into l and reuses l's memory.
func (s *Screen) CopyRow(l *Line, i int) {
	r := s.At(i)
	l.Row, l.Version, l.Wrapped, l.Size = i, max(r.Version, s.Moved), r.Wrapped, r.Size
	l.Cells = append(l.Cells[:0], r.visibleCells(s.Cols)...)
}

// CopyRows appends copies of the rows that changed after a version, or of all rows, to lines. It reuses memory of lines
// up to its capacity.
func (s *Screen) CopyRows(lines []Line, all bool, since uint64) []Line {
	var blank Row
	for i, r := range s.Window() {
		if r == nil {
			r = &blank
		}
		version := max(r.Version, s.Moved)
		if !all && version <= since {
			continue
		}
		if len(lines) < cap(lines) {
			lines = lines[:len(lines)+1]
		} else {
			lines = append(lines, Line{})
		}
		l := &lines[len(lines)-1]
		if !r.Inflated && r != &blank {
			s.Inflate(r)
		}
		l.Row, l.Version, l.Wrapped, l.Size = i, version, r.Wrapped, r.Size
		l.Cells = append(l.Cells[:0], r.visibleCells(s.Cols)...)
	}
	return lines
}
