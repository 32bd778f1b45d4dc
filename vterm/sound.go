package vterm

import "encoding/binary"

// Rows and lines that come from a snapshot may be damaged.

// restoreRow fills an empty row from a record that may be damaged; false when it is not sound,
// or refers to an image placement beyond the given number.
func (s *screen) restoreRow(r *row, rec []byte, placements int) bool {
	if !soundRecord(rec, s.cols) {
		return false
	}
	var l Line
	s.tables.unpackLine(&l, rec)
	if len(l.Cells) > s.cols || !s.tables.soundCells(l.Cells, placements) {
		return false
	}
	if len(l.Cells) > 0 {
		copy(r.ensure(s.cols), l.Cells)
	}
	r.used, r.wrapped, r.size, r.thawed = len(l.Cells), l.Wrapped, l.Size, true
	r.survey()
	return true
}

// soundRecord checks the header of a record.
func soundRecord(rec []byte, cols int) bool {
	if len(rec) < 2 {
		return false
	}
	n, k := binary.Uvarint(rec[1:])
	return k > 0 && n <= uint64(cols)
}

// soundCells checks that wide characters are whole and all references are good.
func (tb *tables) soundCells(cells []Cell, placements int) bool {
	for i, c := range cells {
		next := i+1 < len(cells) && cells[i+1].Width() == WidthTail
		switch {
		case (c.Width() == WidthWide) != next:
			return false
		case int(c.Style()) >= len(tb.styles.list):
			return false
		case int(tb.styles.list[c.Style()].Link) >= max(1, len(tb.links.list)):
			return false
		case c&CellImage != 0 && int(c.Content()) >= placements:
			return false
		}
	}
	return len(cells) == 0 || cells[0].Width() != WidthTail
}

// lineCellsMax is the width of the widest screen there can be.
const lineCellsMax = 4096

// restoreLine appends a record that may be damaged; false when it is not sound. Nothing can be
// wrong with plain text.
func (h *history) restoreLine(rec []byte, placements int) bool {
	if !soundRecord(rec, lineCellsMax) {
		return false
	}
	if head := readHeader(rec); head.flags&(packASCII|packStyled) == packASCII {
		if len(head.body) != head.cells {
			return false
		}
	} else {
		var l Line
		h.tables.unpackLine(&l, rec)
		if len(l.Cells) > lineCellsMax || !h.tables.soundCells(l.Cells, placements) {
			return false
		}
	}
	h.log.Append(rec)
	return true
}

// record is line i as restoreLine takes it.
func (h *history) record(i int) []byte { return h.log.At(i) }
