package termimage

import (
	"image"
	"image/draw"
	"math"
	"weak"

	xdraw "golang.org/x/image/draw"

	"github.com/longterm-dev/longterm/vterm"
)

// maxScaled bounds a scaled image that is kept; of a larger one each row of cells is drawn from the pixels it has.
const maxScaled = 1 << 22

// Bounds of what a Drawer keeps: pixels, and images.
const (
	maxDrawn = 1 << 24
	maxKept  = 256
)

// Drawer draws images over cells, and keeps what it has decoded and scaled, not what that was made of. It belongs to
// one goroutine; the zero value is ready.
type Drawer struct {
	decoded map[weak.Pointer[vterm.Image]]*image.NRGBA // nil: it is none
	scaled  map[size]*image.NRGBA
	pixels  int // of both
}

// size is an image over cells of so many pixels.
type size struct {
	img  weak.Pointer[vterm.Image] // it may be large, and may be gone
	w, h int
}

// Draw draws a part of an image over cells: the image is spread over cols × rows cells of cell pixels each, the part
// begins at its cell from (0-based) and is so many cells wide and one high. at is where the part's upper left corner
// is on dst. What does not decode is not drawn.
func (d *Drawer) Draw(dst draw.Image, at image.Point, img *vterm.Image, cols, rows float64, cell, from image.Point, width int) {
	pic := d.decode(img)
	w, h := int(math.Round(cols*float64(cell.X))), int(math.Round(rows*float64(cell.Y)))
	if pic == nil || w < 1 || h < 1 {
		return
	}
	part := image.Rect(from.X*cell.X, from.Y*cell.Y, (from.X+width)*cell.X, (from.Y+1)*cell.Y)
	to := part.Intersect(image.Rect(0, 0, w, h))
	shift := at.Sub(part.Min)
	to = to.Add(shift).Intersect(dst.Bounds()).Sub(shift)
	if to.Empty() {
		return
	}
	if h > maxScaled/w {
		shown := image.NewNRGBA(to)
		for y := to.Min.Y; y < to.Max.Y; y++ {
			for x := to.Min.X; x < to.Max.X; x++ {
				shown.SetNRGBA(x, y, pic.NRGBAAt(x*pic.Rect.Dx()/w, y*pic.Rect.Dy()/h))
			}
		}
		draw.Draw(dst, to.Add(shift), shown, to.Min, draw.Over)
		return
	}
	draw.Draw(dst, to.Add(shift), d.scale(img, pic, w, h), to.Min, draw.Over)
}

func (d *Drawer) decode(img *vterm.Image) *image.NRGBA {
	at := weak.Make(img)
	if pic, known := d.decoded[at]; known {
		return pic
	}
	pic, err := Decode(img)
	if err != nil {
		pic = nil
	}
	n := 1
	if pic != nil {
		n = pic.Rect.Dx() * pic.Rect.Dy()
	}
	d.keep(n)
	d.decoded[at] = pic
	return pic
}

func (d *Drawer) scale(img *vterm.Image, pic *image.NRGBA, w, h int) *image.NRGBA {
	if pic.Rect.Dx() == w && pic.Rect.Dy() == h {
		return pic
	}
	key := size{weak.Make(img), w, h}
	if out := d.scaled[key]; out != nil {
		return out
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.BiLinear.Scale(out, out.Rect, pic, pic.Rect, xdraw.Src, nil)
	d.keep(w * h)
	d.scaled[key] = out
	return out
}

// keep makes room for so many pixels.
func (d *Drawer) keep(pixels int) {
	if d.decoded == nil || d.pixels+pixels > maxDrawn || len(d.decoded)+len(d.scaled) >= maxKept {
		d.decoded, d.scaled, d.pixels = map[weak.Pointer[vterm.Image]]*image.NRGBA{}, map[size]*image.NRGBA{}, 0
	}
	d.pixels += pixels
}
