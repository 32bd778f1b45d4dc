package vt10x

import (
	"unicode/utf8"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// maxCluster limits the bytes of a character with its combining marks.
const maxCluster = 64

// printText processes text and controls until a sequence starts or p ends.
func (e *Engine) printText(p []byte) int {
	for i := 0; i < len(p); {
		n := 0
		switch b := p[i]; {
		case e.parts > 0 && b >= 0x80:
			n = e.resume(p[i:])
		case e.parts > 0:
			e.parts = 0
			e.print(utf8.RuneError)
		case b == 0x1b:
			e.read++
			e.begin(escape, 0)
			return i + 1
		case b < 0x20 || b == 0x7f:
			n = 1
			e.read++
			e.control(b)
		case b < 0x80:
			n = e.ascii(p[i:])
		default:
			n = e.character(p[i:])
		}
		if i += n; e.state != ground {
			return i
		}
	}
	return len(p)
}

// ascii prints the printable ASCII at the start of p.
func (e *Engine) ascii(p []byte) int {
	n := 1
	for n < len(p) && p[n] >= 0x20 && p[n] < 0x7f {
		n++
	}
	e.read += uint64(n)
	if e.cs.plain() {
		e.penText(kindNarrow)
		e.lastRune = rune(p[n-1])
		e.putText(p[:n])
		return n
	}
	for _, b := range p[:n] {
		e.print(e.cs.translate(b))
	}
	return n
}

// character prints one character, or keeps an incomplete one for the next Write. A maximal part of an ill-formed one
// becomes one U+FFFD (Unicode §3.9).
func (e *Engine) character(p []byte) int {
	if !utf8.FullRune(p) {
		e.parts = copy(e.part[:], p)
		e.read += uint64(len(p))
		return len(p)
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 {
		n = badLen(p)
	}
	e.read += uint64(n)
	if r >= 0x80 && r < 0xa0 { // C1 control (ECMA-48 §5.3)
		e.introduce(byte(r - 0x40))
		return n
	}
	e.print(r)
	return n
}

// resume continues an incomplete character and returns the number of consumed bytes of p.
func (e *Engine) resume(p []byte) int {
	had := e.parts
	var joined [utf8.UTFMax]byte
	n := copy(joined[:], e.part[:had])
	n += copy(joined[n:], p)
	e.parts = 0
	e.read -= uint64(had)
	return e.character(joined[:n]) - had
}

// badLen returns the number of bytes of an ill-formed character that become one U+FFFD: the longest valid start, or one
// byte.
func badLen(p []byte) int {
	n := 1
	for n < len(p) && n < utf8.UTFMax && p[n] >= 0x80 && p[n] < 0xc0 && !utf8.FullRune(p[:n]) {
		n++
	}
	if n > 1 && utf8.FullRune(p[:n]) {
		n-- // p[n-1] is what made it ill-formed
	}
	return n
}

// print prints a character of any width.
func (e *Engine) print(r rune) {
	if r > utf8.MaxRune || r < 0x20 {
		r = utf8.RuneError
	}
	switch w := e.width(r); w {
	case 0:
		e.combine(r)
	case 1:
		e.putRune(r, kindNarrow)
		e.lastRune = r
	default:
		e.printWide(r)
		e.lastRune = r
	}
}

// putText prints narrow text. It stores the text before the last column directly, like the library's setChar and
// moveTo, which format a log line for each character. The library prints the rest, which may wrap and scroll.
func (e *Engine) putText(p []byte) {
	e.flush()
	cur := e.grid.cur
	if n := min(len(p), e.cols-1-cur.X); n > 0 {
		row := (*e.grid.lines)[cur.Y][cur.X:]
		for i, b := range p[:n] {
			row[i] = cur.Attr
			row[i].Char = rune(b)
		}
		cur.X += n
		p = p[n:]
	}
	if len(p) > 0 {
		e.feed(p)
	}
}

// putRune prints a character of one column; as in putText, only the last column needs the library.
func (e *Engine) putRune(r rune, kind vt.Color) {
	e.penText(kind)
	e.flush()
	if cur := e.grid.cur; cur.X < e.cols-1 {
		g := &(*e.grid.lines)[cur.Y][cur.X]
		*g = cur.Attr
		g.Char = r
		cur.X++
		return
	}
	e.out = utf8.AppendRune(e.out, r)
}

// width returns the number of columns of a character.
func (e *Engine) width(r rune) int {
	p := width.Of(r)
	if e.opts.AmbiguousWide && p.Ambiguous() {
		return 2
	}
	return p.Columns()
}

// printWide prints a wide character as two glyphs. In the last column a filler makes the library wrap; without autowrap
// the character is printed one column earlier.
func (e *Engine) printWide(r rune) {
	if e.cols < 2 {
		e.putRune(utf8.RuneError, kindNarrow)
		return
	}
	e.flush()
	wraps := *e.grid.mode&vt.ModeWrap != 0
	switch last := e.grid.cur.X == e.cols-1; {
	case last && wraps && !e.grid.pendingWrap():
		e.putRune(' ', kindHead)
	case last && !wraps:
		e.put("\b")
	}
	e.putRune(r, kindWide)
	e.putRune(' ', kindTail)
}

// combine adds a zero-width character to the one before the cursor.
func (e *Engine) combine(r rune) {
	e.flush()
	x, row := e.grid.cur.X, (*e.grid.lines)[e.grid.cur.Y]
	if !e.grid.pendingWrap() {
		x--
	}
	if x > 0 && row[x].BG == kindTail {
		x--
	}
	if x < 0 || row[x].BG == kindErased || row[x].BG == kindTail || row[x].BG == kindHead {
		return // nothing to combine with
	}
	g := &row[x]
	text := utf8.AppendRune([]byte(e.glyphText(g)), r)
	if len(text) > maxCluster {
		return
	}
	g.Char = rune(e.cluster(string(text)))
	switch g.BG {
	case kindNarrow:
		g.BG = kindCluster
	case kindWide:
		g.BG = kindWideCluster
	}
}

func (e *Engine) glyphText(g *vt.Glyph) string {
	if g.BG != kindCluster && g.BG != kindWideCluster {
		return string(g.Char)
	}
	if i := int(g.Char); i < len(e.clusters) {
		return e.clusters[i]
	}
	return string(utf8.RuneError)
}

// penText makes the library write cells of a kind in the program's style.
func (e *Engine) penText(kind vt.Color) { e.setPen(e.style(e.pen), kind) }

// penErase makes the library erase with the current background (xterm's BCE).
func (e *Engine) penErase() { e.setPen(e.style(vterm.Style{BG: e.pen.BG}), kindErased) }

func (e *Engine) setPen(id vterm.StyleID, kind vt.Color) {
	fg := vt.Color(id)
	if id == 0 {
		fg = vt.DefaultFG
	}
	if a := &e.grid.cur.Attr; a.FG != fg || a.BG != kind {
		e.flush()
		a = &e.grid.cur.Attr // the library may have been rebuilt
		a.FG, a.BG = fg, kind
	}
}
