package grid

// Line is one row of cells.
type Line struct {
	Row     int    // of the screen, 0-based; in History: index as asked
	Version uint64 // when the row last changed
	Wrapped bool   // the text goes on in the next row (soft wrap)
	Size    LineSize
	Cells   []Cell // up to Cols cells; cells left out at the end are zero Cells
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
