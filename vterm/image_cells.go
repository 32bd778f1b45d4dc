package vterm

// putImage makes cells [from, to) show a placement, which the caller keeps by its index.
func (r *row) putImage(from, to, index, cols int) {
	r.fill(from, to, CellImage|Cell(index), cols)
	r.image = true
}

// eachImage visits the cells that show an image.
func (s *screen) eachImage(f func(index, row, col int)) {
	for i := range s.n {
		r := s.at(i)
		for col := 0; r.image && col < r.used; col++ {
			if c := r.cells[col]; c&CellImage != 0 {
				f(int(c.Content()), i, col)
			}
		}
	}
}

// eraseImages blanks the cells that show an image and match.
func (s *screen) eraseImages(match func(index, row, col int) bool) {
	s.eachImage(func(index, row, col int) {
		if match(index, row, col) {
			r := s.stamped(row)
			r.cells[col] = blanked(r.cells[col])
		}
	})
	for i := range s.n {
		if r := s.at(i); r.image {
			r.trim(r.used, 0)
		}
	}
}
