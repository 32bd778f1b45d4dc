package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// Cell is one position of the grid, packed into 8 bytes:
//
//	bits  0–20  code point, or index into Frame.Clusters when CellCluster is set
//	bits 21–22  width kind (WidthNarrow, WidthWide, WidthTail, WidthHead)
//	bits 23–31  flags
//	bits 32–55  style id, index into Frame.Styles; 0 is the default style
//	bits 56–63  reserved, zero
//
// The zero Cell is blank: never written, default style. It differs from a written space, so that trailing spaces are
// distinguishable from padding.
type Cell = grid.Cell

// Width kinds. A wide character is a WidthWide cell followed by its WidthTail.
const (
	WidthNarrow = grid.WidthNarrow // one column
	WidthWide   = grid.WidthWide   // first column of a two-column character
	WidthTail   = grid.WidthTail   // second column of a two-column character, without content
	WidthHead   = grid.WidthHead   // blank left in the last column because a wide character wrapped
)

// Cell flags.
const (
	CellCluster   = grid.CellCluster   // content is an index into Frame.Clusters
	CellProtected = grid.CellProtected // DECSCA/SPA: skipped by selective (or all ISO) erases
	CellISOGuard  = grid.CellISOGuard  // protected by SPA (ISO) rather than DECSCA
	CellImage     = grid.CellImage     // content is an index into the engine's image placements
)

// NewCell packs a code point (or cluster index, with CellCluster among flags).
func NewCell(content rune, width int, style StyleID, flags Cell) Cell {
	return grid.NewCell(content, width, style, flags)
}

// StyleID is the index of a Style in a Frame's table.
type StyleID = grid.StyleID

// Style is everything about a cell's looks but its text. The zero Style is default.
type Style = grid.Style

// Attrs are the on/off attributes of SGR.
type Attrs = grid.Attrs

// Attributes, with the SGR parameter that sets each.
const (
	Bold       = grid.Bold       // 1
	Faint      = grid.Faint      // 2
	Italic     = grid.Italic     // 3
	Blink      = grid.Blink      // 5
	RapidBlink = grid.RapidBlink // 6
	Inverse    = grid.Inverse    // 7
	Conceal    = grid.Conceal    // 8
	Strike     = grid.Strike     // 9
	Overline   = grid.Overline   // 53
)

// Underline is the underline style (SGR 4:n, 21).
type Underline = grid.Underline

// Underline styles, numbered as in SGR 4:n.
const (
	UnderlineNone   = grid.UnderlineNone
	UnderlineSingle = grid.UnderlineSingle
	UnderlineDouble = grid.UnderlineDouble
	UnderlineCurly  = grid.UnderlineCurly
	UnderlineDotted = grid.UnderlineDotted
	UnderlineDashed = grid.UnderlineDashed
)

// LinkID is an index into Frame.Links; 0 is no link.
type LinkID = grid.LinkID

// Link is a hyperlink (OSC 8).
type Link = grid.Link

// Line is one row of cells.
type Line = grid.Line

// LineSize is the size set by DECDHL and DECDWL.
type LineSize = grid.LineSize

// Line sizes.
const (
	LineNormal       = grid.LineNormal
	LineDoubleWidth  = grid.LineDoubleWidth
	LineDoubleTop    = grid.LineDoubleTop
	LineDoubleBottom = grid.LineDoubleBottom
)
