package pixel

import (
	"image"
	"image/draw"
	"unicode/utf8"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/longterm-dev/longterm/render/boxdraw"
)

// glyphKey identifies a drawn character.
type glyphKey struct {
	text         string
	bold, italic bool
	width        int // cells
	doubled      image.Point
}

// glyph is a drawn character, relative to its cell's upper left corner: a mask, or a coloured picture.
type glyph struct {
	mask  *image.Alpha
	color *image.RGBA
}

// glyphs draws characters and caches them.
type glyphs struct {
	cell   image.Point
	base   int
	thin   float32
	fonts  *fonts
	buf    sfnt.Buffer
	known  map[glyphKey]*glyph
	pixels int // size of the cached glyphs
}

// maxKept limits the cached glyphs, in pixels.
const maxKept = 16 << 20

func (g *glyphs) init(cell image.Point, base int, thin float32, system bool) {
	g.cell, g.base, g.thin = cell, base, thin
	g.fonts = embedded()
	if system {
		g.fonts = allFonts()
	}
	g.known = map[glyphKey]*glyph{}
}

// glyph returns the glyph of a character, or nil for an invisible one.
func (g *glyphs) glyph(k glyphKey) *glyph {
	if known, ok := g.known[k]; ok {
		return known
	}
	made := g.draw(k)
	if made != nil && made.mask != nil {
		g.pixels += len(made.mask.Pix)
	}
	if made != nil && made.color != nil {
		g.pixels += len(made.color.Pix)
	}
	if g.pixels > maxKept {
		clear(g.known)
		g.pixels = 0
	}
	g.known[k] = made
	return made
}

func (g *glyphs) draw(k glyphKey) *glyph {
	r, n := utf8.DecodeRuneInString(k.text)
	if other := g.substitute(r); other != r {
		rest := k.text[n:]
		r, n, k.text = other, utf8.RuneLen(other), string(other)+rest
	}
	w, h := k.width*g.cell.X*k.doubled.X, g.cell.Y*k.doubled.Y
	if n == len(k.text) {
		if shape, ok := boxdraw.Draw(r, float32(g.cell.X*k.width), float32(g.cell.Y), g.thin); ok {
			return &glyph{mask: fillShape(&shape, w, h, k.doubled)}
		}
	}
	if emojiLike(k.text, r, k.width) {
		if img := g.fonts.emoji(k.text, w, h); img != nil {
			return &glyph{color: img}
		}
	}
	return g.outlines(k, w, h)
}

// outlines draws a character and its combining characters over each other.
func (g *glyphs) outlines(k glyphKey, w, h int) *glyph {
	var out *glyph
	for _, r := range k.text {
		if invisible(r) {
			continue
		}
		mask := g.outline(k, r)
		switch {
		case mask == nil && out == nil:
			mask = g.missing(k, r, w, h)
			fallthrough
		case out == nil:
			out = &glyph{mask: mask}
		case mask != nil:
			out.mask = union(out.mask, mask)
		}
		if r > 0x1f000 { // what follows in an emoji sequence changes it, and is not drawn over it
			break
		}
	}
	return out
}

// outline draws one code point. It returns nil if no font has it.
func (g *glyphs) outline(k glyphKey, r rune) *image.Alpha {
	f, index, weighted := g.fonts.find(&g.buf, r, k.bold, k.italic)
	if f == nil {
		mask := g.fonts.bitmap(r, image.Pt(k.width*g.cell.X, g.cell.Y), g.base, k.doubled)
		if mask != nil && k.bold { // the bitmap font has one weight
			mask = embolden(mask, int(g.thin))
		}
		return mask
	}
	// At this size the advance of the embedded font is one cell.
	em := float32(g.cell.X) / advance
	segments, err := f.LoadGlyph(&g.buf, index, fixed.Int26_6(em*64), nil)
	if err != nil {
		return nil
	}
	adv, err := f.GlyphAdvance(&g.buf, index, fixed.Int26_6(em*64), 0)
	if err != nil {
		return nil
	}
	mask := g.place(segments, k, float32(adv)/64)
	if !weighted && !emojiLike(k.text, r, k.width) {
		mask = embolden(mask, int(g.thin))
	}
	return mask
}

// place rasterises outlines in the cells of a character: centred if the advance differs, narrowed if too wide.
func (g *glyphs) place(segments sfnt.Segments, k glyphKey, adv float32) *image.Alpha {
	box := float32(k.width * g.cell.X)
	shrink := float32(1)
	const overhang = 1.25 // of a symbol that is much too wide: fonts surround those with space
	isSymbol := adv > box*1.4
	switch {
	case isSymbol:
		shrink = overhang * box / adv
	case adv > box*1.02 && adv > 0:
		shrink = box / adv
	}
	sx, sy := float32(k.doubled.X)*shrink, float32(k.doubled.Y)
	dx, dy := float32(k.doubled.X)*(box-adv*shrink)/2, float32(g.base*k.doubled.Y)
	if isSymbol && shrink < 1 { // it keeps its proportions, in the middle of the line
		dy -= sy * (1 - shrink) * float32(g.cell.Y) * 0.3
		sy *= shrink
	}
	if adv == 0 { // a combining mark of a font that is not monospaced stands left of its origin
		dx = float32(k.doubled.X) * float32(g.cell.X)
	}
	b := segments.Bounds()
	area := image.Rect(
		int(float32(b.Min.X)/64*sx+dx)-1, int(float32(b.Min.Y)/64*sy+dy)-1,
		int(float32(b.Max.X)/64*sx+dx)+2, int(float32(b.Max.Y)/64*sy+dy)+2,
	).Intersect(image.Rect(-2*g.cell.X, -2*g.cell.Y, 8*g.cell.X, 4*g.cell.Y))
	if area.Empty() {
		return image.NewAlpha(image.Rectangle{})
	}
	at := func(p fixed.Point26_6) (x, y float32) {
		return float32(p.X)/64*sx + dx - float32(area.Min.X), float32(p.Y)/64*sy + dy - float32(area.Min.Y)
	}
	return rasterize(trace(segments, area, at), area, 255)
}

// trace draws outlines, with each point mapped by at.
func trace(segments sfnt.Segments, area image.Rectangle, at func(fixed.Point26_6) (x, y float32)) *vector.Rasterizer {
	z := vector.NewRasterizer(area.Dx(), area.Dy())
	for i := range segments {
		s := &segments[i]
		x, y := at(s.Args[0])
		x2, y2 := at(s.Args[1])
		x3, y3 := at(s.Args[2])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			z.ClosePath()
			z.MoveTo(x, y)
		case sfnt.SegmentOpLineTo:
			z.LineTo(x, y)
		case sfnt.SegmentOpQuadTo:
			z.QuadTo(x, y, x2, y2)
		case sfnt.SegmentOpCubeTo:
			z.CubeTo(x, y, x2, y2, x3, y3)
		}
	}
	z.ClosePath()
	return z
}

// rasterize returns the shapes collected by z as a mask of an area.
func rasterize(z *vector.Rasterizer, area image.Rectangle, alpha uint8) *image.Alpha {
	out := image.NewAlpha(area)
	z.DrawOp = draw.Src
	z.Draw(out, area, image.Opaque, image.Point{})
	if alpha < 255 {
		for i, a := range out.Pix {
			out.Pix[i] = uint8(int(a) * int(alpha) / 255)
		}
	}
	return out
}

// fillShape rasterises a shape as a mask, enlarged by the factors of its line.
func fillShape(s *boxdraw.Shape, w, h int, doubled image.Point) *image.Alpha {
	area := image.Rect(0, 0, w, h)
	if area.Empty() {
		return image.NewAlpha(image.Rectangle{})
	}
	fx, fy := float32(doubled.X), float32(doubled.Y)
	z := vector.NewRasterizer(w, h)
	for _, seg := range s.Path {
		p := seg.P
		switch seg.Op {
		case boxdraw.MoveTo:
			z.MoveTo(p[0]*fx, p[1]*fy)
		case boxdraw.LineTo:
			z.LineTo(p[0]*fx, p[1]*fy)
		case boxdraw.CubicTo:
			z.CubeTo(p[0]*fx, p[1]*fy, p[2]*fx, p[3]*fy, p[4]*fx, p[5]*fy)
		case boxdraw.Close:
			z.ClosePath()
		}
	}
	return rasterize(z, area, s.Alpha)
}

// embolden draws a mask again, n pixels further right, without making it wider.
func embolden(m *image.Alpha, n int) *image.Alpha {
	moved := *m
	moved.Rect = m.Rect.Add(image.Pt(n, 0)).Intersect(m.Rect)
	return union(m, &moved)
}

func union(a, b *image.Alpha) *image.Alpha {
	out := image.NewAlpha(a.Bounds().Union(b.Bounds()))
	for _, m := range []*image.Alpha{a, b} {
		r := m.Bounds()
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				i := out.PixOffset(x, y)
				out.Pix[i] = max(out.Pix[i], m.AlphaAt(x, y).A)
			}
		}
	}
	return out
}

// invisible reports whether a code point only affects others.
func invisible(r rune) bool {
	return r == 0x200b || r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r == 0xad ||
		r >= 0xe0000 && r <= 0xe0fff || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == ' ' || r == 0x3000
}

// emojiLike reports whether a character is shown in colour: wide ones outside of scripts, or those with variation
// selector 16.
func emojiLike(text string, r rune, width int) bool {
	if r >= 0x1f000 && r <= 0x1faff {
		return true
	}
	for _, c := range text {
		if c == 0xfe0f {
			return true
		}
	}
	return width == 2 && r >= 0x2300 && r <= 0x2bff
}
