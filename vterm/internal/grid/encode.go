package grid

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// A line of the scrollback is a record:
//
//	flags  1 wrapped · 2, 4 line size · 8 ascii · 16 styled · 32 last of a piece (Scrollback)
//	cells  uvarint
//	text   ascii: a byte a cell, 0 for blank; else cell by cell, see encodeCells
//	styles if styled: runs of (cells uvarint, style) until all cells are covered
//
// A style is its id plus 1 when the id is a lasting one, else 0 and the style itself, so
// that tables can be rebuilt without a look at the scrollback. One that is a colour of 24 bits for
// the text and nothing else is that colour, which is above all ids.
const (
	recWrapped   = 1
	recSizeShift = 1
	recASCII     = 8
	recStyled    = 16
	recPiece     = 32
)

// Bytes that never start UTF-8 text mark the cells that are not one narrow character.
const (
	markWide    = 0x01 // two columns follow as one
	markCluster = 0x02 // uvarint length and bytes
	markHead    = 0x03 // WidthHead
	markImage   = 0x04 // uvarint placement
	markFlags   = 0x05 // flags of the next cell, one byte
	markTail    = 0x06 // a tail that lost its head
)

// LastingStyles is the number of ids that are never reassigned to another style.
const LastingStyles = 4096

const FlagsMask = CellProtected | CellISOGuard

// EncodeRow appends the record of a row.
func (tb *Tables) EncodeRow(dst []byte, r *Row) []byte {
	if !r.Inflated {
		return tb.encodePacked(dst, r)
	}
	cells := r.Cells[:r.Used]
	all := union(cells)
	flags := r.flags()
	if all.Style() != 0 {
		flags |= recStyled
	}
	ascii := all&(cellContentMask&^0x7f|3<<cellWidthShift|CellCluster|CellImage|FlagsMask) == 0
	if ascii {
		flags |= recASCII
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(len(cells)))
	if ascii {
		dst = encodeBytes(dst, cells)
	} else {
		dst = tb.encodeCells(dst, cells)
	}
	if flags&recStyled != 0 {
		dst = tb.encodeStyles(dst, cells)
	}
	return dst
}

// union returns the bitwise OR of all cells.
func union(cells []Cell) Cell {
	var a, b, c, d Cell
	for len(cells) >= 8 {
		p := cells[:8:8]
		a |= p[0] | p[4]
		b |= p[1] | p[5]
		c |= p[2] | p[6]
		d |= p[3] | p[7]
		cells = cells[8:]
	}
	for _, p := range cells {
		a |= p
	}
	return a | b | c | d
}

func encodeBytes(dst []byte, cells []Cell) []byte {
	n := len(dst)
	if cap(dst)-n < len(cells) {
		dst = append(dst, make([]byte, len(cells))...)
	} else {
		dst = dst[:n+len(cells)]
	}
	out := dst[n:]
	for len(cells) >= 8 {
		c, o := cells[:8:8], out[:8:8]
		binary.LittleEndian.PutUint64(o, uint64(byte(c[0]))|uint64(byte(c[1]))<<8|uint64(byte(c[2]))<<16|
			uint64(byte(c[3]))<<24|uint64(byte(c[4]))<<32|uint64(byte(c[5]))<<40|uint64(byte(c[6]))<<48|uint64(byte(c[7]))<<56)
		cells, out = cells[8:], out[8:]
	}
	for i, c := range cells {
		out[i] = byte(c)
	}
	return dst
}

// encodeCells appends cells one by one: a narrow character as its UTF-8, a wide one after markWide.
func (tb *Tables) encodeCells(dst []byte, cells []Cell) []byte {
	const odd = CellCluster | CellImage | FlagsMask
	dst = slices.Grow(dst, 4*len(cells))
	for i := 0; i < len(cells); i++ {
		c := cells[i]
		switch r := c & cellContentMask; {
		case c&odd != 0 || c>>cellWidthShift&3 > WidthWide || r >= 0x10000 || c>>cellWidthShift&3 == WidthWide && r < 0x800:
			dst = tb.encodeSpecial(dst, c)
			if c.Width() == WidthWide {
				i++
			}
		case c>>cellWidthShift&3 == WidthWide:
			dst = append(dst, markWide, byte(0xe0|r>>12), byte(0x80|r>>6&0x3f), byte(0x80|r&0x3f))
			i++
		case r < 0x80:
			dst = append(dst, byte(r))
		case r < 0x800:
			dst = append(dst, byte(0xc0|r>>6), byte(0x80|r&0x3f))
		default:
			dst = append(dst, byte(0xe0|r>>12), byte(0x80|r>>6&0x3f), byte(0x80|r&0x3f))
		}
	}
	return dst
}

// encodeSpecial appends a cell of a rarer kind.
func (tb *Tables) encodeSpecial(dst []byte, c Cell) []byte {
	if f := c & FlagsMask; f != 0 {
		dst = append(dst, markFlags, byte(f>>24))
	}
	switch c.Width() {
	case WidthHead:
		return append(dst, markHead)
	case WidthTail:
		return append(dst, markTail)
	case WidthWide:
		dst = append(dst, markWide)
	}
	switch {
	case c&CellImage != 0:
		dst = append(dst, markImage)
		return binary.AppendUvarint(dst, uint64(c.Content()))
	case c&CellCluster != 0:
		s := tb.Clusters.List[c.Content()]
		dst = append(dst, markCluster)
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		return append(dst, s...)
	}
	return utf8.AppendRune(dst, rune(c.Content()))
}

func (tb *Tables) encodeStyles(dst []byte, cells []Cell) []byte {
	for i := 0; i < len(cells); {
		id := cells[i].Style()
		j := i + 1
		for j < len(cells) && cells[j].Style() == id {
			j++
		}
		dst = tb.encodeRun(dst, j-i, id)
		i = j
	}
	return dst
}

// encodeRun appends a run of n cells of a style.
func (tb *Tables) encodeRun(dst []byte, n int, id StyleID) []byte {
	if n < 0x80 && id < 0x7f {
		return append(dst, byte(n), byte(id)+1)
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	return tb.encodeStyle(dst, id)
}

func (tb *Tables) encodeStyle(dst []byte, id StyleID) []byte {
	if id < LastingStyles {
		return binary.AppendUvarint(dst, uint64(id)+1)
	}
	return appendStyle(dst, &tb.Styles.List[id])
}

// ColorOnly reports whether a style only sets a 24-bit text colour.
func (s *Style) ColorOnly() bool {
	return s.FG.Kind() == color.KindRGB && uint32(s.BG|s.ULColor)|uint32(s.Attrs)|uint32(s.Link)|uint32(s.Underline) == 0
}

// appendStyle appends a style itself.
func appendStyle(dst []byte, s *Style) []byte {
	if s.ColorOnly() {
		return binary.AppendUvarint(dst, uint64(s.FG))
	}
	dst = append(dst, 0)
	for _, v := range [...]uint64{uint64(s.FG), uint64(s.BG), uint64(s.ULColor), uint64(s.Attrs), uint64(s.Underline), uint64(s.Link)} {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}
