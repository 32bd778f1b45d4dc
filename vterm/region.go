package vterm

// Erasing, scrolling and moving parts of a screen. Cells that become free are blank, whatever
// that is; rows that change are stamped.

// region is a rectangle of cells, all its sides inclusive.
type region struct{ top, bottom, left, right int }

// eraseSpan erases cells [from, to) of a row. A row erased to its end is not wrapped any more.
func (s *screen) eraseSpan(row, from, to int, blank Cell) {
	r := s.raw(row)
	r.version = s.tables.version
	if from < r.used || blank != 0 {
		s.at(row).fill(from, to, blank, s.cols)
	}
	if to >= s.cols {
		r.wrapped = false
	}
}

// eraseUnprotected erases those of cells [from, to) of a row that are not protected.
func (s *screen) eraseUnprotected(row, from, to int, blank Cell) {
	r := s.stamped(row)
	r.ensure(s.cols)
	for col := from; col < to; col++ {
		if r.cells[col]&CellProtected == 0 {
			r.fill(col, col+1, blank, s.cols)
		}
	}
}

// eraseRow erases a whole row, its size included.
func (s *screen) eraseRow(row int, blank Cell) {
	r := s.raw(row)
	r.version = s.tables.version
	r.clear(blank, s.cols)
}

// rollUp moves rows [top, bottom] up by n.
func (s *screen) rollUp(top, bottom, n int, blank Cell) {
	s.rotateUp(top, bottom, n)
	for i := bottom - n + 1; i <= bottom; i++ {
		s.raw(i).clear(blank, s.cols)
	}
	s.unlink(top)
	s.touch(top, bottom+1)
}

// rollDown moves rows [top, bottom] down by n.
func (s *screen) rollDown(top, bottom, n int, blank Cell) {
	s.rotateDown(top, bottom, n)
	for i := top; i < top+n; i++ {
		s.raw(i).clear(blank, s.cols)
	}
	s.raw(bottom).wrapped = false
	s.unlink(top)
	s.touch(top, bottom+1)
}

// unlink ends the soft wrap of the row above top: what followed it has moved.
func (s *screen) unlink(top int) {
	if top > 0 {
		s.raw(top - 1).wrapped = false
	}
}

// shiftBox scrolls the cells of a region up by n.
func (s *screen) shiftBox(g region, n int, blank Cell) {
	for i := g.top; i <= g.bottom-n; i++ {
		s.copySpan(i, i+n, g)
	}
	for i := g.bottom - n + 1; i <= g.bottom; i++ {
		s.stamped(i).fill(g.left, g.right+1, blank, s.cols)
	}
}

// shiftBoxDown scrolls the cells of a region down by n.
func (s *screen) shiftBoxDown(g region, n int, blank Cell) {
	for i := g.bottom; i >= g.top+n; i-- {
		s.copySpan(i, i-n, g)
	}
	for i := g.top; i < g.top+n; i++ {
		s.stamped(i).fill(g.left, g.right+1, blank, s.cols)
	}
}

// copySpan copies the columns of a region from row src to row dst.
func (s *screen) copySpan(dst, src int, g region) {
	from, to := s.at(src), s.stamped(dst)
	from.split(g.left)
	from.split(g.right + 1)
	to.split(g.left)
	to.split(g.right + 1)
	copy(to.ensure(s.cols)[g.left:g.right+1], from.ensure(s.cols)[g.left:g.right+1])
	to.wide = to.wide || from.wide
	to.image = to.image || from.image
	to.settle(g.right + 1)
}

// shiftColumns moves the columns of a region by n, to the right when n is positive.
func (s *screen) shiftColumns(g region, n int, blank Cell) {
	for i := g.top; i <= g.bottom; i++ {
		r := s.stamped(i)
		if n > 0 {
			r.shiftRight(g.left, g.right+1, n, blank, s.cols)
		} else {
			r.shiftLeft(g.left, g.right+1, -n, blank, s.cols)
		}
		if g.right == s.cols-1 {
			r.wrapped = false
		}
	}
}

// copyBox copies the cells of a region to where its corner is at top and left.
func (s *screen) copyBox(g region, top, left int) {
	height, width := g.bottom-g.top+1, g.right-g.left+1
	copied := make([]Cell, 0, height*width)
	for i := range height {
		cells := s.at(g.top + i).ensure(s.cols)
		copied = append(copied, cells[g.left:g.left+width]...)
	}
	for i := range height {
		r := s.stamped(top + i)
		r.ensure(s.cols)
		r.split(left)
		r.split(left + width)
		copy(r.cells[left:], copied[i*width:(i+1)*width])
		r.wide = r.wide || s.at(g.top+i).wide
		r.image = r.image || s.at(g.top+i).image
		r.mend(left, left+width)
		r.settle(left + width)
	}
}
