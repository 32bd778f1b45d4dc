package digest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/output/budget"
)

// A line longer than lineMax keeps its head and tail and, from between, the first words that look like a problem: a
// one-line document may hold the output of many programs.

// longLine holds the parts of such a line beyond its head.
type longLine struct {
	overflow int    // bytes after the head
	tail     []byte // the last bytes
	excerpt  string // the first problem words between head and tail, with context
}

// Sizes in bytes.
const (
	longNoteBytes  = 80   // estimate for the note in the middle
	excerptBytes   = 160  // length of an excerpt
	minExcerptLine = 1000 // smallest lineMax with room for an excerpt
	excerptBefore  = 40   // context before the problem word
)

// problemWords are parts of words: text about a problem contains one of them.
var problemWords = [][]byte{[]byte("rror"), []byte("ERROR"), []byte("ail"), []byte("FAIL"), []byte("xception"), []byte("panic"), []byte("fatal")}

// add appends a piece beyond the head and keeps its last bytes, keep at least.
func (c *longLine) add(piece []byte, keep int, findProblem bool) {
	c.overflow += len(piece)
	if c.excerpt == "" && findProblem {
		c.excerpt = problemExcerpt(piece)
	}
	c.tail = append(c.tail, piece[max(0, len(piece)-keep):]...)
	if len(c.tail) > 2*keep {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-keep:]...)
	}
}

// problemExcerpt returns the first problem words in a text with context, or "".
func problemExcerpt(text []byte) string {
	at := -1
	for _, w := range problemWords {
		if i := bytes.Index(text, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	from := max(0, at-excerptBefore)
	return trimPartialRunes(string(text[from:min(len(text), from+excerptBytes)]))
}

// trimPartialRunes returns text without partial characters at its ends.
func trimPartialRunes(text string) string {
	for text != "" && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	for i := 1; i <= min(len(text), utf8.UTFMax); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				text = text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// finish joins head, note and tail into a line that was cut.
func (c *longLine) finish(l *line, lineMax int) {
	if c.overflow == 0 {
		return
	}
	all := len(l.text) + c.overflow
	room := max(0, lineMax-longNoteBytes)
	if lineMax >= minExcerptLine {
		room -= excerptBytes
	}
	head := trimPartialRunes(l.text[:min(len(l.text), room*2/3)])
	rest := l.text[len(head):]
	tail := rest + string(c.tail)
	tail = trimPartialRunes(tail[max(0, len(tail)-room/3):])
	hit := c.excerpt
	if lineMax >= minExcerptLine {
		if first := problemExcerpt([]byte(rest)); first != "" && !strings.Contains(tail, first) {
			hit = first
		}
	}
	if hit != "" {
		hit = ", among them: …" + hit + "…"
	}
	l.cutBytes, l.cutFrom, l.cutTo = all-len(head)-len(tail), l.from+uint64(len(head)), l.to-min(l.to-l.from, uint64(len(tail)))
	l.cutTo = max(l.cutFrom, l.cutTo)
	l.text = fmt.Sprintf("%s[… %d bytes left out, from %d to %d%s]%s", head, l.cutBytes, l.cutFrom, l.cutTo, hit, tail)
	l.noteLen = len(l.text) - len(head) - len(tail)
}

// shorten cuts a line to the given room if it does not fit into the digest.
func (l *line) shorten(room int) {
	text, info := budget.Cut(l.text, room, 0.5)
	if !info.Cut {
		return
	}
	kept := max(0, len(l.text)-l.noteLen-info.Bytes)
	l.cutBytes += len(l.text) - l.noteLen - kept
	l.text, l.noteLen = text, max(0, len(text)-kept)
	l.cutFrom, l.cutTo = l.from, l.to
}
