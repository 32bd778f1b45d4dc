package grid

// Line is one row of cells.
type Line struct {
	Row     int    // row of the screen, 0-based; in a History the requested index
	Version uint64 // when the row last changed
	Wrapped bool   // the text continues in the next row (soft wrap)
	Size    LineSize
	Cells   []Cell // up to Cols cells; missing cells at the end are zero Cells
}

// LineSize is the size set by DECDHL and DECDWL.
type LineSize uint8

// Line sizes.
const (
	LineNormal LineSize = iota
	LineDoubleWidth
	LineDoubleTop
	LineDoubleBottom
)
