package vterm

// ColorKind says how a Color is meant.
type ColorKind uint8

// Kinds of colours.
const (
	ColorDefault ColorKind = iota // the terminal's own foreground or background
	ColorIndex                    // 0–255, looked up in the palette
	ColorRGB                      // 24-bit
)

// Color is a colour with its kind kept: kind in bits 24–31, value below (an index or
// 0xRRGGBB). The zero Color is the default.
type Color uint32

// Index is the palette colour i.
func Index(i uint8) Color { return Color(ColorIndex)<<24 | Color(i) }

// RGB is a 24-bit colour.
func RGB(r, g, b uint8) Color {
	return Color(ColorRGB)<<24 | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// Kind is the colour's kind.
func (c Color) Kind() ColorKind { return ColorKind(c >> 24) }

// Index is the palette index of a ColorIndex.
func (c Color) Index() uint8 { return uint8(c) }

// RGB are the components of a ColorRGB.
func (c Color) RGB() (r, g, b uint8) { return uint8(c >> 16), uint8(c >> 8), uint8(c) }

// Attrs are the on/off attributes of SGR.
type Attrs uint16

// Attributes, with the SGR parameter that sets each.
const (
	Bold       Attrs = 1 << iota // 1
	Faint                        // 2
	Italic                       // 3
	Blink                        // 5
	RapidBlink                   // 6
	Inverse                      // 7
	Conceal                      // 8
	Strike                       // 9
	Overline                     // 53
)

// Underline is the underline style (SGR 4:n, 21).
type Underline uint8

// Underline styles, numbered as in SGR 4:n.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// LinkID is an index into Frame.Links; 0 is no link.
type LinkID uint32

// Style is everything about a cell's looks but its text. The zero Style is default.
type Style struct {
	FG, BG    Color
	ULColor   Color // underline colour; default: that of the text
	Attrs     Attrs
	Underline Underline
	Link      LinkID
}

// Link is a hyperlink (OSC 8).
type Link struct {
	ID  string // the program's id=, joins cells of one link; may be empty
	URI string
}
