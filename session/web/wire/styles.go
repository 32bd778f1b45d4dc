package wire

import (
	"slices"
	"strconv"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/termimage"
)

// Styles numbers the text styles that a page has; 0 is the default style. It belongs to a connection.
type Styles struct {
	ids        map[style]int
	pending    []byte // definitions to be sent: "[1,{…}],[2,{…}]"
	reset      bool   // the page must clear its table
	generation uint64 // number of restarts of the table
	withLinks  bool   // of the current frame: thumbnails have no links

	images termimage.Keys
}

// maxStyles bounds the table: a program with ever new colours restarts it.
const maxStyles = 4096

// maxLink bounds a link, in bytes; a longer one is not sent.
const maxLink = 2048

// style is the appearance of a span.
type style struct {
	fg, bg, underline, ulColor, link string
	image                            string  // key of an image shown in place of the text; empty: none
	ix, iy                           int     // the image's cell at the start of the span
	icols, irows                     float64 // size of the image in cells
	fi, bi                           int16   // index in the palette; -1: none
	attrs                            uint8
}

// expiredImage marks an image that has expired; no image has this key.
const expiredImage = "-"

// Attributes, as bits.
const (
	bold = 1 << iota
	dim
	italic
	blink
	inverse
	conceal
	strike
	overline
)

// styleOf returns the style of a span.
func styleOf(s *render.Span, links bool) style {
	k := style{fg: s.FG, bg: s.BG, underline: s.Underline, ulColor: s.ULColor, fi: -1, bi: -1}
	if s.FGIndex != nil {
		k.fi = int16(*s.FGIndex)
	}
	if s.BGIndex != nil {
		k.bi = int16(*s.BGIndex)
	}
	if links && len(s.Link) <= maxLink {
		k.link = s.Link
	}
	for bit, on := range [...]bool{s.Bold, s.Dim, s.Italic, s.Blink, s.Inverse, s.Conceal, s.Strike, s.Overline} {
		if on {
			k.attrs |= 1 << bit
		}
	}
	return k
}

var defaultStyle = style{fi: -1, bi: -1}

// id returns the number of a span's style. A new style is defined in the next frame.
func (t *Styles) id(s *render.Span) int {
	k := styleOf(s, t.withLinks)
	if p := s.Image; p != nil {
		k.image, k.ix, k.iy, k.icols, k.irows = t.images.Key(p.Image), p.X, p.Y, p.Cols, p.Rows
	} else if s.Lost {
		k.image = expiredImage
	}
	if k == defaultStyle {
		return 0
	}
	if n, known := t.ids[k]; known {
		return n
	}
	if t.ids == nil {
		t.ids = map[style]int{}
	}
	n := len(t.ids) + 1
	t.ids[k] = n
	if len(t.pending) > 0 {
		t.pending = append(t.pending, ',')
	}
	t.pending = append(strconv.AppendInt(append(t.pending, '['), int64(n), 10), ',')
	t.pending = append(k.appendJSON(t.pending), ']')
	return n
}

// reserve makes room before a frame of at most spans spans, so that numbers stay valid for the whole frame.
func (t *Styles) reserve(spans int, links bool) {
	t.withLinks = links
	if len(t.ids)+spans > maxStyles && len(t.ids) > 0 {
		clear(t.ids)
		t.pending, t.reset = t.pending[:0], true
		t.generation++
	}
}

// flush appends the new part of the table as members of an object, each with a comma before it.
func (t *Styles) flush(dst []byte) []byte {
	if t.reset {
		dst = append(dst, `,"reset":true`...)
	}
	if len(t.pending) > 0 {
		dst = append(append(append(dst, `,"styles":[`...), t.pending...), ']')
	}
	t.reset, t.pending = false, t.pending[:0]
	if cap(t.pending) > 1<<20 {
		t.pending = nil
	}
	return dst
}

// appendJSON appends the style's definition.
func (k *style) appendJSON(dst []byte) []byte {
	o := jsonObject(append(dst, '{'))
	o.text("f", k.fg)
	o.text("b", k.bg)
	o.index("fi", k.fi)
	o.index("bi", k.bi)
	if k.attrs != 0 {
		o.key("a")
		o = strconv.AppendUint(o, uint64(k.attrs), 10)
	}
	o.text("u", k.underline)
	o.text("uc", k.ulColor)
	o.text("l", k.link)
	if k.image != "" {
		o.key("i")
		o = render.AppendString(append(o, '['), k.image)
		for _, n := range [...]float64{float64(k.ix), float64(k.iy), k.icols, k.irows} {
			o = strconv.AppendFloat(append(o, ','), n, 'f', -1, 32)
		}
		o = append(o, ']')
	}
	return append(o, '}')
}

// jsonObject is a JSON object under construction.
type jsonObject []byte

// key appends a member's name.
func (o *jsonObject) key(name string) {
	if b := *o; b[len(b)-1] != '{' {
		*o = append(*o, ',')
	}
	*o = append(append(append(*o, '"'), name...), '"', ':')
}

// text appends a string member, unless it is empty.
func (o *jsonObject) text(name, v string) {
	if v == "" {
		return
	}
	o.key(name)
	*o = render.AppendString(*o, v)
}

// index appends a number that is not negative.
func (o *jsonObject) index(name string, v int16) {
	if v >= 0 {
		o.key(name)
		*o = strconv.AppendInt(*o, int64(v), 10)
	}
}

// appendRow appends a row without its number: flags and spans.
func (t *Styles) appendRow(dst []byte, l *render.Line) []byte {
	flags := slices.Index(sizes, l.Size) // a size that is not known is a normal one
	if flags = max(0, flags) * 2; flags == 6 {
		flags = 8
	}
	if l.Wrapped {
		flags |= 1
	}
	dst = strconv.AppendInt(dst, int64(flags), 10)
	for i := range l.Spans {
		s := &l.Spans[i]
		dst = strconv.AppendInt(append(dst, ',', '['), int64(t.id(s)), 10)
		dst = render.AppendString(append(dst, ','), s.Text)
		for j, w := range s.Widths {
			sep := byte(',')
			if j == 0 {
				dst = append(dst, ',')
				sep = '['
			}
			dst = strconv.AppendInt(append(dst, sep), int64(w), 10)
		}
		if len(s.Widths) > 0 {
			dst = append(dst, ']')
		}
		dst = append(dst, ']')
	}
	return dst
}

// sizes of lines, by their flag: 2, 4 and 8.
var sizes = []string{"", "double-width", "double-top", "double-bottom"}
