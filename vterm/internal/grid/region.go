package grid

// Functions that erase, scroll and move parts of a screen. Freed cells get the value blank; changed rows are stamped.

// Region is a rectangle of cells, all its sides inclusive.
type Region struct{ Top, Bottom, Left, Right int }

// EraseSpan erases cells [from, to) of a row. A row erased to its end is no longer wrapped.
func (s *Screen) EraseSpan(row, from, to int, blank Cell) {
	r := s.Raw(row)
	r.Version = s.tables.Version
	if from < r.Used || blank != 0 {
		s.At(row).Fill(from, to, blank, s.Cols)
	}
	if to >= s.Cols {
		r.Wrapped = false
	}
}

// EraseUnprotected erases those of cells [from, to) of a row that are not protected.
func (s *Screen) EraseUnprotected(row, from, to int, blank Cell) {
	r := s.MutableRow(row)
	r.Ensure(s.Cols)
	for col := from; col < to; col++ {
		if r.Cells[col]&CellProtected == 0 {
			r.Fill(col, col+1, blank, s.Cols)
		}
	}
}

// EraseRow erases a whole row, its size included.
func (s *Screen) EraseRow(row int, blank Cell) {
	r := s.Raw(row)
	r.Version = s.tables.Version
	r.Clear(blank, s.Cols)
}

// RollUp moves rows [top, bottom] up by n.
func (s *Screen) RollUp(top, bottom, n int, blank Cell) {
	s.RotateUp(top, bottom, n)
	for i := bottom - n + 1; i <= bottom; i++ {
		s.Raw(i).Clear(blank, s.Cols)
	}
	s.BreakWrap(top)
	s.Touch(top, bottom+1)
}

// RollDown moves rows [top, bottom] down by n.
func (s *Screen) RollDown(top, bottom, n int, blank Cell) {
	s.rotateDown(top, bottom, n)
	for i := top; i < top+n; i++ {
		s.Raw(i).Clear(blank, s.Cols)
	}
	s.Raw(bottom).Wrapped = false
	s.BreakWrap(top)
	s.Touch(top, bottom+1)
}

// BreakWrap ends the soft wrap of the row above top, because the text that followed it has moved.
func (s *Screen) BreakWrap(top int) {
	if top == 0 {
		return
	}
	if r := s.Raw(top - 1); r.Wrapped {
		r.Wrapped, r.Version = false, s.tables.Version
	}
}

// ShiftUp scrolls the cells of a region up by n.
func (s *Screen) ShiftUp(g Region, n int, blank Cell) {
	for i := g.Top; i <= g.Bottom-n; i++ {
		s.copySpan(i, i+n, g)
	}
	for i := g.Bottom - n + 1; i <= g.Bottom; i++ {
		s.MutableRow(i).Fill(g.Left, g.Right+1, blank, s.Cols)
	}
}

// ShiftDown scrolls the cells of a region down by n.
func (s *Screen) ShiftDown(g Region, n int, blank Cell) {
	for i := g.Bottom; i >= g.Top+n; i-- {
		s.copySpan(i, i-n, g)
	}
	for i := g.Top; i < g.Top+n; i++ {
		s.MutableRow(i).Fill(g.Left, g.Right+1, blank, s.Cols)
	}
}

// copySpan copies the columns of a region from row src to row dst.
func (s *Screen) copySpan(dst, src int, g Region) {
	from, to := s.At(src), s.MutableRow(dst)
	from.split(g.Left)
	from.split(g.Right + 1)
	to.split(g.Left)
	to.split(g.Right + 1)
	copy(to.Ensure(s.Cols)[g.Left:g.Right+1], from.Ensure(s.Cols)[g.Left:g.Right+1])
	to.Wide = to.Wide || from.Wide
	to.Image = to.Image || from.Image
	to.Recount(g.Right + 1)
}

// ShiftColumns moves the columns of a region by n, to the right when n is positive.
func (s *Screen) ShiftColumns(g Region, n int, blank Cell) {
	for i := g.Top; i <= g.Bottom; i++ {
		r := s.MutableRow(i)
		if n > 0 {
			r.ShiftRight(g.Left, g.Right+1, n, blank, s.Cols)
		} else {
			r.shiftLeft(g.Left, g.Right+1, -n, blank, s.Cols)
		}
		if g.Right == s.Cols-1 {
			r.Wrapped = false
		}
	}
}

// CopyBox copies the cells of a region to where its corner is at top and left.
func (s *Screen) CopyBox(g Region, top, left int) {
	height, width := g.Bottom-g.Top+1, g.Right-g.Left+1
	copied := make([]Cell, 0, height*width)
	for i := range height {
		cells := s.At(g.Top + i).Ensure(s.Cols)
		copied = append(copied, cells[g.Left:g.Left+width]...)
	}
	for i := range height {
		r := s.MutableRow(top + i)
		r.Ensure(s.Cols)
		r.split(left)
		r.split(left + width)
		copy(r.Cells[left:], copied[i*width:(i+1)*width])
		r.Wide = r.Wide || s.At(g.Top+i).Wide
		r.Image = r.Image || s.At(g.Top+i).Image
		r.repair(left, left+width)
		r.Recount(left + width)
	}
}
