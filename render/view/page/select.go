package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
)

// Unit is what a selection grows by.
type Unit uint8

// Units of selection.
const (
	Characters Unit = iota
	Words
	Rows
	Block // a rectangle
)

// Selection is what lies between two cells, both included.
type Selection struct {
	Anchor, Head Pos
	Unit         Unit
}

// span is the selection in reading order, grown to whole units.
func (s *Selection) span(p *Page) (from, to Pos) {
	from, to = s.Anchor, s.Head
	if to.Before(from) {
		from, to = to, from
	}
	switch s.Unit {
	case Words:
		from.Col, _ = wordAt(p.Line(from.Row), from.Col, classOf)
		_, end := wordAt(p.Line(to.Row), to.Col, classOf)
		to.Col = end - 1
	case Rows:
		from.Col, to.Col = 0, max(p.Cols-1, 0)
	}
	return from, to
}

// Columns is what is selected of a row: columns [from, to). ok is false for none.
func (s *Selection) Columns(p *Page, row int) (from, to int, ok bool) {
	a, b := s.span(p)
	if row < a.Row || row > b.Row {
		return 0, 0, false
	}
	if s.Unit == Block {
		return min(s.Anchor.Col, s.Head.Col), max(s.Anchor.Col, s.Head.Col) + 1, true
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

// Text is the selected text. Rows that were wrapped become one line again.
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

// wordAt is the word at a column, as columns [from, to): a run of characters of one class.
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

// partOfWord are the signs that belong to words: a double click takes a whole path.
const partOfWord = "_-./~:@%+#?&=,"

// classOf tells letters and what paths and addresses are made of from blanks, and from other signs.
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

// blankOr tells blanks from everything else.
func blankOr(t string) int {
	if t == " " {
		return 0
	}
	return 1
}

// Word is the position of the next (by 1) or previous (by -1) word from a position; going back from within a word, its beginning.
func (p *Page) Word(at Pos, by int) Pos { return p.word(at, by, classOf) }

// BigWord is Word with words that end at blanks only.
func (p *Page) BigWord(at Pos, by int) Pos { return p.word(at, by, blankOr) }

func (p *Page) word(at Pos, by int, classOf func(string) int) Pos {
	if from, to := wordAt(p.Line(at.Row), at.Col, classOf); by < 0 && at.Col > from && strings.TrimSpace(text(p.Line(at.Row), from, to)) != "" {
		return Pos{at.Row, from}
	}
	for range 1000 {
		from, to := wordAt(p.Line(at.Row), at.Col, classOf)
		if by > 0 {
			at.Col = to
		} else {
			at.Col = from - 1
		}
		if at.Col < 0 || at.Col >= max(width(p.Line(at.Row)), 1) {
			at.Row += by
			if at.Row < p.First || at.Row >= p.End() {
				return p.Clamp(at)
			}
			at.Col = 0
			if by < 0 {
				at.Col = max(width(p.Line(at.Row))-1, 0)
			}
		}
		if from, to := wordAt(p.Line(at.Row), at.Col, classOf); strings.TrimSpace(text(p.Line(at.Row), from, to)) != "" {
			return Pos{at.Row, from}
		}
	}
	return p.Clamp(at)
}

// WordEnd is the position of the last character of the word at a position, or of the next one where that is it already.
func (p *Page) WordEnd(at Pos) Pos { return p.wordEnd(at, classOf) }

// BigWordEnd is WordEnd with words that end at blanks only.
func (p *Page) BigWordEnd(at Pos) Pos { return p.wordEnd(at, blankOr) }

func (p *Page) wordEnd(at Pos, classOf func(string) int) Pos {
	if from, to := wordAt(p.Line(at.Row), at.Col, classOf); at.Col < to-1 && strings.TrimSpace(text(p.Line(at.Row), from, to)) != "" {
		return Pos{at.Row, to - 1}
	}
	next := p.word(at, 1, classOf)
	_, to := wordAt(p.Line(next.Row), next.Col, classOf)
	return p.Clamp(Pos{next.Row, to - 1})
}

// Find is the position of the next (by 1) or previous (by -1) place of a character in the row of a position, from a column on.
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
