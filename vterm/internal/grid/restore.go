package grid

import "encoding/binary"

// Rows and lines that come from a snapshot may be damaged.

// RestoreRow fills an empty row from a record that may be damaged. It returns false for an invalid record, or one that
// refers to an image placement beyond the given number.
func (s *Screen) RestoreRow(r *Row, rec []byte, placements int) bool {
	if !isValidRecord(rec, s.Cols) {
		return false
	}
	var l Line
	s.tables.decodeLine(&l, rec)
	if len(l.Cells) > s.Cols || !s.tables.areValidCells(l.Cells, placements) {
		return false
	}
	if len(l.Cells) > 0 || l.Wrapped {
		copy(r.Ensure(s.Cols), l.Cells)
	}
	r.Used, r.Wrapped, r.Size, r.Inflated = len(l.Cells), l.Wrapped, l.Size, true
	r.updateFlags()
	return true
}

// isValidRecord reports whether the header of a record is valid.
func isValidRecord(rec []byte, cols int) bool {
	if len(rec) < 2 {
		return false
	}
	n, k := binary.Uvarint(rec[1:])
	return k > 0 && n <= uint64(cols)
}

// areValidCells reports whether wide characters are complete and all references are valid.
func (tb *Tables) areValidCells(cells []Cell, placements int) bool {
	for i, c := range cells {
		next := i+1 < len(cells) && cells[i+1].Width() == WidthTail
		switch {
		case (c.Width() == WidthWide) != next:
			return false
		case int(c.Style()) >= len(tb.Styles.List):
			return false
		case int(tb.Styles.List[c.Style()].Link) >= max(1, len(tb.Links.List)):
			return false
		case c&CellImage != 0 && int(c.Content()) >= placements:
			return false
		}
	}
	return len(cells) == 0 || cells[0].Width() != WidthTail
}

// MaxCols is the largest width of a screen.
const MaxCols = 4096

// Restore appends a record that may be damaged. It returns false for an invalid record; plain text is always valid.
func (h *Scrollback) Restore(rec []byte, placements int) bool {
	if !isValidRecord(rec, MaxCols) {
		return false
	}
	head := readHeader(rec)
	cells := head.cells
	if head.flags&(recASCII|recStyled) == recASCII {
		if len(head.body) != head.cells {
			return false
		}
	} else {
		var l Line
		h.tables.decodeLine(&l, rec)
		if len(l.Cells) > MaxCols || !h.tables.areValidCells(l.Cells, placements) {
			return false
		}
		r := Row{Cells: l.Cells, Used: len(l.Cells), Marks: Marks{Inflated: true}}
		cells = r.textCells()
	}
	h.log.Append(rec)
	if head.continues() {
		h.extendPiece(cells)
	} else {
		h.open = 0
	}
	return true
}

// Record returns line i in the form that Restore accepts.
func (h *Scrollback) Record(i int) []byte { return h.log.At(i) }
