package pixel

import (
	"image"
	"image/draw"

	"golang.org/x/image/math/fixed"
)

// missing draws a box with the code point in hexadecimal.
func (g *glyphs) missing(k glyphKey, r rune, w, h int) *image.Alpha {
	const digits = "0123456789ABCDEF"
	out := image.NewAlpha(image.Rect(0, 0, w, h))
	t := max(1, int(g.thin))
	inset := max(1, h/10)
	frame := image.Rect(t, inset, w-t, h-inset)
	draw.Draw(out, frame, image.NewUniform(image.Opaque.C), image.Point{}, draw.Src)
	draw.Draw(out, frame.Inset(t), image.Transparent, image.Point{}, draw.Src)
	var text []byte
	for shift := 20; shift >= 0; shift -= 4 {
		if d := r >> shift & 0xf; d > 0 || len(text) > 0 || shift <= 12 {
			text = append(text, digits[d])
		}
	}
	const rows = 2
	columns := (len(text) + rows - 1) / rows
	inner := frame.Inset(2 * t)
	cw, ch := float32(inner.Dx())/float32(columns), float32(inner.Dy())/rows
	for i, d := range text {
		row, col := i/columns, i%columns
		g.digit(out, rune(d), inner.Min.X+int(float32(col)*cw), inner.Min.Y+int(float32(row)*ch), cw, ch)
	}
	return out
}

// digit draws a small hexadecimal digit.
func (g *glyphs) digit(out *image.Alpha, d rune, x, y int, cw, ch float32) {
	small := *g
	small.cell, small.base = image.Pt(max(1, int(cw)), max(1, int(ch))), int(ch*0.9)
	f, index, _ := g.fonts.find(&g.buf, d, true, false)
	if f == nil || cw < 3 {
		return
	}
	em := min(cw/advance, ch*1.2)
	segments, err := f.LoadGlyph(&g.buf, index, fixed.Int26_6(em*64), nil)
	if err != nil {
		return
	}
	mask := small.place(segments, glyphKey{width: 1, doubled: image.Pt(1, 1)}, em*advance)
	draw.DrawMask(out, mask.Bounds().Add(image.Pt(x, y)), image.Opaque, image.Point{}, mask, mask.Bounds().Min, draw.Over)
}
