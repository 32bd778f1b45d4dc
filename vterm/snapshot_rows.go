package vterm

import "encoding/binary"

func (t *Terminal) codeScreens(c *codec) {
	alt := t.alternate != nil
	c.flag(&alt)
	shown := t.scr != t.primary
	c.flag(&shown)
	if c.reading {
		t.primary = newScreen(&t.tables, t.cols, t.rows)
		t.scr = t.primary
		if alt {
			t.alternate = newScreen(&t.tables, t.cols, t.rows)
		}
		if shown && alt {
			t.scr = t.alternate
		}
	}
	t.codeRows(c, t.primary)
	if alt {
		t.codeRows(c, t.alternate)
	}
}

func (t *Terminal) codeRows(c *codec, s *screen) {
	for _, r := range s.window() {
		if c.r.bad {
			return
		}
		if !c.reading {
			rec := t.tables.packRow(nil, r)
			c.bytes(&rec)
			continue
		}
		var rec []byte
		c.bytes(&rec)
		if !t.unpackRow(r, rec) {
			c.fail()
		}
	}
}

// unpackRow fills an empty row of the screen from a record; false when it is not sound.
func (t *Terminal) unpackRow(r *row, rec []byte) bool {
	if !soundRecord(rec, t.cols) {
		return false
	}
	var l Line
	t.tables.unpackLine(&l, rec)
	if len(l.Cells) > t.cols || !t.soundCells(l.Cells) {
		return false
	}
	if len(l.Cells) > 0 {
		copy(r.ensure(t.cols), l.Cells)
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
func (t *Terminal) soundCells(cells []Cell) bool {
	for i, c := range cells {
		next := i+1 < len(cells) && cells[i+1].Width() == WidthTail
		switch {
		case (c.Width() == WidthWide) != next:
			return false
		case int(c.Style()) >= len(t.tables.styles.list):
			return false
		case int(t.tables.styles.list[c.Style()].Link) >= max(1, len(t.tables.links.list)):
			return false
		case c&CellImage != 0 && int(c.Content()) >= len(t.images.Placements):
			return false
		}
	}
	return len(cells) == 0 || cells[0].Width() != WidthTail
}

// historyCellsMax bounds the cells of a history line that is read back.
const historyCellsMax = MaxCols

func (t *Terminal) codeHistory(c *codec) {
	h := t.history
	base := h.firstID()
	unsigned(c, &base, anyUint/2)
	c.flag(&h.unsettled)
	c.flag(&h.wrapped)
	signed(c, &h.widest, 0, historyCellsMax)
	n := h.log.Len()
	signed(c, &n, 0, 1<<30)
	for i := 0; i < n && !c.r.bad; i++ {
		if !c.reading {
			rec := h.log.At(i)
			c.bytes(&rec)
			continue
		}
		rec := c.r.bytes(c.r.uvarint())
		if !t.soundLine(rec) {
			c.fail()
			return
		}
		h.log.Append(rec)
	}
	if c.reading {
		h.base = base
	}
}

// soundLine checks a record of the history. Nothing can be wrong with plain text.
func (t *Terminal) soundLine(rec []byte) bool {
	if !soundRecord(rec, historyCellsMax) {
		return false
	}
	if h := readHeader(rec); h.flags&(packASCII|packStyled) == packASCII {
		return len(h.body) == h.cells
	}
	var l Line
	t.tables.unpackLine(&l, rec)
	return len(l.Cells) <= historyCellsMax && t.soundCells(l.Cells)
}
