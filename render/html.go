package render

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/boxdraw"
)

// fontStack lists the monospaced fonts of common systems.
const fontStack = `ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace`

// AppendHTML appends the screen and its history lines as a self-contained page: no script, no font, no request. Text
// can be selected and searched; every character keeps its columns in any font; box drawing joins. Text, title and links
// are untrusted and escaped; only http, https, mailto, ftp and file URLs become links.
func AppendHTML(dst []byte, s *Screen, o PictureOptions) []byte {
	p := page{o: &o, s: s, styles: map[string]int{}, drawn: map[rune]bool{}}
	p.rows()
	title := PictureTitle(s.Title)
	t := &o.Theme
	w, h := CellWidth*o.ScaleFactor(), math.Round(CellHeight*o.ScaleFactor())
	dst = fmt.Appendf(dst, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<style>\n", html.EscapeString(title))
	dst = fmt.Appendf(dst, pageStyle, hexColor(t.BG), hexColor(t.FG), hexColor(t.FG), strconv.Itoa(o.Padding),
		strconv.FormatFloat(FontSize/CellWidth*w, 'f', 3, 64), num(h), fontStack, hexColor(t.Selection), num(h))
	dst = append(dst, p.css.String()...)
	for i, uri := range p.images.uris {
		dst = fmt.Appendf(dst, ".screen .i%d{background-image:url(%s);background-repeat:no-repeat}\n", i, uri)
	}
	dst = fmt.Appendf(dst, "</style>\n</head>\n<body>\n<main>\n<pre class=\"screen\" lang=\"\" dir=\"ltr\" tabindex=\"0\" "+
		"role=\"region\" aria-label=\"Terminal screen, %d columns, %d rows\">", s.Cols, len(p.grid))
	dst = append(dst, '\n') // the first newline of a pre is no text
	dst = append(dst, p.body.String()...)
	return append(dst, "</pre>\n</main>\n</body>\n</html>\n"...)
}

// pageStyle holds the rules of every page. Pieces of lines are inline blocks as high as the line, so that backgrounds
// meet. A drawn character is a mask over its transparent text.
const pageStyle = `body{margin:0;background:%s;color:%s}
.screen{--f:%s;display:inline-block;margin:0;padding:%spx;font-size:%spx;line-height:%spx;font-family:%s;` +
	`white-space:pre;unicode-bidi:isolate-override;font-variant-ligatures:none;font-kerning:none}
.screen ::selection{background:%s}
.screen span{display:inline-block;height:%spx;vertical-align:top}
.screen a{color:inherit;text-decoration:none}
.screen a:hover,.screen a:focus{text-decoration:underline}
.screen a:hover span,.screen a:focus span{box-shadow:inset 0 -1px}
.screen .c{text-align:center}
.screen .g{position:relative;color:transparent}
.screen .g::after{content:"";position:absolute;inset:0;background:var(--f)}
@keyframes blink{50%%{color:transparent}}
@keyframes cursor{50%%{background-color:var(--b);color:var(--t);box-shadow:none}}
@keyframes blink-drawn{50%%{--f:transparent}}
@keyframes cursor-drawn{50%%{background-color:var(--b);--f:var(--t);box-shadow:none}}
@media(prefers-reduced-motion:reduce){.screen span{animation:none!important}}
`

// page builds a page.
type page struct {
	o      *PictureOptions
	s      *Screen
	grid   []Line
	body   strings.Builder
	css    strings.Builder
	styles map[string]int // numbers of the classes, by their rules
	drawn  map[rune]bool  // characters with a mask
	images imageTable
	col    int    // current column
	link   string // the open link
}

func (p *page) rows() {
	p.grid = p.s.Grid()
	shape, row, col := p.o.CursorOn(p.s)
	for i := range p.grid {
		l := &p.grid[i]
		p.col = 0
		closing := p.openSize(l.Size)
		cursorCol := -1
		if i == row {
			cursorCol = col
		}
		p.o.chunks(l, p.s.Cols, cursorCol, shape, p.chunk)
		p.openLink("")
		p.body.WriteString(closing)
		p.body.WriteByte('\n')
	}
}

// openSize opens the element of a double-size line, and returns the text that closes it.
func (p *page) openSize(size string) (closing string) {
	if size == "" {
		return ""
	}
	scale, origin := "2,1", "0 0"
	if size != "double-width" {
		scale = "2,2"
		if size == "double-bottom" {
			origin = "0 100%"
		}
	}
	outer := p.class(fmt.Sprintf("width:%dch;overflow:hidden", p.s.Cols))
	inner := p.class(fmt.Sprintf("transform:scale(%s);transform-origin:%s", scale, origin))
	fmt.Fprintf(&p.body, `<span class="%s"><span class="%s">`, outer, inner)
	return "</span></span>"
}

func (p *page) chunk(c chunk) {
	if c.col > p.col {
		p.openLink("")
		p.body.WriteString(strings.Repeat(" ", c.col-p.col))
	}
	p.col = c.col + c.width
	p.openLink(c.span.Link)
	text := html.EscapeString(cleanText(c.text))
	classes := p.classes(&c)
	if len(classes) == 0 {
		p.body.WriteString(text)
		return
	}
	classes = append(classes, p.class("width:"+strconv.Itoa(c.width)+"ch"))
	fmt.Fprintf(&p.body, `<span class="%s">%s</span>`, strings.Join(classes, " "), text)
}

// classes returns the classes of a piece, or none for text in the default style.
func (p *page) classes(c *chunk) []string {
	var classes []string
	if rules := p.rules(c); rules != "" {
		classes = append(classes, p.class(rules))
	}
	if im := c.span.Image; im != nil && c.cursor != "block" {
		if n, ok := p.images.number(im.Image); ok {
			h := math.Round(CellHeight * p.o.ScaleFactor())
			classes = append(classes, "i"+strconv.Itoa(n), p.class(fmt.Sprintf("background-size:%sch %spx;background-position:%dch %spx",
				num(im.Cols), num(im.Rows*h), -(im.X+c.col-c.span.Col), num(0-float64(im.Y)*h))))
		}
	}
	if c.alone {
		classes = append(classes, "c")
	}
	if c.drawn != 0 && !c.paint.Hidden {
		classes = append(classes, "g", p.mask(c.drawn))
	}
	return classes
}

// rules returns the CSS declarations of a piece.
func (p *page) rules(c *chunk) string {
	var b strings.Builder
	fg := hexColor(c.paint.FG)
	switch {
	case c.paint.Hidden:
		b.WriteString("color:transparent;")
	case c.drawn != 0: // the text below the shape stays transparent
		if c.paint.FG != p.o.Theme.FG {
			fmt.Fprintf(&b, "--f:%s;", fg)
		}
	case c.paint.FG != p.o.Theme.FG:
		fmt.Fprintf(&b, "color:%s;--f:%s;", fg, fg)
	}
	if c.paint.Filled {
		fmt.Fprintf(&b, "background-color:%s;", hexColor(c.paint.BG))
	}
	if c.span.Bold {
		b.WriteString("font-weight:bold;")
	}
	if c.span.Italic {
		b.WriteString("font-style:italic;")
	}
	if u, ok := cssUnderlines[c.span.Underline]; ok {
		fmt.Fprintf(&b, "text-decoration:underline %s %s;text-decoration-skip-ink:none;", u, hexColor(c.paint.UL))
	}
	if c.span.Strike {
		fmt.Fprintf(&b, "background-image:linear-gradient(%s,%s);background-size:100%% 1px;background-position:0 52%%;background-repeat:no-repeat;", fg, fg)
	}
	if c.span.Blink && c.cursor == "" {
		fmt.Fprintf(&b, "animation:blink%s 1s step-end infinite;", drawnSuffix(c))
	}
	p.shadows(&b, c, fg)
	if c.cursor != "" && p.s.Cursor.Blink {
		own := p.o.Theme.Paint(c.span)
		fmt.Fprintf(&b, "--t:%s;--b:%s;animation:cursor%s 1s step-end infinite;", hexColor(own.FG), hexColor(own.BG), drawnSuffix(c))
	}
	return strings.TrimSuffix(b.String(), ";")
}

// drawnSuffix selects the animation of a character drawn as a shape, whose text must stay invisible.
func drawnSuffix(c *chunk) string {
	if c.drawn != 0 {
		return "-drawn"
	}
	return ""
}

// shadows appends the lines at a piece's edges: overline and the thin cursor shapes.
func (p *page) shadows(b *strings.Builder, c *chunk, fg string) {
	var shadows []string
	cursor := hexColor(p.o.Theme.Cursor)
	switch c.cursor {
	case "bar":
		shadows = append(shadows, "inset 2px 0 "+cursor)
	case "underline":
		shadows = append(shadows, "inset 0 -2px "+cursor)
	}
	if c.span.Overline {
		shadows = append(shadows, "inset 0 1px "+fg)
	}
	if len(shadows) > 0 {
		b.WriteString("box-shadow:" + strings.Join(shadows, ",") + ";")
	}
}

var cssUnderlines = map[string]string{
	"single": "solid", "double": "double", "curly": "wavy", "dotted": "dotted", "dashed": "dashed",
}

// class returns the class for these rules.
func (p *page) class(rules string) string {
	n, ok := p.styles[rules]
	if !ok {
		n = len(p.styles)
		p.styles[rules] = n
		fmt.Fprintf(&p.css, ".screen .s%d{%s}\n", n, rules)
	}
	return "s" + strconv.Itoa(n)
}

// mask returns the class that draws a character's shape.
func (p *page) mask(r rune) string {
	name := "u" + strconv.FormatInt(int64(r), 16)
	if p.drawn[r] {
		return name
	}
	p.drawn[r] = true
	shape, _ := boxdraw.Draw(r, CellWidth, CellHeight, lineWidth)
	path := shape.AppendSVG(nil, 0, 0)
	fmt.Fprintf(&p.css, ".screen .%s::after{mask:url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' "+
		"viewBox='0 0 %d %d' preserveAspectRatio='none'><path d='%s' fill-opacity='%s'/></svg>\") 0 0/100%% 100%%}\n",
		name, CellWidth, CellHeight, path, num(float64(shape.Alpha)/255))
	return name
}

// openLink opens the element of a link after closing that of the previous one; "" only closes.
func (p *page) openLink(link string) {
	target, ok := safeLink(link)
	if !ok {
		target = ""
	}
	if target == p.link {
		return
	}
	if p.link != "" {
		p.body.WriteString("</a>")
	}
	if p.link = target; target != "" {
		fmt.Fprintf(&p.body, `<a href="%s" rel="noopener noreferrer">`, html.EscapeString(target))
	}
}

// num formats a number in its shortest form, to hundredths.
func num(x float64) string {
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}
