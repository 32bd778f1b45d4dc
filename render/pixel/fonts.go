package pixel

import (
	_ "embed"
	"image"
	"sync"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"github.com/go-fonts/dejavu/dejavusansmonoboldoblique"
	"github.com/go-fonts/dejavu/dejavusansmonooblique"
	"github.com/hajimehoshi/bitmapfont/v3"
	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// advance of the embedded font's characters, in em.
const advance = 1233.0 / 2048

// fonts is a list of fonts in which characters are searched.
type fonts struct {
	// embedded is the embedded font: plain, bold, italic, both.
	embedded [4]*sfnt.Font
	// more are fonts of the machine in order of preference, then embedded ones with more symbols; color has the
	// machine's emoji.
	more  []*sfnt.Font
	color *bitmapEmoji
}

// notoEmoji is Noto Emoji Regular (SIL Open Font License 1.1, fonts/NotoEmoji-OFL.txt) without ligatures and hints, scaled to
// 400 units per em.
//
//go:embed fonts/NotoEmoji.ttf
var notoEmoji []byte

var embedded = sync.OnceValue(func() *fonts {
	f := &fonts{}
	for i, data := range [...][]byte{dejavusansmono.TTF, dejavusansmonobold.TTF, dejavusansmonooblique.TTF, dejavusansmonoboldoblique.TTF} {
		f.embedded[i] = parse(data)
	}
	f.more = []*sfnt.Font{parse(dejavusans.TTF), parse(notoEmoji)}
	return f
})

// parse returns an embedded font.
func parse(data []byte) *sfnt.Font {
	parsed, err := sfnt.Parse(data)
	if err != nil {
		panic("embedded font: " + err.Error())
	}
	return parsed
}

// find returns the first font that has a character, and whether the font has the requested weight.
func (f *fonts) find(buf *sfnt.Buffer, r rune, bold, italic bool) (font *sfnt.Font, index sfnt.GlyphIndex, weighted bool) {
	style := 0
	if bold {
		style |= 1
	}
	if italic {
		style |= 2
	}
	for _, own := range []*sfnt.Font{f.embedded[style], f.embedded[0]} {
		if i, err := own.GlyphIndex(buf, r); err == nil && i != 0 {
			return own, i, !bold || own == f.embedded[style]
		}
	}
	for _, other := range f.more {
		if i, err := other.GlyphIndex(buf, r); err == nil && i != 0 {
			return other, i, !bold
		}
	}
	return nil, 0, false
}

// bitmapSize is the size of the bitmap font's full-width characters, in its pixels.
const bitmapSize = 12

// bitmapMu guards the bitmap font, which returns the same image for all its glyphs.
var bitmapMu sync.Mutex

// bitmap draws a character of the bitmap font, enlarged to its cells. box is the size in a line of normal size.
func (f *fonts) bitmap(r rune, box image.Point, base int, doubled image.Point) *image.Alpha {
	bitmapMu.Lock()
	defer bitmapMu.Unlock()
	face := bitmapfont.FaceSC
	dr, mask, at, adv, ok := face.Glyph(fixed.P(0, bitmapSize), r)
	if !ok || mask == nil {
		return nil
	}
	src := image.NewAlpha(image.Rect(0, 0, dr.Dx()+2, dr.Dy()+2)) // a rim, for the filter
	ink := false
	for y := range dr.Dy() {
		for x := range dr.Dx() {
			if _, _, _, a := mask.At(at.X+x, at.Y+y).RGBA(); a > 0 {
				ink = true
				src.Pix[src.PixOffset(x+1, y+1)] = 0xff
			}
		}
	}
	if !ink {
		return nil
	}
	advance := float64(adv.Round())
	scale := float64(box.X) * 0.92 / advance
	left := (float64(box.X) - advance*scale) / 2
	top := float64(base) - scale*(bitmapSize-1.3) // the baseline is 1.3 above the bottom of full-width characters
	x := func(n int) int { return int(float64(doubled.X)*(left+scale*float64(n)) + 0.5) }
	y := func(n int) int { return int(float64(doubled.Y)*(top+scale*float64(n)) + 0.5) }
	area := image.Rect(x(dr.Min.X-1), y(dr.Min.Y-1), x(dr.Max.X+1), y(dr.Max.Y+1))
	out := image.NewAlpha(area)
	xdraw.CatmullRom.Scale(out, area, src, src.Bounds(), xdraw.Src, nil)
	sharpen(out, scale)
	return out
}

// sharpen makes the edges of an enlarged bitmap about one pixel wide again.
func sharpen(mask *image.Alpha, scale float64) {
	if scale <= 1 {
		return
	}
	for i, a := range mask.Pix {
		mask.Pix[i] = uint8(min(max((float64(a)-112)*scale+112, 0), 255))
	}
}
