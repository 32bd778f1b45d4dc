package termimage

import (
	"image"
	"image/draw"
	"math"
	"weak"

	xdraw "golang.org/x/image/draw"

	"github.com/longterm-dev/longterm/vterm"
)

// maxScaled limits a cached scaled image, in pixels. Larger ones are scaled row by row while they are drawn.
const maxScaled = 1 << 22

// Limits of a Drawer's cache: pixels, and images.
const (
	maxCachedPixels = 1 << 24
	maxCachedImages = 256
)

// Drawer draws images over cells, and caches decoded and scaled images without their source data. It must be used by
// one goroutine. The zero value is ready.
type Drawer struct {
	decoded map[weak.Pointer[vterm.Image]]*image.NRGBA // nil means not an image
	scaled  map[scaledKey]*image.NRGBA
	pixels  int // size of both caches
}

// scaledKey identifies an image scaled to a size in pixels.
type scaledKey struct {
	img  weak.Pointer[vterm.Image] // weak, because an image may be large and already dropped
	w, h int
}

// Draw draws a part of an image over cells. The image spans cols × rows cells of cell pixels each. The part starts at
// its cell from (0-based), is width cells wide and one high, and goes to at on dst. Images that do not decode are
// skipped.
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
	d.makeRoom(n)
	d.decoded[at] = pic
	return pic
}

func (d *Drawer) scale(img *vterm.Image, pic *image.NRGBA, w, h int) *image.NRGBA {
	if pic.Rect.Dx() == w && pic.Rect.Dy() == h {
		return pic
	}
	key := scaledKey{weak.Make(img), w, h}
	if out := d.scaled[key]; out != nil {
		return out
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.BiLinear.Scale(out, out.Rect, pic, pic.Rect, xdraw.Src, nil)
	d.makeRoom(w * h)
	d.scaled[key] = out
	return out
}

// makeRoom evicts cached images until there is room for a number of pixels.
func (d *Drawer) makeRoom(pixels int) {
	if d.decoded == nil || d.pixels+pixels > maxCachedPixels || len(d.decoded)+len(d.scaled) >= maxCachedImages {
		d.decoded, d.scaled, d.pixels = map[weak.Pointer[vterm.Image]]*image.NRGBA{}, map[scaledKey]*image.NRGBA{}, 0
	}
	d.pixels += pixels
}
