package vterm

import (
	"encoding/binary"
	"unicode/utf8"
)

// packedHeader is what can be known of a record without reading its cells.
type packedHeader struct {
	flags byte
	cells int
	body  []byte
}

func readHeader(rec []byte) packedHeader {
	n, k := binary.Uvarint(rec[1:])
	return packedHeader{rec[0], int(n), rec[1+k:]}
}

func (h packedHeader) wrapped() bool  { return h.flags&packWrapped != 0 }
func (h packedHeader) size() LineSize { return LineSize(h.flags >> packSizeShift & 3) }

// reader takes a record apart. A record that is cut short (a snapshot that was tampered
// with) gives zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

// unpackLine fills l from a record.
func (tb *tables) unpackLine(l *Line, rec []byte) {
	h := readHeader(rec)
	l.Wrapped = h.wrapped()
	l.Size = h.size()
	l.Cells = tb.unpackCells(l.Cells[:0], h)
}

func (tb *tables) unpackCells(cells []Cell, h packedHeader) []Cell {
	first := len(cells)
	r := reader{b: h.body}
	if h.flags&packASCII != 0 {
		for _, c := range r.bytes(uint64(h.cells)) {
			cells = append(cells, Cell(c))
		}
	} else {
		for len(cells)-first < h.cells && !r.bad {
			cells = tb.unpackCell(cells, &r)
		}
	}
	if h.flags&packStyled != 0 {
		tb.unpackStyles(cells[first:], &r)
	}
	return cells
}

func (tb *tables) unpackCell(cells []Cell, r *reader) []Cell {
	var flags Cell
	mark := byte(0)
	if len(r.b) > 0 {
		mark = r.b[0]
	}
	if mark == packFlags {
		r.byte()
		flags = Cell(r.byte()) << 24 & cellFlagsMask
		if len(r.b) > 0 {
			mark = r.b[0]
		}
	}
	width := WidthNarrow
	switch mark {
	case packHead:
		r.byte()
		return append(cells, NewCell(0, WidthHead, 0, flags))
	case packTail:
		r.byte()
		return append(cells, NewCell(0, WidthTail, 0, flags))
	case packWide:
		r.byte()
		width = WidthWide
	}
	cells = append(cells, tb.unpackContent(r)|NewCell(0, width, 0, flags))
	if width == WidthWide {
		cells = append(cells, NewCell(0, WidthTail, 0, flags))
	}
	return cells
}

func (tb *tables) unpackContent(r *reader) Cell {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	switch r.b[0] {
	case packCluster:
		r.byte()
		i := tb.clusters.intern(r.bytes(r.uvarint()))
		if i == 0 {
			return Cell(utf8.RuneError)
		}
		return CellCluster | Cell(i)
	case packImage:
		r.byte()
		return CellImage | Cell(r.uvarint())&cellContentMask
	}
	c, n := utf8.DecodeRune(r.b)
	r.b = r.b[n:]
	return Cell(c)
}

func (tb *tables) unpackStyles(cells []Cell, r *reader) {
	for len(cells) > 0 && !r.bad {
		n := min(r.uvarint(), uint64(len(cells)))
		id := tb.unpackStyle(r)
		for i := range cells[:n] {
			cells[i] |= Cell(id) << cellStyleShift
		}
		cells = cells[n:]
	}
}

func (tb *tables) unpackStyle(r *reader) StyleID {
	if id := r.uvarint(); id > 0 {
		if id > uint64(len(tb.styles.list)) {
			return 0
		}
		return StyleID(id - 1)
	}
	return tb.styles.lookup(&Style{
		FG: Color(r.uvarint()), BG: Color(r.uvarint()), ULColor: Color(r.uvarint()),
		Attrs: Attrs(r.uvarint()), Underline: Underline(r.uvarint()), Link: LinkID(r.uvarint()),
	})
}
