package grid

// Cell is one position of the grid, packed into 8 bytes:
//
//	bits  0–20  code point, or index into Frame.Clusters when CellCluster is set
//	bits 21–22  width kind (WidthNarrow, WidthWide, WidthTail, WidthHead)
//	bits 23–31  flags
//	bits 32–55  style id, index into Frame.Styles; 0 is the default style
//	bits 56–63  reserved, zero
//
// The zero Cell is blank: never written, default style. It differs from a written space so that trailing spaces are
// distinguishable from padding.
type Cell uint64

// Width kinds. A wide character is a WidthWide cell followed by its WidthTail.
const (
	WidthNarrow = 0 // one column
	WidthWide   = 1 // first column of a two-column character
	WidthTail   = 2 // second column of a two-column character, without content
	WidthHead   = 3 // blank left in the last column because a wide character wrapped
)

// Cell flags.
const (
	CellCluster   Cell = 1 << 23 // content is an index into Frame.Clusters
	CellProtected Cell = 1 << 24 // DECSCA/SPA: skipped by selective (or all ISO) erases
	CellISOGuard  Cell = 1 << 25 // protected by SPA (ISO) rather than DECSCA
	CellImage     Cell = 1 << 26 // content is an index into the engine's image placements
)

const (
	cellContentMask = 1<<21 - 1
	cellWidthShift  = 21
	CellStyleShift  = 32
	cellStyleMask   = 1<<24 - 1
)

// StyleID is the index of a Style in a StyleTable.
type StyleID uint32

// NewCell packs a code point (or cluster index, with CellCluster among flags).
func NewCell(content rune, width int, style StyleID, flags Cell) Cell {
	return Cell(content)&cellContentMask | Cell(width)<<cellWidthShift |
		Cell(style)<<CellStyleShift | flags
}

// Blank reports whether nothing was written here (the style may still be set).
func (c Cell) Blank() bool { return c&(cellContentMask|CellCluster|CellImage) == 0 }

// Rune returns the code point, or 0 for a blank or a cluster.
func (c Cell) Rune() rune {
	if c&(CellCluster|CellImage) != 0 {
		return 0
	}
	return rune(c & cellContentMask)
}

// Content returns the raw content field: a code point, a cluster or an image index.
func (c Cell) Content() uint32 { return uint32(c & cellContentMask) }

// Width returns the width kind.
func (c Cell) Width() int { return int(c>>cellWidthShift) & 3 }

// Style returns the cell's style id.
func (c Cell) Style() StyleID { return StyleID(c >> CellStyleShift & cellStyleMask) }

// WithStyle returns the cell with another style.
func (c Cell) WithStyle(id StyleID) Cell {
	return c&^(cellStyleMask<<CellStyleShift) | Cell(id)<<CellStyleShift
}
