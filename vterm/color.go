package vterm

import "github.com/longterm-dev/longterm/vterm/internal/color"

// Color is a colour with its kind kept: kind in bits 24–31, value below (an index or
// 0xRRGGBB). The zero Color is the default.
type Color = color.Color

// ColorKind says how a Color is meant.
type ColorKind = color.Kind

// Kinds of colours.
const (
	ColorDefault = color.KindDefault // the terminal's own foreground or background
	ColorIndex   = color.KindIndex   // 0–255, looked up in the palette
	ColorRGB     = color.KindRGB     // 24-bit
)

// Index is the palette colour i.
func Index(i uint8) Color { return color.Index(i) }

// RGB is a 24-bit colour.
func RGB(r, g, b uint8) Color { return color.RGB(r, g, b) }

// Palette holds the colours a screen is drawn with. Values are 0xRRGGBB.
type Palette = color.Palette

// DefaultPalette is xterm's: 16 named colours, the 6×6×6 cube, 24 greys.
func DefaultPalette() *Palette { return color.DefaultPalette() }
