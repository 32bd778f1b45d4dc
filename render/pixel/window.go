package pixel

import (
	"image"
	"image/draw"
	"math"

	"golang.org/x/image/vector"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// frame is what surrounds the cells: margin, shadow, window and title bar.
type frame struct {
	window image.Rectangle // everything except the margin
	// drawn is the frame for a theme and a title; nil: not drawn yet. It is drawn again when they change.
	drawn *image.RGBA
	theme render.Theme
	title string
}

// drawFrame draws everything behind the cells.
func (p *Painter) drawFrame(img *image.RGBA, title string) {
	if !p.o.Window && p.o.Margin <= 0 {
		fill(img, img.Bounds(), p.o.Theme.BG)
		return
	}
	f := &p.frame
	if f.drawn == nil || f.theme != p.o.Theme || f.title != title {
		f.drawn, f.theme, f.title = image.NewRGBA(image.Rectangle{Max: p.size}), p.o.Theme, title
		fill(f.drawn, f.drawn.Rect, p.o.MarginColor)
		if p.o.Window {
			p.drawWindow(f.drawn, title)
		} else {
			fill(f.drawn, f.window, p.o.Theme.BG)
		}
	}
	copy(img.Pix, f.drawn.Pix)
}

// drawWindow draws the shadow, the window and its title bar.
func (p *Painter) drawWindow(img *image.RGBA, title string) {
	scale := p.o.ScaleFactor()
	length := func(n float64) int { return int(math.Round(n * scale)) }
	w, radius := p.frame.window, float32(render.WindowRadius*scale)
	shadow := image.NewAlpha(img.Rect)
	draw.Draw(shadow, w.Add(image.Pt(0, length(render.ShadowOffset))), roundedRect(w.Size(), radius), image.Point{}, draw.Src)
	blur(shadow, length(render.WindowShadow))
	for i, a := range shadow.Pix {
		shadow.Pix[i] = uint8(float64(a) * render.ShadowOpacity)
	}
	stamp(img, shadow, image.Point{}, 0)
	shape := roundedRect(w.Size(), radius)
	stamp(img, shape, w.Min, p.o.Theme.BG)
	bar := image.Rectangle{w.Min, image.Pt(w.Max.X, min(w.Min.Y+length(render.WindowBar), w.Max.Y))}
	stamp(img.SubImage(bar).(*image.RGBA), shape, w.Min, p.o.Theme.BarColor())
	r := length(render.ButtonRadius)
	for i, c := range render.ButtonColors {
		center := image.Pt(w.Min.X+length(float64(render.ButtonGap*(i+1))), (bar.Min.Y+bar.Max.Y)/2)
		stamp(img.SubImage(bar).(*image.RGBA), roundedRect(image.Pt(2*r, 2*r), float32(r)), center.Sub(image.Pt(r, r)), c)
	}
	p.drawTitle(img, bar, title)
}

// drawTitle draws a title in the middle of the bar. It omits the title of a picture too small for its font.
func (p *Painter) drawTitle(img *image.RGBA, bar image.Rectangle, title string) {
	title = render.WindowTitle(render.PictureTitle(title), int(float64(bar.Dx())/p.o.ScaleFactor()))
	screen, cols := titleScreen(title)
	o := Options{SystemFonts: p.o.SystemFonts, PictureOptions: render.PictureOptions{NoCursor: true, Scale: p.o.ScaleFactor() * render.TitleSize}}
	o.Theme = p.o.Theme
	o.Theme.BG, o.Theme.FG = p.o.Theme.BarColor(), p.o.Theme.TitleColor()
	painter, err := NewPainter(cols, 1, o)
	if err != nil || title == "" {
		return
	}
	at := bar.Min.Add(bar.Size().Sub(painter.size).Div(2))
	draw.Draw(img.SubImage(bar).(*image.RGBA), image.Rectangle{at, at.Add(painter.size)}, painter.Draw(screen), image.Point{}, draw.Src)
}

// titleScreen returns a screen of one line with the title, and the columns of the title.
func titleScreen(title string) (*render.Screen, int) {
	engine := vterm.New(vterm.Options{Cols: min(4*len(title)+2, vterm.MaxCols), Rows: 1, ScrollbackLines: -1})
	_, _ = engine.Write([]byte(title)) // never fails
	var f vterm.Frame
	engine.Frame(&f, vterm.Query{})
	s := &render.Screen{}
	render.FromFrame(s, &f)
	s.Cols = max(f.Cursor.Col, 1)
	return s, s.Cols
}

// roundCorners removes what the cells drew outside a window's round corners.
func (p *Painter) roundCorners(img *image.RGBA) {
	if !p.o.Window || p.o.Padding >= render.WindowRadius {
		return
	}
	w := p.frame.window
	n := int(math.Ceil(render.WindowRadius * p.o.ScaleFactor()))
	mask := roundedRect(w.Size(), float32(render.WindowRadius*p.o.ScaleFactor()))
	for _, x := range []int{0, w.Dx() - n} {
		for dy := range n {
			for dx := range n {
				at := image.Pt(x+dx, w.Dy()-n+dy)
				if mask.AlphaAt(at.X, at.Y).A < 0xff {
					img.SetRGBA(w.Min.X+at.X, w.Min.Y+at.Y, p.frame.drawn.RGBAAt(w.Min.X+at.X, w.Min.Y+at.Y))
				}
			}
		}
	}
}

// roundedRect returns a rectangle with round corners as a mask.
func roundedRect(size image.Point, radius float32) *image.Alpha {
	w, h := float32(size.X), float32(size.Y)
	r := min(radius, w/2, h/2)
	k := r * (1 - 0.5523) // where the control points of a quarter of a circle are
	z := vector.NewRasterizer(size.X, size.Y)
	z.MoveTo(r, 0)
	z.LineTo(w-r, 0)
	z.CubeTo(w-k, 0, w, k, w, r)
	z.LineTo(w, h-r)
	z.CubeTo(w, h-k, w-k, h, w-r, h)
	z.LineTo(r, h)
	z.CubeTo(k, h, 0, h-k, 0, h-r)
	z.LineTo(0, r)
	z.CubeTo(0, k, k, 0, r, 0)
	z.ClosePath()
	return rasterize(z, image.Rectangle{Max: size}, 0xff)
}

// blur blurs a mask nearly as a Gaussian filter does, by three box filters with the same variance in total.
func blur(m *image.Alpha, deviation int) {
	n := max(deviation, 1) // three boxes of 2n+1 pixels have the variance n(n+1)
	w, h := m.Rect.Dx(), m.Rect.Dy()
	line := make([]uint8, max(w, h))
	for range 3 {
		for y := range h {
			boxBlur(m.Pix[y*m.Stride:], line[:w], 1, n)
		}
		for x := range w {
			boxBlur(m.Pix[x:], line[:h], m.Stride, n)
		}
	}
}

// boxBlur replaces each of len(line) values, step bytes apart, by the mean of the values at most n from it. Values beyond
// the ends count as 0. line is scratch space.
func boxBlur(pix, line []uint8, step, n int) {
	for i := range line {
		line[i] = pix[i*step]
	}
	sum := 0
	for _, v := range line[:min(n, len(line))] {
		sum += int(v)
	}
	for i := range line {
		if i+n < len(line) {
			sum += int(line[i+n])
		}
		if i > n {
			sum -= int(line[i-n-1])
		}
		pix[i*step] = uint8(sum / (2*n + 1))
	}
}
