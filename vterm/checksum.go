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

func (t *Terminal) checksumFlags(s *parse.Seq) { t.conform.checksum = s.Param(0, 0) }

// checksumRect is DECRQCRA: the negated sum of the characters, blanks as spaces.
func (t *Terminal) checksumRect(s *parse.Seq) {
	if t.conform.level < 4 {
		return
	}
	var sum uint32
	if r, ok := t.rect(s, 2); ok {
		for row := r.top; row < r.bottom; row++ {
			sum += t.sumSpan(t.scr.At(row), r.left, r.right)
		}
	}
	if t.conform.checksum&sumPositive == 0 {
		sum = -sum
	}
	t.replyDCS("%d!~%04X", s.Param(0, 0), sum&0xffff)
}

func (t *Terminal) sumSpan(line *grid.Row, from, to int) uint32 {
	var sum uint32
	for col := from; col < to; col++ {
		c := Cell(0)
		if col < line.Used {
			c = line.Cells[col]
		}
		switch {
		case c.Width() == WidthTail:
		case c.Blank() || c&CellImage != 0:
			if t.conform.checksum&sumSkipBlank == 0 {
				sum += ' '
			}
		case c&CellCluster != 0:
			r, _ := utf8.DecodeRuneInString(t.tables.Clusters.List[c.Content()])
			sum += uint32(r)
		default:
			sum += uint32(c.Rune())
		}
	}
	return sum
}
