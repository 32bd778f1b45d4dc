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
	// moved is the version at which every row last moved or changed.
	moved uint64
}

func newScreen(cols, rows int) *screen {
	s := &screen{cols: cols}
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
	s.ring = append(slices.Grow(s.ring[:0], 2*len(rows)), rows...)
	s.ring = s.ring[:2*len(rows)]
	clear(s.ring[len(rows):])
}

func (s *screen) at(i int) *row { return s.ring[s.base+i] }

// window is the rows in order. It is valid until the next rotation.
func (s *screen) window() []*row { return s.ring[s.base : s.base+s.n] }

// rotateUp moves rows [top, bottom] up by n; the first n come out at the bottom.
func (s *screen) rotateUp(top, bottom, n int) {
	if top == 0 && bottom == s.n-1 {
		s.slide(n)
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

// slide rotates the whole screen up by n.
func (s *screen) slide(n int) {
	for range n {
		s.ring[s.base+s.n] = s.ring[s.base]
		s.base++
		if s.base == s.n {
			copy(s.ring, s.ring[s.n:])
			s.base = 0
		}
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
