package page

import (
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
)

// WordKind is what vi's motions count as a word.
type WordKind uint8

// Kinds of words.
const (
	Word    WordKind = iota // characters of words, or signs between them
	BigWord                 // all between blanks
)

// separators are the signs that are words of their own: tmux's word-separators, as it has them by default.
const separators = "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~"

// Classes of characters.
const (
	blank uint8 = iota
	inWord
	separator
)

func (w WordKind) classOf(t string) uint8 {
	r, _ := utf8.DecodeRuneInString(t)
	switch {
	case r == ' ':
		return blank
	case w == Word && strings.ContainsRune(separators, r):
		return separator
	}
	return inWord
}

// walk goes over a page a column at a time. A row ends with a blank, but where it goes on in the next one.
type walk struct {
	p       *Page
	of      WordKind
	at      Pos
	classes []uint8 // of the columns of the row
}

func (p *Page) walkFrom(at Pos, of WordKind) *walk {
	w := &walk{p: p, of: of, at: p.Clamp(at)}
	w.read()
	return w
}

// read takes in the row.
func (w *walk) read() {
	w.classes = w.classes[:0]
	line := w.p.Line(w.at.Row)
	if line == nil {
		return
	}
	for i := range line.Spans {
		line.Spans[i].Characters(func(t string, at, width int) bool {
			for len(w.classes) < at { // it was skipped over
				w.classes = append(w.classes, blank)
			}
			for range width {
				w.classes = append(w.classes, w.of.classOf(t))
			}
			return true
		})
	}
}

// class is that of the column it stands at.
func (w *walk) class() uint8 {
	if w.at.Col < len(w.classes) {
		return w.classes[w.at.Col]
	}
	return blank
}

// last is the last column of the row.
func (w *walk) last(l *render.Line) int {
	if l != nil && l.Wrapped {
		return max(len(w.classes)-1, 0)
	}
	return len(w.classes)
}

// next goes a column on; false: the page ends.
func (w *walk) next() bool {
	line := w.p.Line(w.at.Row)
	if w.at.Col < w.last(line) {
		w.at.Col++
		return true
	}
	if w.at.Row+1 >= w.p.End() {
		return false
	}
	w.at = Pos{w.at.Row + 1, 0}
	w.read()
	return true
}

// back goes a column back; false: the page begins.
func (w *walk) back() bool {
	if w.at.Col > 0 {
		w.at.Col--
		return true
	}
	if w.at.Row <= w.p.First {
		return false
	}
	w.at.Row--
	w.read()
	w.at.Col = w.last(w.p.Line(w.at.Row))
	return true
}

// past goes to the first column of another class.
func (w *walk) past(class uint8) bool {
	for w.class() == class {
		if !w.next() {
			return false
		}
	}
	return true
}

// NextWord is where the next word begins.
func (p *Page) NextWord(at Pos, of WordKind) Pos {
	w := p.walkFrom(at, of)
	if c := w.class(); c == blank || w.past(c) {
		w.past(blank)
	}
	return p.Clamp(w.at)
}

// WordBefore is where the word begins that the position is in, or the one before where it begins there.
func (p *Page) WordBefore(at Pos, of WordKind) Pos {
	w := p.walkFrom(at, of)
	for first := true; first || w.class() == blank; first = false {
		if !w.back() {
			return w.at
		}
	}
	begin := w.at
	for class := w.class(); w.back() && w.class() == class; {
		begin = w.at
	}
	return begin
}

// WordEnd is the last column of the word at a position, or of the next one where that is it already.
func (p *Page) WordEnd(at Pos, of WordKind) Pos {
	w := p.walkFrom(at, of)
	if w.next() {
		return p.Clamp(w.wordEnd())
	}
	return p.Clamp(w.at)
}

// BehindWord is the position behind the word at a position, or behind the next one, as emacs has it.
func (p *Page) BehindWord(at Pos, of WordKind) Pos {
	w := p.walkFrom(at, of)
	w.wordEnd()
	return p.Clamp(w.at)
}

// wordEnd goes behind the word, or the next one; end is its last column.
func (w *walk) wordEnd() (end Pos) {
	if !w.past(blank) {
		return w.at
	}
	for class := w.class(); w.class() == class; {
		if end = w.at; !w.next() {
			break
		}
	}
	return end
}
