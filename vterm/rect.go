package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// rect is a rectangle of cells, right and bottom exclusive.
type rect struct{ top, left, bottom, right int }

// rect parses Pt;Pl;Pb;Pr from parameter i on, relative to the origin in origin mode. Positions off the page are
// clamped to its edge, as in xterm. It returns false for an inverted rectangle (VT510, "DECCRA").
func (p *page) rect(s *parse.Seq, i int) (rect, bool) {
	top, left := s.Count(i)-1, s.Count(i+1)-1
	bottom, right := s.Param(i+2, 0), s.Param(i+3, 0)
	maxRow, maxCol := p.rows, p.cols
	row0, col0 := 0, 0
	if p.modes&modeOrigin != 0 {
		row0, col0, maxRow, maxCol = p.top, p.left, p.bottom+1, p.right+1
	}
	if bottom == 0 {
		bottom = maxRow - row0
	}
	if right == 0 {
		right = maxCol - col0
	}
	r := rect{
		top: min(top+row0, maxRow-1), left: min(left+col0, maxCol-1),
		bottom: min(bottom+row0, maxRow), right: min(right+col0, maxCol),
	}
	return r, r.top < r.bottom && r.left < r.right
}

// fillRect implements DECFRA.
func (t *Terminal) fillRect(s *parse.Seq) {
	c := s.Param(0, 0)
	r, ok := t.rect(s, 1)
	if !ok || c < 0x20 || c == 0x7f || c > 0xff || c > 0x7f && c < 0xa0 {
		return
	}
	if t.penStale {
		t.freshenPen()
	}
	ch := rune(c)
	if c < 0x80 {
		ch = t.charsets.translate(ch)
	}
	for row := r.top; row < r.bottom; row++ {
		t.scr.MutableRow(row).Fill(r.left, r.right, t.cell|Cell(ch), t.cols)
	}
}

// eraseRect implements DECERA.
func (t *Terminal) eraseRect(s *parse.Seq) {
	if r, ok := t.rect(s, 0); ok {
		for row := r.top; row < r.bottom; row++ {
			t.scr.MutableRow(row).Fill(r.left, r.right, t.blankCell(), t.cols)
		}
	}
}

// eraseRectSelectively implements DECSERA: it erases characters but keeps styles and protected cells.
func (t *Terminal) eraseRectSelectively(s *parse.Seq) {
	r, ok := t.rect(s, 0)
	if !ok {
		return
	}
	for row := r.top; row < r.bottom; row++ {
		t.scr.MutableRow(row).Blank(r.left, r.right, t.guard == guardDEC, t.cols)
	}
}

// copyRect implements DECCRA. The terminal has one page, so page numbers are ignored.
func (t *Terminal) copyRect(s *parse.Seq) {
	r, ok := t.rect(s, 0)
	if !ok {
		return
	}
	top, left := s.Count(5)-1, s.Count(6)-1
	maxRow, maxCol := t.rows, t.cols
	if t.modes&modeOrigin != 0 {
		top, left, maxRow, maxCol = top+t.top, left+t.left, t.bottom+1, t.right+1
	}
	top, left = min(top, maxRow-1), min(left, maxCol-1)
	height, width := min(r.bottom-r.top, maxRow-top), min(r.right-r.left, maxCol-left)
	from := grid.Region{Top: r.top, Bottom: r.top + height - 1, Left: r.left, Right: r.left + width - 1}
	t.scr.CopyBox(from, top, left)
}

// changeAttrs implements DECCARA (final r) and DECRARA (final t). Without DECSACE 2 the extent is the text from the
// first to the last position, not the rectangle.
func (t *Terminal) changeAttrs(s *parse.Seq) {
	r, ok := t.rect(s, 0)
	if !ok {
		return
	}
	for row := r.top; row < r.bottom; row++ {
		from, to := r.left, r.right
		if t.rectExtent != 2 {
			if row > r.top {
				from = 0
			}
			if row < r.bottom-1 {
				to = t.cols
			}
		}
		t.changeSpan(t.scr.MutableRow(row), from, to, s)
	}
}

func (t *Terminal) changeSpan(line *grid.Row, from, to int, s *parse.Seq) {
	cells := line.Ensure(t.cols)
	var last Cell
	var id StyleID
	for col := from; col < to; col++ {
		c := cells[col]
		if c.Blank() && c.Width() == WidthNarrow && t.rectExtent != 2 {
			continue // a stream holds characters only
		}
		if col == from || c.Style() != last.Style() || id == 0 {
			st := t.tables.Styles.List[c.Style()]
			if s.Final == 't' {
				reverseAttrs(&st, s, 4)
			} else {
				rectSGR(&st, s, 4)
			}
			last, id = c, t.tables.Styles.ID(&st)
		}
		if c.Blank() && c.Width() == WidthNarrow {
			c |= ' '
		}
		cells[col] = c.WithStyle(id)
	}
	line.Recount(to)
}

// rectSGR applies the rendition of DECCARA from parameter i on; none means 0, which ends
// all attributes but, as in xterm, leaves the colours.
func rectSGR(st *Style, s *parse.Seq, i int) {
	for first := i; i < max(s.N, first+1); {
		if s.Param(i, 0) == 0 && !s.Sub(i) {
			st.Attrs, st.Underline = 0, UnderlineNone
			i++
			continue
		}
		i += applyOne(st, s, i)
	}
}

// reverseAttrs toggles the attributes that DECRARA selects: 0 all, 1 bold, 4 underline, 5 blink, 7 inverse, 8 conceal.
func reverseAttrs(st *Style, s *parse.Seq, i int) {
	for first := i; i < max(s.N, first+1); i++ {
		p := s.Param(i, 0)
		if p == 0 || p == 1 {
			st.Attrs ^= Bold
		}
		if p == 0 || p == 4 {
			st.Underline = UnderlineSingle - min(st.Underline, UnderlineSingle)
		}
		if p == 0 || p == 5 {
			st.Attrs ^= Blink
		}
		if p == 0 || p == 7 {
			st.Attrs ^= Inverse
		}
		if p == 8 {
			st.Attrs ^= Conceal
		}
	}
}

// Flags of XTCHECKSUM.
const (
	sumPositive  = 1 << iota // do not negate the result
	sumNoAttrs               // do not report attributes: always so here
	sumNoBlanks              // include blanks
	sumSkipBlank             // skip cells never written
	sum8Bit                  // do not mask to 8 bits
)

// checksumRect implements DECRQCRA: the negated sum of the characters, blanks as spaces.
func (t *Terminal) checksumRect(s *parse.Seq) {
	if t.conform.level < 4 {
		return
	}
	var sum uint32
	if r, ok := t.rect(s, 2); ok {
		for row := r.top; row < r.bottom; row++ {
			sum += sumSpan(t.scr.At(row), r.left, r.right, &t.tables, t.conform.checksum)
		}
	}
	if t.conform.checksum&sumPositive == 0 {
		sum = -sum
	}
	t.replyDCS("%d!~%04X", s.Param(0, 0), sum&0xffff)
}

// sumSpan sums the characters of cells [from, to).
func sumSpan(line *grid.Row, from, to int, tb *grid.Tables, flags int) uint32 {
	var sum uint32
	for col := from; col < to; col++ {
		c := Cell(0)
		if col < line.Used {
			c = line.Cells[col]
		}
		switch {
		case c.Width() == WidthTail:
		case c.Blank() || c&CellImage != 0:
			if flags&sumSkipBlank == 0 {
				sum += ' '
			}
		case c&CellCluster != 0:
			r, _ := utf8.DecodeRuneInString(tb.Clusters.List[c.Content()])
			sum += uint32(r)
		default:
			sum += uint32(c.Rune())
		}
	}
	return sum
}
