package vterm

import "github.com/longterm-dev/longterm/vterm/internal/color"

// Color is a colour and its kind: kind in bits 24–31, value below (an index or 0xRRGGBB). The zero Color is the
// default.
type Color = color.Color

// ColorKind is the kind of a Color: default, palette index or RGB.
type ColorKind = color.Kind

// Kinds of colours.
const (
	ColorDefault = color.KindDefault // the terminal's own foreground or background
	ColorIndex   = color.KindIndex   // 0–255, looked up in the palette
	ColorRGB     = color.KindRGB     // 24-bit
)

// Index returns the palette colour i.
func Index(i uint8) Color { return color.Index(i) }

// RGB returns a 24-bit colour.
func RGB(r, g, b uint8) Color { return color.RGB(r, g, b) }

// Palette holds the colours with which a screen is drawn. Values are 0xRRGGBB.
type Palette = color.Palette

// DefaultPalette returns xterm's palette: 16 named colours, the 6×6×6 cube, 24 greys.
func DefaultPalette() *Palette { return color.DefaultPalette() }
