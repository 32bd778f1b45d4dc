package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// rendition is how text looks that is printed next, and how its cells are protected.
type rendition struct {
	pen      Style
	cell     Cell // the pen as a cell without content; stale when penStale
	penStale bool
	// blank is what erased cells become (xterm's back_color_erase) while the pen's
	// background is blankBG.
	blank    Cell
	blankBG  Color
	protect  Cell // CellProtected and CellISOGuard in force
	guard    guard
	sgrSeen  sgrCache
	penAt    StyleID // the pen's number in sgrSeen, or styleUnknown
	sgrStack []savedSGR
}

// freshenPen brings the pen's cell up to date. Whatever changes the pen only marks it, so
// that a style is interned once per text and not once per parameter.
func (t *Terminal) freshenPen() {
	if t.tables.Styles.Full() {
		t.compactStyles()
	}
	t.penStale = false
	if t.pen.IsZero() {
		t.cell = t.protect
		return
	}
	id := t.tables.Styles.ID(&t.pen)
	t.cell = Cell(id)<<grid.CellStyleShift | t.protect
	if t.penAt != styleUnknown {
		t.sgrSeen.known[t.penAt].id = id
	}
}

// erased is what erased cells become: blank, in the background colour of the pen.
func (t *Terminal) erased() Cell {
	if t.pen.BG != t.blankBG {
		t.blankBG = t.pen.BG
		t.blank = Cell(t.tables.Styles.ID(&Style{BG: t.pen.BG})) << grid.CellStyleShift
	}
	return t.blank
}

// sgr is SGR (ECMA-48 §8.3.117, xterm ctlseqs).
func (r *rendition) sgr(s *parse.Seq) {
	r.penChanged()
	applySGR(&r.pen, s)
}

// applySGR changes a style as all parameters of a sequence say.
func applySGR(st *Style, s *parse.Seq) {
	if s.N == 0 || s.N == 1 && s.Params[0] <= 0 {
		*st = Style{Link: st.Link}
		return
	}
	for i := 0; i < s.N; {
		i += applyOne(st, s, i)
	}
}

// applyOne applies parameter i and returns how many it took.
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

// applyPlain applies a parameter that stands for itself.
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

// subs counts the sub-parameters that follow parameter i.
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

// readColor reads 38, 48 or 58 in either form: "38;5;n", "38;2;r;g;b", or with colons,
// where ISO 8613-6 has a colour space before r that many leave out.
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

// setRGB takes three parameters; a value above 255 makes the colour void.
func setRGB(c *Color, s *parse.Seq, i int) {
	r, g, b := s.Param(i, 0), s.Param(i+1, 0), s.Param(i+2, 0)
	if r <= 255 && g <= 255 && b <= 255 {
		*c = RGB(uint8(r), uint8(g), uint8(b))
	}
}
