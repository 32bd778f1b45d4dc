package vterm

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// Flags of XTCHECKSUM.
const (
	sumPositive  = 1 << iota // do not negate the result
	sumNoAttrs               // do not report attributes: always so here
	sumNoBlanks              // do not leave out blanks
	sumSkipBlank             // skip cells never written
	sum8Bit                  // do not mask to 8 bits
)

// checksumRect is DECRQCRA: the negated sum of the characters, blanks as spaces.
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
