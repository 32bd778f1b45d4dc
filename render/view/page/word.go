package page

import (
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
)

// WordKind selects what counts as a word in motions, as in vi.
type WordKind uint8

// Kinds of words.
const (
	Word    WordKind = iota // characters of words, or signs between them
	BigWord                 // all between blanks
)

// separators are the characters that form separate words: tmux's default word-separators.
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

// walker moves over a page column by column. A row ends with a blank, unless it continues in the next row.
type walker struct {
	p       *Page
	kind    WordKind
	at      Pos
	classes []uint8 // classes of the row's columns
}

func (p *Page) walkFrom(at Pos, kind WordKind) *walker {
	w := &walker{p: p, kind: kind, at: p.Clamp(at)}
	w.read()
	return w
}

// read computes the classes of the row.
func (w *walker) read() {
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
				w.classes = append(w.classes, w.kind.classOf(t))
			}
			return true
		})
	}
}

// class returns the class of the current column.
func (w *walker) class() uint8 {
	if w.at.Col < len(w.classes) {
		return w.classes[w.at.Col]
	}
	return blank
}

// last returns the last column of the row.
func (w *walker) last(l *render.Line) int {
	if l != nil && l.Wrapped {
		return max(len(w.classes)-1, 0)
	}
	return len(w.classes)
}

// next moves one column forward. It returns false at the end of the page.
func (w *walker) next() bool {
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

// back moves one column back. It returns false at the start of the page.
func (w *walker) back() bool {
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

// skipClass moves to the first column of another class.
func (w *walker) skipClass(class uint8) bool {
	for w.class() == class {
		if !w.next() {
			return false
		}
	}
	return true
}

// NextWord returns the start of the next word.
func (p *Page) NextWord(at Pos, kind WordKind) Pos {
	w := p.walkFrom(at, kind)
	if c := w.class(); c == blank || w.skipClass(c) {
		w.skipClass(blank)
	}
	return p.Clamp(w.at)
}

// WordBefore returns the start of the word at the position, or of the previous word if the position is at a start.
func (p *Page) WordBefore(at Pos, kind WordKind) Pos {
	w := p.walkFrom(at, kind)
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

// WordEnd returns the last column of the word at a position, or of the next word if the position is at an end.
func (p *Page) WordEnd(at Pos, kind WordKind) Pos {
	w := p.walkFrom(at, kind)
	if w.next() {
		return p.Clamp(w.wordEnd())
	}
	return p.Clamp(w.at)
}

// AfterWord returns the position after the word at a position, or after the next word, as in emacs.
func (p *Page) AfterWord(at Pos, kind WordKind) Pos {
	w := p.walkFrom(at, kind)
	w.wordEnd()
	return p.Clamp(w.at)
}

// wordEnd moves past the word, or the next one; end is its last column.
func (w *walker) wordEnd() (end Pos) {
	if !w.skipClass(blank) {
		return w.at
	}
	for class := w.class(); w.class() == class; {
		if end = w.at; !w.next() {
			break
		}
	}
	return end
}
