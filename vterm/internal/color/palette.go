package color

// Palette holds the colours with which a screen is drawn. Values are 0xRRGGBB.
type Palette struct {
	Colors     [256]uint32
	Foreground uint32
	Background uint32
	Cursor     uint32
}

// ansi16 holds xterm's defaults of the first 16 colours (XTerm-col.ad).
var ansi16 = [16]uint32{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

// DefaultPalette returns xterm's palette: 16 named colours, the 6×6×6 cube, 24 greys.
func DefaultPalette() *Palette {
	p := &Palette{Foreground: 0xe5e5e5, Background: 0x000000, Cursor: 0xe5e5e5}
	copy(p.Colors[:], ansi16[:])
	level := func(i int) uint32 {
		if i == 0 {
			return 0
		}
		return uint32(55 + 40*i)
	}
	for i := range 216 {
		p.Colors[16+i] = level(i/36)<<16 | level(i/6%6)<<8 | level(i%6)
	}
	for i := range 24 {
		p.Colors[232+i] = uint32(8+10*i) * 0x010101
	}
	return p
}

// Hex returns a colour as 0xRRGGBB; def replaces the default colour.
func (p *Palette) Hex(c Color, def uint32) uint32 {
	switch c.Kind() {
	case KindIndex:
		return p.Colors[c.Index()]
	case KindRGB:
		return uint32(c) & 0xffffff
	default:
		return def
	}
}
