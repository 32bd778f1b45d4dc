package render

import (
	"encoding/hex"

	"github.com/longterm-dev/longterm/vterm"
)

// spanStyles converts styles to spans without text, and caches the result for each style.
type spanStyles struct {
	f       *vterm.Frame
	palette *vterm.Palette
	known   map[vterm.StyleID]Span
}

func (k *spanStyles) spanFor(c vterm.Cell) Span {
	id := c.Style()
	if id == 0 {
		return Span{}
	}
	if s, ok := k.known[id]; ok {
		return s
	}
	if k.known == nil {
		k.known = map[vterm.StyleID]Span{}
	}
	s := k.span(k.f.Style(c))
	k.known[id] = s
	return s
}

func (k *spanStyles) span(st vterm.Style) Span {
	has := func(a vterm.Attrs) bool { return st.Attrs&a != 0 }
	s := Span{
		Bold: has(vterm.Bold), Dim: has(vterm.Faint), Italic: has(vterm.Italic),
		Blink: has(vterm.Blink | vterm.RapidBlink), Inverse: has(vterm.Inverse), Conceal: has(vterm.Conceal),
		Strike: has(vterm.Strike), Overline: has(vterm.Overline),
		Underline: nameOf(underlines[:], int(st.Underline)),
		Link:      string(appendPrintable(nil, []byte(linkOf(k.f, st.Link).URI))),
	}
	s.FG, s.FGIndex = k.color(st.FG)
	s.BG, s.BGIndex = k.color(st.BG)
	s.ULColor, _ = k.color(st.ULColor)
	return s
}

// color returns a colour's hex form, and its index if it is from the palette (R31).
func (k *spanStyles) color(c vterm.Color) (text string, index *uint8) {
	switch c.Kind() {
	case vterm.ColorIndex:
		i := c.Index()
		return hexColor(k.palette.Hex(c, 0)), &i
	case vterm.ColorRGB:
		return hexColor(k.palette.Hex(c, 0)), nil
	}
	return "", nil
}

func hexColor(rgb uint32) string {
	b := append(make([]byte, 0, 7), '#')
	return string(hex.AppendEncode(b, []byte{byte(rgb >> 16), byte(rgb >> 8), byte(rgb)}))
}

// linkOf returns a style's hyperlink, or the zero Link.
func linkOf(f *vterm.Frame, id vterm.LinkID) vterm.Link {
	if id == 0 || int64(id) >= int64(len(f.Links)) {
		return vterm.Link{}
	}
	return f.Links[id]
}
