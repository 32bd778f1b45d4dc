package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// edit is an editing command with its keys.
type edit struct {
	keys    string // names of its keys
	help    string
	changes bool // it changes the line, not only the cursor
	do      func(*line)
}

// edits lists the editing commands. The first one that has a key handles it.
var edits = []edit{
	{"C-a Home", "to the row's beginning", false, func(l *line) { l.cursor, _ = l.bounds(l.cursor) }},
	{"C-e End", "to the row's end", false, func(l *line) { _, l.cursor = l.bounds(l.cursor) }},
	{"C-b Left", "back", false, func(l *line) { l.cursor = l.prev(l.cursor) }},
	{"C-f Right", "on", false, func(l *line) { l.cursor = l.next(l.cursor) }},
	{"M-b C-Left M-Left", "a word back", false, func(l *line) { l.cursor = l.prevWord(l.cursor) }},
	{"M-f C-Right M-Right", "a word on", false, func(l *line) { l.cursor = l.nextWord(l.cursor) }},
	{"M-<", "to the beginning", false, func(l *line) { l.cursor = 0 }},
	{"M->", "to the end", false, func(l *line) { l.cursor = len(l.text) }},
	{"Backspace C-h", "delete back", true, func(l *line) { l.cut(l.prev(l.cursor), l.cursor) }},
	{"Delete C-d", "delete on", true, func(l *line) { l.cut(l.cursor, l.next(l.cursor)) }},
	{"C-w", "kill back to a blank", true, func(l *line) { l.kill(l.prevBlank(l.cursor), l.cursor) }},
	{"M-Backspace M-C-h C-M-h", "kill the word before", true, func(l *line) { l.kill(l.prevWord(l.cursor), l.cursor) }},
	{"M-d", "kill the word after", true, func(l *line) { l.kill(l.cursor, l.nextWord(l.cursor)) }},
	{"C-k", "kill the rest of the row", true, (*line).killRow},
	{"C-u", "kill the row up to here", true, func(l *line) { begin, _ := l.bounds(l.cursor); l.kill(begin, l.cursor) }},
	{"C-y", "insert the killed text", true, func(l *line) { l.insert(l.killed) }},
	{"C-t", "exchange two characters", true, (*line).transpose},
	{"M-u", "upper case", true, func(l *line) { l.recase(strings.ToUpper) }},
	{"M-l", "lower case", true, func(l *line) { l.recase(strings.ToLower) }},
	{"M-c", "capital", true, func(l *line) { l.recase(capital) }},
	{"M-Enter C-j", "a new row", true, func(l *line) { l.insert("\n") }},
	{"C-_ C-/ C-z", "undo", false, (*line).goBack},
	{"M-_ C-M-_ M-/", "redo", false, (*line).redo},
}

var editOf = func() map[string]*edit {
	m := map[string]*edit{}
	for i := range edits {
		for _, k := range strings.Fields(edits[i].keys) {
			m[k] = &edits[i]
		}
	}
	return m
}()

// apply runs the editing command of a key. It returns false for other keys.
func (l *line) apply(key string) bool {
	e := editOf[key]
	if e == nil {
		return false
	}
	if e.changes {
		l.save(false)
	}
	e.do(l)
	return true
}

func (l *line) kill(from, to int) {
	if from < to {
		l.killed = l.cut(from, to)
	}
}

// killRow kills the rest of the row, or the line break at its end.
func (l *line) killRow() {
	_, end := l.bounds(l.cursor)
	if end == l.cursor {
		end = l.next(end)
	}
	l.kill(l.cursor, end)
}

// transpose exchanges the clusters around the cursor, the last two at the end.
func (l *line) transpose() {
	at := l.cursor
	if at == len(l.text) {
		at = l.prev(at)
	}
	before, after := l.prev(at), l.next(at)
	if before == at || after == at {
		return
	}
	l.text = l.text[:before] + l.text[at:after] + l.text[before:at] + l.text[after:]
	l.cursor = after
}

func (l *line) recase(f func(string) string) {
	end := l.nextWord(l.cursor)
	word := f(l.cut(l.cursor, end))
	l.insert(word)
}

func capital(s string) string {
	i := strings.IndexFunc(s, unicode.IsLetter)
	if i < 0 {
		return s
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return s[:i] + string(unicode.ToTitle(r)) + strings.ToLower(s[i+n:])
}
