package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// rendition is the style and protection of text that is printed next.
type rendition struct {
	pen      Style
	cell     Cell // the pen as a cell without content; stale while penStale is set
	penStale bool
	// blank is what erased cells become (xterm's back_color_erase) while the pen's
	// background is blankBG.
	blank    Cell
	blankBG  Color // the pen's background when blank was computed
	protect  Cell  // CellProtected and CellISOGuard if in effect
	guard    guard
	sgrCache sgrCache // effects of recent SGR sequences
	penAt    StyleID  // position in sgrCache of the sequence that led to the pen, or styleUnknown
	sgrStack []savedSGR
}

// freshenPen updates the pen's cell. Changes of the pen only mark it as stale, so a style gets its id once per text
// instead of once per parameter.
func (t *Terminal) freshenPen() {
	if t.tables.Styles.Full() {
		t.compactStyles()
	}
	t.penStale = false
	if t.pen.IsZero() {
		t.cell = t.protect
		t.cacheStyle(0)
		return
	}
	id := t.tables.Styles.ID(&t.pen)
	t.cell = Cell(id)<<grid.CellStyleShift | t.protect
	t.cacheStyle(id)
}

// freshenKnown is freshenPen for a pen whose style has an id. It returns false if it has none.
func (t *Terminal) freshenKnown() bool {
	id, ok := t.tables.Styles.Find(&t.pen)
	if ok {
		t.penStale = false
		t.cell = Cell(id)<<grid.CellStyleShift | t.protect
		t.cacheStyle(id)
	}
	return ok
}

// blankCell returns the value of erased cells: blank, in the background colour of the pen.
func (t *Terminal) blankCell() Cell {
	if t.pen.BG != t.blankBG {
		t.freshenBlank()
	}
	return t.blank
}

func (t *Terminal) freshenBlank() {
	t.blankBG = t.pen.BG
	t.blank = Cell(t.tables.Styles.ID(&Style{BG: t.pen.BG})) << grid.CellStyleShift
}

// penChanged records that the pen or the protection has changed.
func (r *rendition) penChanged() { r.penStale, r.penAt = true, styleUnknown }

// sgrStackMax is the depth of XTPUSHSGR, as in xterm.
const sgrStackMax = 10

// savedSGR is an entry of the stack of XTPUSHSGR: the saved style, and which parts to restore.
type savedSGR struct {
	pen  Style
	mask []int // parameters of XTPUSHSGR; none means everything
}

func (r *rendition) pushSGR(s *parse.Seq) {
	if len(r.sgrStack) == sgrStackMax {
		return
	}
	e := savedSGR{pen: r.pen}
	for i := range s.N {
		e.mask = append(e.mask, s.Param(i, 0))
	}
	r.sgrStack = append(r.sgrStack, e)
}

func (r *rendition) popSGR(*parse.Seq) {
	n := len(r.sgrStack)
	if n == 0 {
		return
	}
	e := r.sgrStack[n-1]
	r.sgrStack = r.sgrStack[:n-1]
	r.penChanged()
	if len(e.mask) == 0 {
		link := r.pen.Link
		r.pen = e.pen
		r.pen.Link = link
		return
	}
	for _, m := range e.mask {
		restorePart(&r.pen, e.pen, m)
	}
}

// restorePart copies the part of a style that parameter m of XTPUSHSGR selects.
func restorePart(to *Style, from Style, m int) {
	masks := map[int]Attrs{1: Bold, 2: Faint, 3: Italic, 5: Blink | RapidBlink, 7: Inverse, 8: Conceal, 9: Strike}
	switch m {
	case 4, 21:
		to.Underline = from.Underline
	case 10, 30:
		to.FG = from.FG
	case 11, 31:
		to.BG = from.BG
	default:
		to.Attrs = to.Attrs&^masks[m] | from.Attrs&masks[m]
	}
}

// reportSGR implements XTREPORTSGR: it reports the attributes that all cells of a rectangle share.
func (t *Terminal) reportSGR(s *parse.Seq) {
	r, ok := t.rect(s, 0)
	if !ok {
		return
	}
	var common Style
	first := true
	for row := r.top; row < r.bottom; row++ {
		line := t.scr.At(row)
		for col := r.left; col < r.right; col++ {
			st := Style{}
			if col < line.Used {
				st = t.tables.Styles.List[line.Cells[col].Style()]
			}
			if first {
				common, first = st, false
			}
			common = intersect(common, st)
		}
	}
	t.replyCSI("%sm", sgrString(common))
}

// intersect returns the attributes that two styles share.
func intersect(a, b Style) Style {
	a.Attrs &= b.Attrs
	if a.FG != b.FG {
		a.FG = 0
	}
	if a.BG != b.BG {
		a.BG = 0
	}
	if a.ULColor != b.ULColor {
		a.ULColor = 0
	}
	if a.Underline != b.Underline {
		a.Underline = UnderlineNone
	}
	return a
}

// guard is how erasing handles protected cells (xterm's protected_mode). The last DECSCA or SPA decides, and cells keep
// their mark when it changes.
type guard uint8

const (
	guardNone guard = iota
	guardDEC        // DECSCA: only selective erases spare protected cells
	guardISO        // SPA: every erase does
)

// spares reports whether an erase must check for protected cells.
func (r *rendition) spares(selective bool) bool {
	return r.guard == guardISO || selective && r.guard == guardDEC
}

// selectProtection implements DECSCA.
func (r *rendition) selectProtection(s *parse.Seq) {
	r.guard = guardDEC
	if s.Param(0, 0) == 1 {
		r.protect = CellProtected
	} else {
		r.protect = 0
	}
	r.penChanged()
}

// startGuarded implements SPA.
func (r *rendition) startGuarded() {
	r.protect = CellProtected | CellISOGuard
	r.guard = guardISO
	r.penChanged()
}

// endGuarded implements EPA.
func (r *rendition) endGuarded() {
	r.protect = 0
	r.penChanged()
}
