package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// line is the text being edited.
type line struct {
	text   string
	cursor int    // byte offset
	killed string // text that was cut last
	undo   undo
	pastes pastes
}

// insert puts text at the cursor.
func (l *line) insert(s string) {
	l.text = l.text[:l.cursor] + s + l.text[l.cursor:]
	l.cursor += len(s)
	// What was typed may join the cluster after it.
	if next := l.next(l.prev(l.cursor)); next > l.cursor {
		l.cursor = next
	}
}

// set replaces everything.
func (l *line) set(s string) { l.text, l.cursor = s, len(s) }

// cut removes [from, to).
func (l *line) cut(from, to int) string {
	s := l.text[from:to]
	l.text = l.text[:from] + l.text[to:]
	l.cursor = from
	return s
}

// next returns the boundary after a position.
func (l *line) next(at int) int {
	if at >= len(l.text) {
		return len(l.text)
	}
	if end := l.pastes.endingAfter(l.text, at); end > 0 {
		return end
	}
	g, _, _, _ := uniseg.FirstGraphemeClusterInString(l.text[at:], -1)
	return at + len(g)
}

// prev returns the boundary before a position.
func (l *line) prev(at int) int {
	if at <= 0 {
		return 0
	}
	if begin := l.pastes.beginningBefore(l.text, at); begin >= 0 {
		return begin
	}
	_, size := utf8.DecodeLastRuneInString(l.text[:at])
	from := l.safeBoundary(at - size)
	last := from
	for from < at {
		last = from
		g, _, _, _ := uniseg.FirstGraphemeClusterInString(l.text[from:at], -1)
		from += len(g)
	}
	return last
}

// safeBoundary returns a boundary at or before a position that does not depend on the text before it. Otherwise each
// character of a long row would need a search from the row's start.
func (l *line) safeBoundary(at int) int {
	for at > 0 {
		_, after := utf8.DecodeRuneInString(l.text[at:])
		_, before := utf8.DecodeLastRuneInString(l.text[:at])
		// A cluster that continues with anything else than its last character continues with a joiner, or with a
		// character that may only end a cluster.
		if first(l.text[at-before:at+after]) == before && first("a"+l.text[at-before:at]) == 1 {
			break
		}
		at -= before
	}
	return at
}

// first returns the length of the first cluster of a text.
func first(text string) int {
	g, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return len(g)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// nextWord returns the end of the word at or after a position.
func (l *line) nextWord(at int) int {
	at = l.skip(at, func(r rune) bool { return !isWord(r) })
	return l.skip(at, isWord)
}

func (l *line) skip(at int, f func(rune) bool) int {
	for at < len(l.text) {
		r, _ := utf8.DecodeRuneInString(l.text[at:])
		if !f(r) {
			break
		}
		at = l.next(at)
	}
	return at
}

// prevWord returns the start of the word before a position.
func (l *line) prevWord(at int) int {
	return l.skipBack(l.skipBack(at, func(r rune) bool { return !isWord(r) }), isWord)
}

func (l *line) skipBack(at int, f func(rune) bool) int {
	for at > 0 {
		before := l.prev(at)
		if r, _ := utf8.DecodeRuneInString(l.text[before:]); !f(r) {
			break
		}
		at = before
	}
	return at
}

// prevBlank returns the start of the word before a position; words are separated by blanks.
func (l *line) prevBlank(at int) int {
	return l.skipBack(l.skipBack(at, unicode.IsSpace), func(r rune) bool { return !unicode.IsSpace(r) })
}

// bounds returns the start and end of the row at a position.
func (l *line) bounds(at int) (begin, end int) {
	begin = strings.LastIndexByte(l.text[:at], '\n') + 1
	end = strings.IndexByte(l.text[at:], '\n')
	if end < 0 {
		return begin, len(l.text)
	}
	return begin, at + end
}

// vertical moves the cursor a row up or down to the same column. It returns false without such a row.
func (l *line) vertical(down bool) bool {
	begin, end := l.bounds(l.cursor)
	column := uniseg.StringWidth(l.text[begin:l.cursor])
	if down {
		if end == len(l.text) {
			return false
		}
		begin, end = l.bounds(end + 1)
	} else {
		if begin == 0 {
			return false
		}
		begin, end = l.bounds(begin - 1)
	}
	at := begin
	for passed := 0; at < end && passed < column; {
		next := l.next(at)
		passed += uniseg.StringWidth(l.text[at:next])
		at = next
	}
	l.cursor = min(at, end)
	return true
}

// undo holds earlier versions of the line.
type undo struct {
	past, future []saved
	typing       bool // the newest entry is from before the word being typed
}

// saved is a version of the line.
type saved struct {
	text   string
	cursor int
}

// maxUndo limits the changes that can be undone.
const maxUndo = 200

// save records the line before a change. Successive typed characters are one change.
func (l *line) save(typing bool) {
	u := &l.undo
	if typing && u.typing {
		return
	}
	u.typing, u.future = typing, nil
	if len(u.past) == maxUndo {
		u.past = u.past[1:]
	}
	u.past = append(u.past, saved{l.text, l.cursor})
}

func (l *line) goBack() { l.exchange(&l.undo.past, &l.undo.future) }
func (l *line) redo()   { l.exchange(&l.undo.future, &l.undo.past) }

func (l *line) exchange(from, to *[]saved) {
	l.undo.typing = false
	n := len(*from)
	if n == 0 {
		return
	}
	*to = append(*to, saved{l.text, l.cursor})
	s := (*from)[n-1]
	*from = (*from)[:n-1]
	l.text, l.cursor = s.text, s.cursor
}
