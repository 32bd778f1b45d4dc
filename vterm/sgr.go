package vterm

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// sgr implements SGR (ECMA-48 §8.3.117, xterm ctlseqs).
func (r *rendition) sgr(s *parse.Seq) {
	r.penChanged()
	applySGR(&r.pen, s)
}

// applySGR applies all parameters of a sequence to a style.
func applySGR(st *Style, s *parse.Seq) {
	if s.N == 0 || s.N == 1 && s.Params[0] <= 0 {
		*st = Style{Link: st.Link}
		return
	}
	for i := 0; i < s.N; {
		i += applyOne(st, s, i)
	}
}

// applyOne applies parameter i and returns the number of parameters used.
func applyOne(st *Style, s *parse.Seq, i int) int {
	switch p := max(s.Params[i], 0); p {
	case 38:
		return readColor(&st.FG, s, i)
	case 48:
		return readColor(&st.BG, s, i)
	case 58:
		return readColor(&st.ULColor, s, i)
	case 4:
		return readUnderline(st, s, i)
	default:
		applyPlain(st, p)
	}
	return 1 + subs(s, i)
}

// applyPlain applies a parameter without subparameters.
func applyPlain(st *Style, p int32) {
	switch {
	case p == 0:
		*st = Style{Link: st.Link}
	case p < 30:
		applyAttr(st, p)
	case p <= 37:
		st.FG = Index(uint8(p - 30))
	case p >= 40 && p <= 47:
		st.BG = Index(uint8(p - 40))
	case p >= 90 && p <= 97:
		st.FG = Index(uint8(p - 90 + 8))
	case p >= 100 && p <= 107:
		st.BG = Index(uint8(p - 100 + 8))
	default:
		applyAttr(st, p)
	}
}

func applyAttr(st *Style, p int32) {
	switch p {
	case 1:
		st.Attrs |= Bold
	case 2:
		st.Attrs |= Faint
	case 3:
		st.Attrs |= Italic
	case 5:
		st.Attrs |= Blink
	case 6:
		st.Attrs |= RapidBlink
	case 7:
		st.Attrs |= Inverse
	case 8:
		st.Attrs |= Conceal
	case 9:
		st.Attrs |= Strike
	case 53:
		st.Attrs |= Overline
	case 21:
		st.Underline = UnderlineDouble
	case 22:
		st.Attrs &^= Bold | Faint
	case 23:
		st.Attrs &^= Italic
	case 24:
		st.Underline = UnderlineNone
	case 25:
		st.Attrs &^= Blink | RapidBlink
	case 27:
		st.Attrs &^= Inverse
	case 28:
		st.Attrs &^= Conceal
	case 29:
		st.Attrs &^= Strike
	case 55:
		st.Attrs &^= Overline
	case 39:
		st.FG = 0
	case 49:
		st.BG = 0
	case 59:
		st.ULColor = 0
	}
}

// subs returns the number of sub-parameters that follow parameter i.
func subs(s *parse.Seq, i int) int {
	if s.Subs == 0 {
		return 0
	}
	n := 0
	for i+1+n < s.N && s.Sub(i+1+n) {
		n++
	}
	return n
}

func readUnderline(st *Style, s *parse.Seq, i int) int {
	n := subs(s, i)
	style := UnderlineSingle
	if n > 0 {
		if u := s.Param(i+1, 1); u <= int(UnderlineDashed) {
			style = Underline(u)
		}
	}
	st.Underline = style
	return 1 + n
}

// readColor parses 38, 48 or 58 in either form: "38;5;n", "38;2;r;g;b", or with colons. With colons, ISO 8613-6 has a
// colour space before r that many programs omit.
func readColor(c *Color, s *parse.Seq, i int) int {
	n := subs(s, i)
	if n == 0 {
		return readColorPlain(c, s, i)
	}
	switch s.Param(i+1, 0) {
	case 5:
		if v := s.Param(i+2, -1); n >= 2 && v >= 0 && v <= 255 {
			*c = Index(uint8(v))
		}
	case 2:
		first := i + 2
		if n >= 5 {
			first++
		}
		if n >= 4 {
			setRGB(c, s, first)
		}
	}
	return 1 + n
}

func readColorPlain(c *Color, s *parse.Seq, i int) int {
	if i+2 < s.N && s.Params[i+1] == 5 {
		if v := max(s.Params[i+2], 0); v <= 255 {
			*c = Index(uint8(v))
		}
		return 3
	}
	switch s.Param(i+1, 0) {
	case 5:
		return 3
	case 2:
		if i+4 < s.N {
			setRGB(c, s, i+2)
		}
		return 5
	}
	return 2
}

// setRGB sets a colour from three parameters. It ignores them if a value is above 255.
func setRGB(c *Color, s *parse.Seq, i int) {
	r, g, b := s.Param(i, 0), s.Param(i+1, 0), s.Param(i+2, 0)
	if r <= 255 && g <= 255 && b <= 255 {
		*c = RGB(uint8(r), uint8(g), uint8(b))
	}
}

// sgrString returns the SGR parameters of a style, starting with 0.
func sgrString(st Style) string {
	var b strings.Builder
	b.WriteByte('0')
	for i, p := range []string{"1", "2", "3", "5", "6", "7", "8", "9", "53"} {
		if st.Attrs>>i&1 != 0 {
			b.WriteString(";" + p)
		}
	}
	switch st.Underline {
	case UnderlineNone:
	case UnderlineSingle:
		b.WriteString(";4")
	case UnderlineDouble:
		b.WriteString(";21")
	default:
		fmt.Fprintf(&b, ";4:%d", st.Underline)
	}
	writeColor(&b, st.FG, 30, 90, 38)
	writeColor(&b, st.BG, 40, 100, 48)
	writeColor(&b, st.ULColor, -1, -1, 58)
	return b.String()
}

func writeColor(b *strings.Builder, c Color, first, bright, extended int) {
	switch i := int(c.Index()); {
	case c.Kind() == ColorDefault:
	case c.Kind() == ColorRGB:
		r, g, bl := c.RGB()
		fmt.Fprintf(b, ";%d:2::%d:%d:%d", extended, r, g, bl)
	case first >= 0 && i < 8:
		fmt.Fprintf(b, ";%d", first+i)
	case first >= 0 && i < 16:
		fmt.Fprintf(b, ";%d", bright+i-8)
	default:
		fmt.Fprintf(b, ";%d:5:%d", extended, i)
	}
}
