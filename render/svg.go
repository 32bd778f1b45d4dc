package render

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/boxdraw"
)

// AppendSVG appends the screen and its history lines as an SVG picture. Text remains text, with every piece kept to its
// columns; box drawing and decorations are paths. The result is valid XML 1.0 for any output, and links are as in
// AppendHTML.
func AppendSVG(dst []byte, s *Screen, o PictureOptions) []byte {
	d := NewSVG(s.Cols, len(s.Grid()), s.Title, o)
	for y, row := range d.Rows(s, &o) {
		if len(row) > 0 {
			fmt.Fprintf(&d.body, "<g transform=\"translate(0 %d)\">%s</g>\n", y*CellHeight, row)
		}
	}
	return d.Append(dst)
}

// SVG builds a picture of one screen, or of several that follow each other.
type SVG struct {
	o          PictureOptions
	cols, rows int
	title      string
	styles     map[string]int
	css        strings.Builder
	body       strings.Builder
	images     imageTable
}

// NewSVG returns a picture of a size in cells.
func NewSVG(cols, rows int, title string, o PictureOptions) *SVG {
	return &SVG{o: o, cols: cols, rows: rows, title: PictureTitle(title), styles: map[string]int{}}
}

// Style adds a rule to the style sheet.
func (d *SVG) Style(rule string) { d.css.WriteString(rule + "\n") }

// Element adds well-formed text to the picture.
func (d *SVG) Element(text []byte) { d.body.Write(text) }

// Append appends the document.
func (d *SVG) Append(dst []byte) []byte {
	scale := d.o.ScaleFactor()
	side, top, bottom := d.o.Insets()
	w, h := d.cols*CellWidth+2*side, d.rows*CellHeight+top+bottom
	t := &d.o.Theme
	dst = fmt.Appendf(dst, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="%d %d %d %d" role="img" xml:space="preserve">`+"\n",
		num(float64(w)*scale), num(float64(h)*scale), -side, -top, w, h)
	dst = fmt.Appendf(dst, "<title>%s</title>\n<style>\n"+
		"text{font:%spx %s;white-space:pre;fill:%s;font-variant-ligatures:none}\na{cursor:pointer}\n.c{text-anchor:middle}\n"+
		"@keyframes blink{50%%{visibility:hidden}}\n.blink{animation:blink 1s step-end infinite}\n"+
		"@media(prefers-reduced-motion:reduce){.blink{animation:none}}\n", html.EscapeString(d.title), num(FontSize),
		strings.ReplaceAll(fontStack, `"`, "'"), hexColor(t.FG))
	dst = append(dst, d.css.String()...)
	if d.o.Window {
		dst = fmt.Appendf(dst, "text.title{font-size:%spx;fill:%s}\n", num(FontSize*TitleSize), hexColor(t.TitleColor()))
	}
	dst = d.appendBackground(append(dst, "</style>\n"...))
	if len(d.images.uris) > 0 {
		dst = append(dst, "<defs>\n"...)
		for i, uri := range d.images.uris {
			dst = fmt.Appendf(dst, "<image id=\"i%d\" width=\"1\" height=\"1\" preserveAspectRatio=\"none\" href=\"%s\"/>\n", i, uri)
		}
		dst = append(dst, "</defs>\n"...)
	}
	dst = append(dst, d.body.String()...)
	return append(dst, "</svg>\n"...)
}

// Rows returns the elements of a screen's lines, each drawn at the top of the picture; rows without content are empty.
// The theme may differ from the picture's.
func (d *SVG) Rows(s *Screen, o *PictureOptions) [][]byte {
	grid := s.Grid()
	shape, row, col := o.CursorOn(s)
	out := make([][]byte, len(grid))
	for i := range grid {
		cursorCol := -1
		if i == row {
			cursorCol = col
		}
		out[i] = d.row(&grid[i], s, o, cursorCol, shape)
	}
	return out
}

func (d *SVG) row(l *Line, s *Screen, o *PictureOptions, cursorCol int, shape string) []byte {
	r := svgRow{d: d, o: o, blinking: s.Cursor.Blink}
	o.chunks(l, s.Cols, cursorCol, shape, r.chunk)
	if len(r.back)+len(r.front) == 0 {
		return nil
	}
	out := append(r.back, r.front...)
	if l.Size == "" {
		return out
	}
	down, shift := 2, 0
	switch l.Size {
	case "double-width":
		down = 1
	case "double-bottom":
		shift = -CellHeight
	}
	head := fmt.Appendf(nil, `<svg x="0" y="0" width="%d" height="%d"><g transform="translate(0 %d) scale(2 %d)">`,
		d.cols*CellWidth, CellHeight, shift, down)
	return append(append(head, out...), "</g></svg>"...)
}

// svgRow builds a row. Backgrounds come first, so that they do not cover overhanging characters.
type svgRow struct {
	d           *SVG
	o           *PictureOptions
	blinking    bool // the cursor blinks
	back, front []byte
}

func (r *svgRow) chunk(c chunk) {
	x, w := c.col*CellWidth, c.width*CellWidth
	blink := ""
	if c.span.Blink || c.cursor != "" && r.blinking {
		blink = ` class="blink"`
	}
	if c.cursor == "block" { // what blinks away shows the cell as it is
		own := c
		own.cursor, own.paint = "", r.o.Theme.Paint(c.span)
		if blink != "" {
			r.chunk(own)
		}
		r.front = fmt.Appendf(r.front, `<g%s><rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`,
			blink, x, 0, w, CellHeight, hexColor(c.paint.BG))
		r.ink(&c, "")
		r.front = append(r.front, "</g>"...)
		return
	}
	if c.paint.Filled && c.paint.BG != r.o.Theme.BG {
		r.back = fmt.Appendf(r.back, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" shape-rendering="crispEdges"/>`,
			x, 0, w, CellHeight, hexColor(c.paint.BG))
	}
	r.image(&c)
	ink := blink
	if !c.span.Blink {
		ink = ""
	}
	r.ink(&c, ink)
	switch c.cursor {
	case "bar":
		r.front = fmt.Appendf(r.front, `<rect%s x="%d" y="%d" width="2" height="%d" fill="%s"/>`, blink, x, 0, CellHeight, hexColor(r.o.Theme.Cursor))
	case "underline":
		r.front = fmt.Appendf(r.front, `<rect%s x="%d" y="%d" width="%d" height="2" fill="%s"/>`, blink, x, CellHeight-2, w, hexColor(r.o.Theme.Cursor))
	}
}

// image draws the part of an image that a piece shows.
func (r *svgRow) image(c *chunk) {
	im := c.span.Image
	if im == nil {
		return
	}
	n, ok := r.d.images.number(im.Image)
	if !ok {
		return
	}
	w := c.width * CellWidth
	r.back = fmt.Appendf(r.back, `<svg x="%d" y="0" width="%d" height="%d" viewBox="%d %d %d %d"><use href="#i%d" transform="scale(%s %s)"/></svg>`,
		c.col*CellWidth, w, CellHeight, (im.X+c.col-c.span.Col)*CellWidth, im.Y*CellHeight, w, CellHeight, n, num(im.Cols*CellWidth), num(im.Rows*CellHeight))
}

// ink draws a piece's text or shape and its decorations, inside its link.
func (r *svgRow) ink(c *chunk, blink string) {
	if c.paint.Hidden {
		return
	}
	link, ok := safeLink(c.span.Link)
	if ok {
		r.front = fmt.Appendf(r.front, `<a href="%s" rel="noopener noreferrer">`, html.EscapeString(link))
	}
	if blink != "" {
		r.front = append(r.front, "<g"+blink+">"...)
	}
	if c.drawn != 0 {
		r.shapes(c)
	} else {
		r.text(c)
	}
	r.decorations(c)
	if blink != "" {
		r.front = append(r.front, "</g>"...)
	}
	if ok {
		r.front = append(r.front, "</a>"...)
	}
}

func (r *svgRow) shapes(c *chunk) {
	n := max(c.width, 1)
	w := float32(CellWidth * c.width)
	if !isTileable(c.drawn) {
		n, w = 1, CellWidth
	}
	shape, _ := boxdraw.Draw(c.drawn, w, CellHeight, lineWidth)
	if n > 0 {
		r.path(shape, float64(c.col*CellWidth), c.paint.FG)
	}
}

func (r *svgRow) path(s boxdraw.Shape, x float64, color uint32) {
	if len(s.Path) == 0 {
		return
	}
	r.front = append(r.front, `<path fill="`...)
	r.front = append(r.front, hexColor(color)...)
	if s.Alpha < 255 {
		r.front = append(r.front, `" fill-opacity="`...)
		r.front = append(r.front, num(float64(s.Alpha)/255)...)
	}
	r.front = append(r.front, `" d="`...)
	r.front = s.AppendSVG(r.front, float32(x), 0)
	r.front = append(r.front, `"/>`...)
}

func (r *svgRow) text(c *chunk) {
	text := cleanText(c.text)
	left := len(text) - len(strings.TrimLeft(text, " "))
	text = strings.Trim(text, " ")
	if text == "" {
		return
	}
	var class []string
	if rules := svgRules(c, r.d.o.Theme.FG); rules != "" {
		class = append(class, r.d.class(rules))
	}
	x := float64((c.col + left) * CellWidth)
	length := ""
	if c.alone {
		class = append(class, "c")
		x += float64(c.width*CellWidth) / 2
	} else {
		length = fmt.Sprintf(` textLength="%d" lengthAdjust="spacingAndGlyphs"`, len([]rune(text))*CellWidth)
	}
	r.front = fmt.Appendf(r.front, `<text x="%s" y="%d"%s`, num(x), baseline, length)
	if len(class) > 0 {
		r.front = fmt.Appendf(r.front, ` class="%s"`, strings.Join(class, " "))
	}
	r.front = fmt.Appendf(r.front, ">%s</text>", html.EscapeString(text))
}

func (r *svgRow) decorations(c *chunk) {
	draw := func(kind string, color uint32) {
		s := boxdraw.Decorate(kind, c.width, CellWidth, CellHeight, lineWidth, baseline)
		r.path(s, float64(c.col*CellWidth), color)
	}
	if c.span.Underline != "" {
		draw(c.span.Underline, c.paint.UL)
	}
	if c.span.Strike {
		draw("strike", c.paint.FG)
	}
	if c.span.Overline {
		draw("overline", c.paint.FG)
	}
}

// svgRules returns the CSS declarations of a text's style.
func svgRules(c *chunk, fg uint32) string {
	var rules []string
	if c.paint.FG != fg {
		rules = append(rules, "fill:"+hexColor(c.paint.FG))
	}
	if c.span.Bold {
		rules = append(rules, "font-weight:bold")
	}
	if c.span.Italic {
		rules = append(rules, "font-style:italic")
	}
	return strings.Join(rules, ";")
}

// class returns the class with the given rules.
func (d *SVG) class(rules string) string {
	n, ok := d.styles[rules]
	if !ok {
		n = len(d.styles)
		d.styles[rules] = n
		fmt.Fprintf(&d.css, "text.s%d{%s}\n", n, rules)
	}
	return "s" + strconv.Itoa(n)
}
