package digest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/output/budget"
)

// A line beyond the read limit keeps its head and tail and, from between, the first words that look like a problem: a
// one-line document may hold the output of many programs.

// cutLine is what is kept of such a line beyond its head.
type cutLine struct {
	beyond int    // bytes of it after those in the head
	tail   []byte // the newest of those
	hit    string // the first problem words, with context
}

const (
	cutNote   = 80  // about what the note in the middle takes
	hitBytes  = 160 // bytes of problem words
	hitsFrom  = 1000
	hitBefore = 40
)

// wrong are word parts of which problem text contains one.
var wrong = [][]byte{[]byte("rror"), []byte("ERROR"), []byte("ail"), []byte("FAIL"), []byte("xception"), []byte("panic"), []byte("fatal")}

// add takes a piece that has no room in the head.
func (c *cutLine) add(piece []byte, keep int, hits bool) {
	c.beyond += len(piece)
	if c.hit == "" && hits {
		c.hit = hitIn(piece)
	}
	c.tail = append(c.tail, piece[max(0, len(piece)-keep):]...)
	if len(c.tail) > 2*keep {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-keep:]...)
	}
}

// hitIn returns the first problem words in a text, or "".
func hitIn(text []byte) string {
	at := -1
	for _, w := range wrong {
		if i := bytes.Index(text, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	from := max(0, at-hitBefore)
	return whole(string(text[from:min(len(text), from+hitBytes)]))
}

// whole returns text without partial characters at its ends.
func whole(text string) string {
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

// close puts head, note and tail of a line that was cut into it.
func (c *cutLine) close(l *line, lineMax int) {
	if c.beyond == 0 {
		return
	}
	all := len(l.text) + c.beyond
	room := max(0, lineMax-cutNote)
	if lineMax >= hitsFrom {
		room -= hitBytes
	}
	head := whole(l.text[:min(len(l.text), room*2/3)])
	rest := l.text[len(head):]
	tail := rest + string(c.tail)
	tail = whole(tail[max(0, len(tail)-room/3):])
	hit := c.hit
	if lineMax >= hitsFrom {
		if first := hitIn([]byte(rest)); first != "" && !strings.Contains(tail, first) {
			hit = first
		}
	}
	if hit != "" {
		hit = ", among them: …" + hit + "…"
	}
	l.lost, l.lostFrom, l.lostTo = all-len(head)-len(tail), l.from+uint64(len(head)), l.to-min(l.to-l.from, uint64(len(tail)))
	l.lostTo = max(l.lostFrom, l.lostTo)
	l.text = fmt.Sprintf("%s[… %d bytes left out, from %d to %d%s]%s", head, l.lost, l.lostFrom, l.lostTo, hit, tail)
	l.note = len(l.text) - len(head) - len(tail)
}

// shorten cuts a line that does not fit into the digest.
func (l *line) shorten(room int) {
	text, info := budget.Cut(l.text, room, 0.5)
	if !info.Cut {
		return
	}
	kept := max(0, len(l.text)-l.note-info.Bytes)
	l.lost += len(l.text) - l.note - kept
	l.text, l.note = text, max(0, len(text)-kept)
	l.lostFrom, l.lostTo = l.from, l.to
}
