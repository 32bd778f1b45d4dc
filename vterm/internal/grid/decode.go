package grid

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// recordHeader is the part of a record that can be read without its cells.
type recordHeader struct {
	flags byte
	cells int
	body  []byte
}

func readHeader(rec []byte) recordHeader {
	n, k := binary.Uvarint(rec[1:])
	return recordHeader{rec[0], int(n), rec[1+k:]}
}

func (h recordHeader) isWrapped() bool { return h.flags&recWrapped != 0 }

// endsPiece reports whether the line wraps into the first line of another piece.
func (h recordHeader) endsPiece() bool { return h.flags&(recPiece|recWrapped) == recPiece|recWrapped }

// continues reports whether the next line belongs to the same piece.
func (h recordHeader) continues() bool { return h.isWrapped() && !h.endsPiece() }

func (h recordHeader) size() LineSize { return LineSize(h.flags >> recSizeShift & 3) }

// Reader reads values from a record. A truncated record, as in a damaged snapshot, yields zeros and sets Bad.
type Reader struct {
	B   []byte
	Bad bool
}

func (r *Reader) byte() byte {
	if len(r.B) == 0 {
		r.Bad = true
		return 0
	}
	c := r.B[0]
	r.B = r.B[1:]
	return c
}

func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Bad, r.B = true, nil
		return 0
	}
	r.B = r.B[n:]
	return v
}

func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.B)) {
		r.Bad, r.B = true, nil
		return nil
	}
	p := r.B[:n]
	r.B = r.B[n:]
	return p
}

// decodeLine fills l from a record.
func (tb *Tables) decodeLine(l *Line, rec []byte) {
	h := readHeader(rec)
	l.Wrapped = h.isWrapped()
	l.Size = h.size()
	l.Cells = tb.decodeCells(l.Cells[:0], h)
}

func (tb *Tables) decodeCells(cells []Cell, h recordHeader) []Cell {
	first := len(cells)
	r := Reader{B: h.body}
	if h.flags&recASCII != 0 {
		text := r.Bytes(uint64(h.cells))
		cells = slices.Grow(cells, len(text))[:first+len(text)]
		putASCII(cells[first:], text, 0)
	} else {
		for len(cells)-first < h.cells && !r.Bad {
			if len(r.B) > 0 && r.B[0]-0x20 < 0x60 {
				cells = append(cells, Cell(r.B[0]))
				r.B = r.B[1:]
				continue
			}
			if len(r.B) >= 4 {
				if c, n := runeOf(binary.LittleEndian.Uint32(r.B)); n > 0 {
					cells, r.B = append(cells, Cell(c)), r.B[n:]
					continue
				}
			}
			cells = tb.decodeCell(cells, &r)
		}
	}
	if h.flags&recStyled != 0 {
		tb.decodeStyles(cells[first:], &r)
	}
	return cells
}

func (tb *Tables) decodeCell(cells []Cell, r *Reader) []Cell {
	var flags Cell
	mark := byte(0)
	if len(r.B) > 0 {
		mark = r.B[0]
	}
	if mark == markFlags {
		r.byte()
		flags = Cell(r.byte()) << 24 & FlagsMask
		if len(r.B) > 0 {
			mark = r.B[0]
		}
	}
	width := WidthNarrow
	switch mark {
	case markHead:
		r.byte()
		return append(cells, NewCell(0, WidthHead, 0, flags))
	case markTail:
		r.byte()
		return append(cells, NewCell(0, WidthTail, 0, flags))
	case markWide:
		r.byte()
		width = WidthWide
	}
	cells = append(cells, tb.decodeContent(r)|NewCell(0, width, 0, flags))
	if width == WidthWide {
		cells = append(cells, NewCell(0, WidthTail, 0, flags))
	}
	return cells
}

func (tb *Tables) decodeContent(r *Reader) Cell {
	if len(r.B) == 0 {
		r.Bad = true
		return 0
	}
	switch r.B[0] {
	case markCluster:
		r.byte()
		i := tb.Clusters.ID(r.Bytes(r.Uvarint()))
		if i == 0 {
			return Cell(utf8.RuneError)
		}
		return CellCluster | Cell(i)
	case markImage:
		r.byte()
		return CellImage | Cell(r.Uvarint())&cellContentMask
	}
	c, n := utf8.DecodeRune(r.B)
	r.B = r.B[n:]
	return Cell(c)
}

func (tb *Tables) decodeStyles(cells []Cell, r *Reader) {
	for len(cells) > 0 && !r.Bad {
		n, id := uint64(0), StyleID(0)
		if b := r.B; len(b) >= 2 && b[0]|b[1] < 0x80 && b[1] != 0 && int(b[1]) <= len(tb.Styles.List) {
			n, id = uint64(b[0]), StyleID(b[1]-1) // the common kind
			r.B = b[2:]
		} else {
			n, id = r.Uvarint(), tb.decodeStyle(r)
		}
		n = min(n, uint64(len(cells)))
		if id != 0 {
			style := Cell(id) << CellStyleShift
			for i := range cells[:n] {
				cells[i] |= style
			}
		}
		cells = cells[n:]
	}
}

func (tb *Tables) decodeStyle(r *Reader) StyleID {
	if id := r.Uvarint(); id>>24 == uint64(color.KindRGB) {
		return tb.Styles.ID(&Style{FG: color.Color(id)})
	} else if id > 0 {
		if id > uint64(len(tb.Styles.List)) {
			return 0
		}
		return StyleID(id - 1)
	}
	return tb.Styles.ID(&Style{
		FG: color.Color(r.Uvarint()), BG: color.Color(r.Uvarint()), ULColor: color.Color(r.Uvarint()),
		Attrs: Attrs(r.Uvarint()), Underline: Underline(r.Uvarint()), Link: LinkID(r.Uvarint()),
	})
}
