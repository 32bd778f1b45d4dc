package echodetect

import (
	"bytes"
	"unicode/utf8"
)

// Finder finds the echo of typed text in output lines: in the line that was unfinished at the time, after its end at
// the time, and in later lines. It finds the text however it was drawn: by the terminal, by a line editor, or by one
// that redraws the line for each key. Each typed line is found once.

// TypedLine is a line typed up to Enter, or one that is still being typed. It is saved as JSON.
type TypedLine struct {
	Parts  []string `json:"parts"`  // text between keys that move or edit
	At     int      `json:"at"`     // bytes in the output line before the typed text
	Line   uint64   `json:"line"`   // number of that output line
	Since  uint64   `json:"since"`  // output offset when it was typed
	Enter  bool     `json:"enter"`  // it is complete
	Tty    bool     `json:"tty"`    // the terminal echoed it
	Secret bool     `json:"secret"` // must not be saved
}

// Finder finds typed lines whose echo has not been seen completely.
type Finder struct {
	Lines []TypedLine // the newest last
	// TypeAhead holds lines that the terminal echoed before the program read them. A line editor that reads them at its
	// start shows them a second time, after its prompt.
	TypeAhead []TypedLine
	bytes     int    // total size of Lines
	esc       escape // in a typed sequence
}

// Bounds. An echo comes soon after the input, or never.
const (
	maxEchoDistance   = 16 << 10 // output bytes after which an echo is no longer expected
	maxLinesPerMatch  = 8        // typed lines searched in one output line
	maxPendingEcho    = 1 << 20  // total bytes of pending typed lines
	maxPartBytes      = 256      // bytes of a part, so that no part is longer than a searched window
	maxTypeAheadLines = 16       // lines that may be shown a second time
)

// EchoSides holds which sides may echo typed text. Neither does for a password.
type EchoSides struct {
	Tty bool // the terminal may
	App bool // the program may
}

// RecordTyped records typed input that may be echoed. by is the side that may echo it. at is the number of bytes of the current
// output line before it, line the number of that line, and off the output offset at that time.
func (e *Finder) RecordTyped(data []byte, by EchoSides, at int, line, off uint64, secret bool) {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		l := e.openLine(at, line, off)
		l.Secret = l.Secret || secret
		e.addKey(l, r, string(data[:n]), by)
		if l.Enter {
			at = 0
		}
		data = data[n:]
	}
}

// openLine returns the line that is being typed, and adds a new one if needed.
func (e *Finder) openLine(at int, line, off uint64) *TypedLine {
	if n := len(e.Lines); n > 0 && !e.Lines[n-1].Enter {
		return &e.Lines[n-1]
	}
	e.Lines = append(e.Lines, TypedLine{Parts: []string{""}, At: at, Line: line, Since: off})
	return &e.Lines[len(e.Lines)-1]
}

// SplitIfInterrupted starts a new part of the line that is being typed unless the output line ends with the typed
// text. Otherwise other output came in between, or the echo has not come yet.
func (e *Finder) SplitIfInterrupted(line []byte) {
	if n := len(e.Lines); n > 0 && !e.Lines[n-1].Enter {
		t := &e.Lines[n-1]
		if !bytes.HasSuffix(line, []byte(t.Parts[len(t.Parts)-1])) {
			t.startPart()
		}
	}
}

// addKey adds a character to the line being typed.
func (e *Finder) addKey(l *TypedLine, r rune, text string, by EchoSides) {
	l.Tty = by.Tty
	switch {
	case e.esc.consumes(r) && by.App:
		l.startPart()
	case r == '\r' || r == '\n':
		l.Enter = true
	case r == 0x7f || r == '\b':
		l.eraseLast()
	case r == 0x15: // ^U
		l.Parts = l.Parts[:1]
		l.Parts[0] = ""
	case r < 0x20 && r != '\t':
		l.startPart()
		l.appendText(string(appendCaret(nil, byte(r))))
		l.startPart()
	case e.bytes+len(text) <= maxPendingEcho:
		e.bytes += len(text)
		l.appendText(text)
	}
}

// appendText appends text to the current part.
func (l *TypedLine) appendText(s string) {
	last := &l.Parts[len(l.Parts)-1]
	if len(*last)+len(s) > maxPartBytes {
		l.Parts = append(l.Parts, s)
		return
	}
	*last += s
}

// startPart starts a new part: the next text may be elsewhere in the output.
func (l *TypedLine) startPart() {
	if l.Parts[len(l.Parts)-1] != "" {
		l.Parts = append(l.Parts, "")
	}
}

// eraseLast removes the last character, as backspace does.
func (l *TypedLine) eraseLast() {
	last := &l.Parts[len(l.Parts)-1]
	_, n := utf8.DecodeLastRuneInString(*last)
	*last = (*last)[:len(*last)-n]
}

// size returns the line's length in bytes, as counted in Finder.bytes.
func (l *TypedLine) size() int {
	n := 0
	for _, p := range l.Parts {
		n += len(p)
	}
	return n
}

// Span is a range of byte offsets in a text, To excluded.
type Span struct{ From, To int }

// Line is a line of output, or a window of one, in which an echo is searched.
type Line struct {
	Text     []byte
	Number   uint64 // counts lines of output
	Offset   uint64 // of the output that ends it
	Complete bool
	Cols     int  // of the screen
	Editor   bool // a line editor may be at work
}

// HasPending reports whether an echo is still expected.
func (e *Finder) HasPending() bool { return len(e.Lines) > 0 || len(e.TypeAhead) > 0 }

// EchoSpans returns the spans of l that are echo, in ascending order. An echo found in a complete line is not searched
// again.
func (e *Finder) EchoSpans(l Line) (masked []Span) {
	e.expire(l.Offset)
	from, drop := 0, 0
	for i := range e.Lines[:min(len(e.Lines), maxLinesPerMatch)] {
		t := &e.Lines[i]
		if t.Line == l.Number {
			from = max(from, min(t.At, len(l.Text)))
		}
		spans, end := t.Find(l, from)
		if len(spans) == 0 {
			continue
		}
		masked, from = append(masked, spans...), end
		if l.Complete {
			drop = i + 1
		}
	}
	if len(masked) == 0 && l.Editor {
		masked = e.typeAheadSpans(l)
	}
	if drop > 0 {
		e.keepTypeAhead(drop)
		e.DropOldest(drop)
	}
	return masked
}

// keepTypeAhead moves the n oldest lines, which the terminal echoed, to TypeAhead.
func (e *Finder) keepTypeAhead(n int) {
	for _, t := range e.Lines[:n] {
		if t.Tty && t.Enter && len(t.Parts) == 1 && t.Parts[0] != "" {
			e.TypeAhead = append(e.TypeAhead, t)
		}
	}
	if over := len(e.TypeAhead) - maxTypeAheadLines; over > 0 {
		e.TypeAhead = append(e.TypeAhead[:0], e.TypeAhead[over:]...)
	}
}

// typeAheadSpans returns the span of a line's second echo: at the end, after a prompt. Lines before it will not be
// shown again.
func (e *Finder) typeAheadSpans(l Line) []Span {
	for i, t := range e.TypeAhead {
		at := len(l.Text) - len(t.Parts[0])
		if at > 0 && string(l.Text[at:]) == t.Parts[0] {
			if l.Complete {
				e.TypeAhead = append(e.TypeAhead[:0], e.TypeAhead[i+1:]...)
			}
			return []Span{{at, len(l.Text)}}
		}
		if n := unfinishedEcho(l.Text, t.Parts[0]); n > 0 && !l.Complete {
			return []Span{{len(l.Text) - n, len(l.Text)}}
		}
	}
	return nil
}

// Find returns where a typed line occurs in a line of output, from offset from on.
func (t *TypedLine) Find(l Line, from int) (found []Span, end int) {
	end = from
	missing := false
	for _, part := range t.Parts {
		if part == "" {
			continue
		}
		at := bytes.Index(l.Text[end:], []byte(part))
		if at < 0 {
			if n := unfinishedEcho(l.Text[end:], part); n > 0 && !l.Complete {
				found = append(found, Span{len(l.Text) - n, len(l.Text)})
				return found, len(l.Text)
			}
			missing = true
			continue
		}
		found = append(found, Span{end + at, end + at + len(part)})
		end += at + len(part)
	}
	if missing && t.Line == l.Number && t.wraps(l) {
		return []Span{{0, len(l.Text)}}, len(l.Text)
	}
	return found, end
}

// wraps reports whether the line editor may have wrapped the line. It then moves the cursor between rows, which a
// logical line cannot follow.
func (t *TypedLine) wraps(l Line) bool {
	return l.Cols > 0 && t.At+t.size() >= l.Cols
}

// unfinishedEcho returns the length of the longest start of part that text ends with.
func unfinishedEcho(text []byte, part string) int {
	for n := min(len(text), len(part)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == part[:n] {
			return n
		}
	}
	return 0
}

// expire drops complete lines that were typed long before off.
func (e *Finder) expire(off uint64) {
	n := 0
	for n < len(e.Lines) && e.Lines[n].Since+maxEchoDistance < off {
		n++
	}
	if n > 0 {
		e.DropOldest(n)
	}
	for len(e.TypeAhead) > 0 && e.TypeAhead[0].Since+maxEchoDistance < off {
		e.TypeAhead = e.TypeAhead[1:]
	}
}

// Restore adds lines of an earlier owner.
func (e *Finder) Restore(lines []TypedLine) {
	e.Lines = lines
	for i := range lines {
		e.bytes += lines[i].size()
	}
}

// DropLine removes one line.
func (e *Finder) DropLine(i int) {
	e.bytes = max(0, e.bytes-e.Lines[i].size())
	e.Lines = append(e.Lines[:i], e.Lines[i+1:]...)
}

// DropOldest removes the n oldest lines.
func (e *Finder) DropOldest(n int) {
	for i := range e.Lines[:n] {
		e.bytes = max(0, e.bytes-e.Lines[i].size())
	}
	e.Lines = append(e.Lines[:0], e.Lines[n:]...)
}

// escape tracks typed escape sequences: keys that are not characters.
type escape uint8

const (
	escNone escape = iota
	escStart
	escCSI
	escSS3
)

// consumes processes a character and reports whether it belongs to a sequence.
func (s *escape) consumes(r rune) bool {
	switch {
	case r == 0x1b:
		*s = escStart
	case *s == escNone:
		return false
	case *s == escStart && r == '[':
		*s = escCSI
	case *s == escStart && r == 'O':
		*s = escSS3
	case *s == escCSI && r >= 0x20 && r < 0x40:
	default:
		*s = escNone
	}
	return true
}
