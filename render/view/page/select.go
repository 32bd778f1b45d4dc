package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
)

// Unit is the granularity of a selection.
type Unit uint8

// Units of selection.
const (
	Characters Unit = iota
	Words
	Rows
	Block // a rectangle
)

// Selection is the range between two cells, both included.
type Selection struct {
	Anchor, Head Pos
	Unit         Unit
	Open         bool // the later end is excluded, as in emacs; for characters and rectangles
}

// span returns the selection in reading order, extended to whole units.
func (s *Selection) span(p *Page) (from, to Pos) {
	from, to = s.Anchor, s.Head
	if to.Before(from) {
		from, to = to, from
	}
	switch s.Unit {
	case Characters:
		if s.Open { // at a row's beginning the end of the row before is in it
			to.Col--
		}
	case Words:
		from, _ = p.wordAround(from)
		_, to = p.wordAround(to)
	case Rows:
		from.Row, to.Row = p.lineAround(from.Row, to.Row)
		from.Col, to.Col = 0, max(p.Cols-1, 0)
	}
	return from, to
}

// lineAround returns the rows of the lines that contain two rows: wrapped lines have several.
func (p *Page) lineAround(first, last int) (from, to int) {
	for p.wraps(first - 1) {
		first--
	}
	for p.wraps(last) && p.Line(last+1) != nil {
		last++
	}
	return first, last
}

// wraps reports whether a row continues in the next one.
func (p *Page) wraps(row int) bool {
	l := p.Line(row)
	return l != nil && l.Wrapped
}

// wordAround returns the first and the last cell of the word at a position, across wrapped rows.
func (p *Page) wordAround(at Pos) (from, to Pos) {
	start, end := wordAt(p.Line(at.Row), at.Col, classOf)
	from, to = Pos{at.Row, start}, Pos{at.Row, end - 1}
	class := p.classAt(at)
	for from.Col == 0 && p.wraps(from.Row-1) {
		before := Pos{from.Row - 1, max(width(p.Line(from.Row-1))-1, 0)}
		if p.classAt(before) != class {
			break
		}
		start, _ := wordAt(p.Line(before.Row), before.Col, classOf)
		from = Pos{before.Row, start}
	}
	for p.wraps(to.Row) && to.Col+1 >= width(p.Line(to.Row)) {
		after := Pos{to.Row + 1, 0}
		if p.Line(after.Row) == nil || p.classAt(after) != class {
			break
		}
		_, end := wordAt(p.Line(after.Row), 0, classOf)
		to = Pos{after.Row, end - 1}
	}
	return from, to
}

// classAt returns the class of the character in a cell, that of a blank beyond the row.
func (p *Page) classAt(at Pos) (class int) {
	l := p.Line(at.Row)
	if l == nil {
		return 0
	}
	for i := range l.Spans {
		l.Spans[i].Characters(func(t string, col, w int) bool {
			if at.Col >= col && at.Col < col+w {
				class = classOf(t)
			}
			return col <= at.Col
		})
	}
	return class
}

// Columns returns the selected columns [from, to) of a row. ok is false for none.
func (s *Selection) Columns(p *Page, row int) (from, to int, ok bool) {
	a, b := s.span(p)
	if row < a.Row || row > b.Row {
		return 0, 0, false
	}
	if s.Unit == Block {
		from, to = min(s.Anchor.Col, s.Head.Col), max(s.Anchor.Col, s.Head.Col)+1
		if s.Open {
			to--
		}
		return from, to, from < to
	}
	from, to = 0, p.Cols
	if row == a.Row {
		from = a.Col
	}
	if row == b.Row {
		to = b.Col + 1
	}
	return from, to, from < to
}

// Text returns the selected text. Wrapped rows become one line.
func (s *Selection) Text(p *Page) string {
	var b strings.Builder
	from, to := s.span(p)
	for row := from.Row; row <= to.Row; row++ {
		l := p.Line(row)
		if l == nil {
			continue
		}
		x0, x1, _ := s.Columns(p, row)
		b.WriteString(text(l, x0, x1))
		if joined := l.Wrapped && s.Unit != Block; row < to.Row && !joined {
			b.WriteByte('\n')
		}
	}
	if s.Unit == Rows {
		b.WriteByte('\n')
	}
	return b.String()
}

// wordAt returns the word at a column, as columns [from, to): a run of characters of one class.
func wordAt(l *render.Line, col int, classOf func(string) int) (from, to int) {
	from, to = col, col+1
	if l == nil {
		return from, to
	}
	class, start, found := -1, 0, false
	end := 0
	for i := range l.Spans {
		l.Spans[i].Characters(func(t string, at, w int) bool {
			c := classOf(t)
			if c != class || at != end {
				if found {
					return false
				}
				class, start = c, at
			}
			end = at + w
			if col >= at && col < at+w {
				found = true
			}
			if found {
				from, to = start, end
			}
			return true
		})
	}
	return from, to
}

// partOfWord lists the punctuation that belongs to words: a double click selects a whole path.
const partOfWord = "_-./~:@%+#?&=,"

// classOf returns the class of a character: blank, part of words, paths and addresses, or other.
func classOf(t string) int {
	r, _ := utf8.DecodeRuneInString(t)
	switch {
	case r == ' ':
		return 0
	case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(partOfWord, r):
		return 1
	}
	return 2
}

// Find returns the position of the next (by 1) or previous (by -1) occurrence of a character in the row of a position.
func (p *Page) Find(at Pos, character string, by int) (Pos, bool) {
	found := Pos{Row: at.Row, Col: -1}
	line := p.Line(at.Row)
	if line == nil {
		return at, false
	}
	for i := range line.Spans {
		line.Spans[i].Characters(func(t string, col, _ int) bool {
			if t == character && (by < 0 && col <= at.Col || by > 0 && col >= at.Col && found.Col < 0) {
				found.Col = col
			}
			return true
		})
	}
	return found, found.Col >= 0
}
