package grid

// PutImage makes cells [from, to) show the placement with this index.
func (r *Row) PutImage(from, to, index, cols int) {
	r.Fill(from, to, CellImage|Cell(index), cols)
	r.Image = true
}

// EachImage calls f for each cell that shows an image.
func (s *Screen) EachImage(f func(index, row, col int)) {
	for i, r := range s.Window() {
		if r == nil {
			continue
		}
		r = s.At(i)
		for col := 0; r.Image && col < r.Used; col++ {
			if c := r.Cells[col]; c&CellImage != 0 {
				f(int(c.Content()), i, col)
			}
		}
	}
}

// EraseImages erases the image cells for which match is true.
func (s *Screen) EraseImages(match func(index, row, col int) bool) {
	s.EachImage(func(index, row, col int) {
		if match(index, row, col) {
			r := s.MutableRow(row)
			r.Cells[col] = blankOf(r.Cells[col])
		}
	})
	for i, r := range s.Window() {
		if r != nil && s.At(i).Image {
			r.trim(r.Used, 0)
		}
	}
}
