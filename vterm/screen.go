package vterm

import "slices"

// screen is one of the two grids. Its rows stand in a window that slides over a buffer of
// twice their number, so that scrolling the whole screen moves one reference per line
// and a row is found without a division.
type screen struct {
	ring []*row // window [base, base+n)
	base int
	n    int
	cols int
	// tables are what the styles of drafts refer to.
	tables *tables
	// moved is the version at which every row last moved or changed.
	moved uint64
	// Rows [dirtyLo, dirtyHi) changed and are stamped when flush is called.
	dirtyLo, dirtyHi int
}

func newScreen(tb *tables, cols, rows int) *screen {
	s := &screen{cols: cols, tables: tb}
	s.setRows(makeRows(rows))
	return s
}

func makeRows(n int) []*row {
	block := make([]row, n)
	rows := make([]*row, n)
	for i := range rows {
		rows[i] = &block[i]
	}
	return rows
}

// setRows replaces the rows.
func (s *screen) setRows(rows []*row) {
	s.n, s.base = len(rows), 0
	s.dirtyLo, s.dirtyHi = s.n, 0
	s.ring = append(slices.Grow(s.ring[:0], 2*len(rows)), rows...)
	s.ring = s.ring[:2*len(rows)]
	clear(s.ring[len(rows):])
}

// raw is row i as it is. Its cells are not to be looked at.
func (s *screen) raw(i int) *row { return s.ring[s.base+i] }

// at is row i, thawed.
func (s *screen) at(i int) *row {
	r := s.ring[s.base+i]
	if !r.thawed {
		s.thaw(r)
	}
	return r
}

// stamped is row i, thawed and stamped as changed.
func (s *screen) stamped(i int) *row {
	r := s.at(i)
	r.version = s.tables.version
	return r
}

// touch marks rows [lo, hi) as changed.
func (s *screen) touch(lo, hi int) {
	s.dirtyLo, s.dirtyHi = min(s.dirtyLo, lo), max(s.dirtyHi, hi)
}

// touchAll marks everything as changed.
func (s *screen) touchAll() { s.moved = s.tables.version }

// flush stamps the rows that touch marked.
func (s *screen) flush() {
	if s.dirtyLo < s.dirtyHi {
		for _, r := range s.window()[s.dirtyLo:min(s.dirtyHi, s.n)] {
			r.version = s.tables.version
		}
	}
	s.dirtyLo, s.dirtyHi = s.n, 0
}

// clear empties all rows; blank is what their cells become.
func (s *screen) clear(blank Cell) {
	for i := range s.n {
		s.eraseRow(i, blank)
	}
}

// thawAll thaws every row.
func (s *screen) thawAll() {
	for i := range s.n {
		s.at(i)
	}
}

// window is the rows in order, as they are. It is valid until the next rotation.
func (s *screen) window() []*row { return s.ring[s.base : s.base+s.n] }

// rotateUp moves rows [top, bottom] up by n; the first n come out at the bottom.
func (s *screen) rotateUp(top, bottom, n int) {
	if top == 0 && bottom == s.n-1 {
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
func (s *screen) slide() {
	s.ring[s.base+s.n] = s.ring[s.base]
	if s.base++; s.base == s.n {
		copy(s.ring, s.ring[s.n:])
		s.base = 0
	}
}

// rotateDown moves rows [top, bottom] down by n; the last n come out at the top.
func (s *screen) rotateDown(top, bottom, n int) {
	w := s.ring[s.base+top : s.base+bottom+1]
	if n == 1 {
		last := w[len(w)-1]
		copy(w[1:], w)
		w[0] = last
		return
	}
	rotate(w, len(w)-n)
}

func rotate(w []*row, n int) {
	slices.Reverse(w[:n])
	slices.Reverse(w[n:])
	slices.Reverse(w)
}

// copyRows appends copies of the rows that changed after a version, or of all, to lines. The
// memory of lines and of their cells up to its capacity is used again.
func (s *screen) copyRows(lines []Line, all bool, since uint64) []Line {
	for i, r := range s.window() {
		version := max(r.version, s.moved)
		if !all && version <= since {
			continue
		}
		if len(lines) < cap(lines) {
			lines = lines[:len(lines)+1]
		} else {
			lines = append(lines, Line{})
		}
		l := &lines[len(lines)-1]
		if !r.thawed {
			s.thaw(r)
		}
		l.Row, l.Version, l.Wrapped, l.Size = i, version, r.wrapped, r.size
		l.Cells = append(l.Cells[:0], r.shown(s.cols)...)
	}
	return lines
}
