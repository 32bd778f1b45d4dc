// Package color implements a terminal's colours: their kinds (default, palette, 24-bit), their notation (XParseColor's
// forms, with Xlib's device-independent spaces), and the table of those that a program can set.
//
// It knows no control sequence. Values are 0xRRGGBB unless they are of type Color.
package color

// Kind is the kind of a Color.
type Kind uint8

// Kinds of colours.
const (
	KindDefault Kind = iota // the terminal's own foreground or background
	KindIndex               // 0–255, looked up in the palette
	KindRGB                 // 24-bit
)

// Color is a colour and its kind: kind in bits 24–31, value below (an index or 0xRRGGBB). The zero Color is the
// default.
type Color uint32

// Index returns the palette colour i.
func Index(i uint8) Color { return Color(KindIndex)<<24 | Color(i) }

// RGB returns a 24-bit colour.
func RGB(r, g, b uint8) Color {
	return Color(KindRGB)<<24 | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// Kind returns the colour's kind.
func (c Color) Kind() Kind { return Kind(c >> 24) }

// Index returns the palette index of a KindIndex.
func (c Color) Index() uint8 { return uint8(c) }

// RGB returns the components of a KindRGB.
func (c Color) RGB() (r, g, b uint8) { return uint8(c >> 16), uint8(c >> 8), uint8(c) }
