// Package pixel draws screens as pixels.
//
// A cell is a whole number of pixels; the font is scaled so that its advance is exactly a cell. Characters that must join
// (package boxdraw) are drawn. Others are taken from the embedded font (DejaVu Sans Mono), or from fonts of the machine if
// allowed. The last choice is an embedded bitmap font with Chinese, Japanese and Korean. A character that no font has is shown
// as a box with its code point.
package pixel

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/boxdraw"
	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

// MaxPixels limits a picture, which takes four bytes per pixel.
const MaxPixels = 32 << 20

// Limits of the scale.
const (
	MinScale = 0.25
	MaxScale = 8
)

// Options controls how a screen is drawn as pixels.
type Options struct {
	render.PictureOptions
	// SystemFonts allows fonts found on this machine for characters that the embedded
	// ones lack or have as bitmaps only. Pictures then depend on the machine.
	SystemFonts bool
}

// WritePNG draws the screen, and its history lines, as a PNG.
func WritePNG(w io.Writer, s *render.Screen, o Options) error {
	p, err := NewPainter(s.Cols, s.Rows+len(s.Scrollback), o)
	if err != nil {
		return err
	}
	return png.Encode(w, p.Draw(s))
}

// Painter draws screens of one size. It is not safe for concurrent use.
type Painter struct {
	o          Options
	cols, rows int
	cell       image.Point // pixels
	base       int
	origin     image.Point // of the first cell
	frame      frame
	thin       float32
	glyphs     glyphs
	images     termimage.Drawer
	size       image.Point
	doubled    image.Point // enlargement of the line being drawn
}

// NewPainter returns a painter for screens of a size in cells.
func NewPainter(cols, rows int, o Options) (*Painter, error) {
	scale := o.ScaleFactor()
	if !(scale >= MinScale && scale <= MaxScale) {
		return nil, fmt.Errorf("scale %g: give %g to %d", scale, MinScale, MaxScale)
	}
	px := func(n float64) int { return max(1, int(math.Round(n*scale))) }
	p := &Painter{
		o: o, cols: cols, rows: rows,
		cell: image.Pt(px(render.CellWidth), px(render.CellHeight)),
		thin: float32(max(1, math.Round(1.3*scale))), doubled: image.Pt(1, 1),
	}
	side, top, bottom := o.Insets()
	length := func(n int) int { // 0 stays 0
		if n <= 0 {
			return 0
		}
		return px(float64(min(n, 1000)))
	}
	p.origin = image.Pt(length(side), length(top))
	p.base = int(math.Round(float64(p.cell.Y) * 0.76))
	if cols < 1 || rows < 1 || cols > vterm.MaxCols*2 || rows > MaxPixels {
		return nil, fmt.Errorf("picture: invalid size (%d×%d cells)", cols, rows)
	}
	p.size = image.Pt(cols*p.cell.X+2*p.origin.X, rows*p.cell.Y+p.origin.Y+length(bottom))
	p.frame.window = image.Rectangle{Max: p.size}.Inset(length(o.Margin))
	if n := int64(p.size.X) * int64(p.size.Y); n > MaxPixels {
		return nil, fmt.Errorf("picture: too large (%d×%d pixels, limit %d million): use fewer lines or a smaller scale",
			p.size.X, p.size.Y, MaxPixels>>20)
	}
	p.glyphs.init(p.cell, p.base, p.thin, o.SystemFonts)
	return p, nil
}

// Size returns the size of the pictures, in pixels.
func (p *Painter) Size() image.Point { return p.size }

// Draw draws a screen on a new picture.
func (p *Painter) Draw(s *render.Screen) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: p.size})
	p.DrawOn(img, s)
	return img
}

// DrawOn draws a screen over a previous picture of this painter. A screen of another size is cropped, or surrounded by
// background.
func (p *Painter) DrawOn(img *image.RGBA, s *render.Screen) {
	p.drawFrame(img, s.Title)
	shape, row, col := p.o.CursorOn(s)
	for y, l := range s.Grid() {
		if y >= p.rows {
			break
		}
		at := -1
		if y == row {
			at = col
		}
		p.line(img, &l, y, at, shape)
	}
	p.roundCorners(img)
}

// line draws one line: backgrounds, then characters, then the cursor.
func (p *Painter) line(img *image.RGBA, l *render.Line, y, cursorCol int, shape string) {
	top := p.origin.Y + y*p.cell.Y
	row := img.SubImage(image.Rect(p.frame.window.Min.X, top, p.frame.window.Max.X, top+p.cell.Y)).(*image.RGBA)
	p.doubled = image.Pt(1, 1)
	switch l.Size {
	case "double-width":
		p.doubled = image.Pt(2, 1)
	case "double-top":
		p.doubled = image.Pt(2, 2)
	case "double-bottom":
		p.doubled = image.Pt(2, 2)
		top -= p.cell.Y
	}
	for i := range l.Spans {
		s := &l.Spans[i]
		if paint := p.o.Theme.Paint(s); paint.Filled {
			fill(row, p.area(s.Col, s.Width, top), paint.BG)
		}
		if s.Image != nil && l.Size == "" && s.Col >= 0 && s.Col < p.cols {
			im := s.Image
			p.images.Draw(row, p.area(s.Col, s.Width, top).Min, im.Image, im.Cols, im.Rows, p.cell, image.Pt(im.X, im.Y), min(s.Width, p.cols-s.Col))
		}
	}
	under := render.Span{Text: " ", Col: cursorCol, Width: 1}
	for i := range l.Spans {
		if s := &l.Spans[i]; s.Col >= 0 && s.Col < p.cols {
			p.span(row, s, top, cursorCol, &under)
		}
	}
	if cursorCol >= 0 && shape != "" {
		p.cursor(row, &under, top, shape)
	}
}

// span draws the characters of a span. It stores the character in the cursor's column in under.
func (p *Painter) span(row *image.RGBA, s *render.Span, top, cursorCol int, under *render.Span) {
	paint := p.o.Theme.Paint(s)
	s.Characters(func(text string, col, width int) bool {
		if cursorCol >= col && cursorCol < col+width {
			*under = *s
			under.Text, under.Col, under.Width, under.Widths = text, col, width, nil
		}
		p.character(row, text, col, width, top, s, paint)
		return col < p.cols
	})
	p.decorate(row, s, top, paint)
}

// area returns the area of columns of a line.
func (p *Painter) area(col, width, top int) image.Rectangle {
	w := p.cell.X * p.doubled.X
	x := p.origin.X + min(max(col, 0), p.cols)*w
	return image.Rect(x, top, x+min(max(width, 0), p.cols)*w, top+p.cell.Y*p.doubled.Y)
}

// character draws a character.
func (p *Painter) character(row *image.RGBA, text string, col, width, top int, s *render.Span, paint render.Paint) {
	if text == " " || paint.Hidden {
		return
	}
	g := p.glyphs.glyph(glyphKey{text: text, bold: s.Bold, italic: s.Italic, width: width, doubled: p.doubled})
	if g == nil {
		return
	}
	at := p.area(col, width, top).Min
	if g.color != nil {
		draw.Draw(row, g.color.Bounds().Add(at), g.color, g.color.Bounds().Min, draw.Over)
		return
	}
	stamp(row, g.mask, at, paint.FG)
}

func (p *Painter) decorate(row *image.RGBA, s *render.Span, top int, paint render.Paint) {
	lines := [3]struct {
		kind  string
		color uint32
	}{{s.Underline, paint.UL}, {"", paint.FG}, {"", paint.FG}}
	if s.Strike {
		lines[1].kind = "strike"
	}
	if s.Overline {
		lines[2].kind = "overline"
	}
	for _, d := range lines {
		if d.kind == "" || s.Width < 1 {
			continue
		}
		at := p.area(s.Col, s.Width, top)
		cells := at.Dx() / (p.cell.X * p.doubled.X)
		shape := boxdraw.Decorate(d.kind, cells, float32(p.cell.X), float32(p.cell.Y), p.thin, float32(p.base))
		stamp(row, fillShape(&shape, at.Dx(), at.Dy(), p.doubled), at.Min, d.color)
	}
}

// cursor draws the cursor over its character.
func (p *Painter) cursor(row *image.RGBA, under *render.Span, top int, shape string) {
	at := p.area(under.Col, under.Width, top)
	line := max(1, int(math.Round(2*p.o.ScaleFactor())))
	switch shape {
	case "bar":
		at.Max.X = at.Min.X + line
	case "underline":
		at.Min.Y = at.Max.Y - line
	}
	fill(row, at, p.o.Theme.Cursor)
	if shape == "block" {
		paint := p.o.Theme.Paint(under)
		paint.FG, paint.UL = p.o.Theme.BG, p.o.Theme.BG
		p.character(row, under.Text, under.Col, under.Width, top, under, paint)
		p.decorate(row, under, top, paint)
	}
}

func rgba(c uint32) color.RGBA {
	return color.RGBA{byte(c >> 16), byte(c >> 8), byte(c), 0xff}
}

func fill(img *image.RGBA, r image.Rectangle, c uint32) {
	draw.Draw(img, r, image.NewUniform(rgba(c)), image.Point{}, draw.Src)
}

// stamp fills the mask with a colour.
func stamp(img *image.RGBA, mask *image.Alpha, at image.Point, c uint32) {
	r := mask.Bounds().Add(at)
	draw.DrawMask(img, r, image.NewUniform(rgba(c)), image.Point{}, mask, mask.Bounds().Min, draw.Over)
}

// SetTheme changes the colours of later pictures.
func (p *Painter) SetTheme(t render.Theme) { p.o.Theme = t }
