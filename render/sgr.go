package render

import (
	"strconv"

	"github.com/longterm-dev/longterm/vterm"
)

// AppendSGR appends the shortest SGR sequence that changes a terminal's style, or nothing if the styles look the same.
// Links are not part of SGR.
func AppendSGR(dst []byte, from, to vterm.Style) []byte {
	from.Link, to.Link = 0, 0
	if from == to {
		return dst
	}
	start := len(dst)
	dst = append(dst, "\x1b["...)
	step := appendStep(dst, from, to)
	n := len(step) - len(dst)
	fresh := appendStep(append(step, '0', ';'), vterm.Style{}, to)[len(step):]
	if len(fresh) == 2 { // to the default style
		return append(dst[:start], "\x1b[m"...)
	}
	if len(fresh) < n {
		return endSGR(append(dst, fresh...))
	}
	return endSGR(step)
}

// endSGR replaces the last separator by the final byte.
func endSGR(seq []byte) []byte {
	seq[len(seq)-1] = 'm'
	return seq
}

// attributes lists the SGR parameters that set and reset each attribute.
var attributes = [...]struct {
	attr    vterm.Attrs
	on, off string
}{
	{vterm.Bold, "1;", "22;"}, {vterm.Faint, "2;", "22;"}, {vterm.Italic, "3;", "23;"},
	{vterm.Blink, "5;", "25;"}, {vterm.RapidBlink, "6;", "25;"}, {vterm.Inverse, "7;", "27;"},
	{vterm.Conceal, "8;", "28;"}, {vterm.Strike, "9;", "29;"}, {vterm.Overline, "53;", "55;"},
}

// Attributes that share one reset parameter.
const sharedIntensity, sharedBlink = vterm.Bold | vterm.Faint, vterm.Blink | vterm.RapidBlink

// appendStep appends the parameters, each followed by a semicolon, that differ.
func appendStep(dst []byte, from, to vterm.Style) []byte {
	have := from.Attrs
	for i := range attributes {
		a := &attributes[i]
		if have&^to.Attrs&a.attr == 0 {
			continue
		}
		dst = append(dst, a.off...)
		have &^= a.attr
		for _, group := range []vterm.Attrs{sharedIntensity, sharedBlink} {
			if a.attr&group != 0 {
				have &^= group
			}
		}
	}
	for i := range attributes {
		if a := &attributes[i]; to.Attrs&^have&a.attr != 0 {
			dst = append(dst, a.on...)
		}
	}
	if from.Underline != to.Underline {
		dst = appendUnderline(dst, to.Underline)
	}
	if from.FG != to.FG {
		dst = appendColor(dst, to.FG, 30)
	}
	if from.BG != to.BG {
		dst = appendColor(dst, to.BG, 40)
	}
	if from.ULColor != to.ULColor {
		dst = appendUnderlineColor(dst, to.ULColor)
	}
	return dst
}

func appendUnderline(dst []byte, u vterm.Underline) []byte {
	switch {
	case u == vterm.UnderlineNone:
		return append(dst, "24;"...)
	case u == vterm.UnderlineSingle:
		return append(dst, "4;"...)
	}
	dst = append(dst, "4:"...)
	return append(strconv.AppendInt(dst, int64(u), 10), ';')
}

// appendColor appends a colour's parameters; base is 30 for text, 40 for the background. It uses semicolons instead of
// the standard's colons: every terminal supports them.
func appendColor(dst []byte, c vterm.Color, base int) []byte {
	num := func(n int) { dst = append(strconv.AppendInt(dst, int64(n), 10), ';') }
	switch c.Kind() {
	case vterm.ColorIndex:
		switch i := int(c.Index()); {
		case i < 8:
			num(base + i)
		case i < 16:
			num(base + 60 + i - 8)
		default:
			num(base + 8)
			num(5)
			num(i)
		}
	case vterm.ColorRGB:
		r, g, b := c.RGB()
		for _, n := range [...]int{base + 8, 2, int(r), int(g), int(b)} {
			num(n)
		}
	default:
		num(base + 9)
	}
	return dst
}

// appendUnderlineColor uses colons (kitty, VTE, xterm): a terminal without support for 58 would read numbers after
// semicolons as attributes.
func appendUnderlineColor(dst []byte, c vterm.Color) []byte {
	switch c.Kind() {
	case vterm.ColorIndex:
		dst = strconv.AppendInt(append(dst, "58:5:"...), int64(c.Index()), 10)
	case vterm.ColorRGB:
		dst = append(dst, "58:2:"...) // and an empty colour space
		r, g, b := c.RGB()
		for _, n := range [...]uint8{r, g, b} {
			dst = strconv.AppendInt(append(dst, ':'), int64(n), 10)
		}
	default:
		dst = append(dst, "59"...)
	}
	return append(dst, ';')
}
