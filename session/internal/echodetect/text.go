package echodetect

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// TypedText is input from one moment.
type TypedText struct {
	At    uint64   // output offset when it was typed
	Lines []string // as they would be echoed; the last one is unfinished
	Row   uint64   // cursor position then: id of the row
	Col   int      // and column
}

// maxTexts bounds the remembered texts. Waits rarely start further back.
const maxTexts = 32

// TypedTexts holds the most recently typed texts, newest last.
type TypedTexts []TypedText

// Add appends a text, and drops the oldest above maxTexts.
func (l *TypedTexts) Add(t TypedText) {
	if n := len(*l); n > 0 && (*l)[n-1].At == t.At { // not echoed yet: merge
		last := &(*l)[n-1]
		last.Lines[len(last.Lines)-1] += t.Lines[0]
		last.Lines = append(last.Lines, t.Lines[1:]...)
		return
	}
	*l = append(*l, t)
	if len(*l) > maxTexts {
		*l = append((*l)[:0], (*l)[1:]...)
	}
}

// Since returns the texts that were typed at an output offset or later.
func (l TypedTexts) Since(off uint64) TypedTexts {
	for i := range l {
		if l[i].At >= off {
			return l[i:]
		}
	}
	return nil
}

// pasteMarks are the start and end of a bracketed paste.
var pasteMarks = [][]byte{[]byte("\x1b[200~"), []byte("\x1b[201~")}

// EchoLines returns the echo of typed bytes, line by line. It returns nil if the echo is unpredictable, for example for
// keys that move the cursor.
func EchoLines(data []byte) []string {
	for _, m := range pasteMarks {
		data = bytes.ReplaceAll(data, m, nil)
	}
	if len(data) == 0 || len(data) > 1<<16 || bytes.IndexByte(data, 0x1b) >= 0 || !utf8.Valid(data) {
		return nil
	}
	b := make([]byte, 0, len(data))
	for _, c := range data {
		switch {
		case c == '\r' || c == '\n':
			b = append(b, '\n')
		case c == '\t', c >= ' ' && c != 0x7f:
			b = append(b, c)
		default:
			b = appendCaret(b, c)
		}
	}
	return strings.Split(string(b), "\n")
}

// appendCaret adds a control character as a terminal echoes it (ECHOCTL): ^C.
func appendCaret(b []byte, c byte) []byte { return append(b, '^', c^0x40) }
