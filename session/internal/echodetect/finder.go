package echodetect

import (
	"bytes"
	"unicode/utf8"
)

// Finder searches typed text in the line that was being written at the time, behind its end at the time, and in later
// lines. It finds the text however it was drawn: by the terminal, by a line editor, or by one that redraws the line for
// each key. Each typed line is found once.

// TypedLine is what was typed up to Enter, or is being typed. It is written down as it is.
type TypedLine struct {
	Parts  []string `json:"parts"`  // text between keys that move or edit
	At     int      `json:"at"`     // bytes of the line that stood there before
	Line   uint64   `json:"line"`   // number of that line
	Since  uint64   `json:"since"`  // offset of the output then
	Enter  bool     `json:"enter"`  // it is complete
	Tty    bool     `json:"tty"`    // the terminal echoed it
	Secret bool     `json:"secret"` // must not be written down
}

// Finder finds typed lines whose echo has not been seen completely.
type Finder struct {
	Lines []TypedLine // the newest last
	// Again holds lines that the terminal echoed before the program read them. A line editor that reads them at its
	// start shows them a second time, after its prompt.
	Again []TypedLine
	bytes int
	esc   escape // in a typed sequence
}

// Bounds. An echo comes soon after what was typed, or not at all.
const (
	echoReach   = 16 << 10 // bytes of output
	echoLines   = 8        // lines looked for in one line of output
	echoPending = 1 << 20  // bytes waited for
	echoPart    = 256      // bytes of a part, so that no part outgrows a window
	echoAgain   = 16       // lines that may be shown twice
)

// Shown reports which side may show typed text: neither does for a password.
type Shown struct {
	Tty bool // the program may
	App bool // the program, if it likes
}

// RecordTyped records typed input that may be echoed. by is the side that may echo it. at is the number of bytes of the current
// output line before it, line the number of that line, and off the output offset at that time.
func (e *Finder) RecordTyped(data []byte, by Shown, at int, line, off uint64, secret bool) {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		l := e.open(at, line, off)
		l.Secret = l.Secret || secret
		e.key(l, r, string(data[:n]), by)
		if l.Enter {
			at = 0
		}
		data = data[n:]
	}
}

// open returns the line that is being typed.
func (e *Finder) open(at int, line, off uint64) *TypedLine {
	if n := len(e.Lines); n > 0 && !e.Lines[n-1].Enter {
		return &e.Lines[n-1]
	}
	e.Lines = append(e.Lines, TypedLine{Parts: []string{""}, At: at, Line: line, Since: off})
	return &e.Lines[len(e.Lines)-1]
}

// Follow starts a new part of the line that is being typed unless line ends with the typed text: other output came in
// between, or the echo has not come yet.
func (e *Finder) Follow(line []byte) {
	if n := len(e.Lines); n > 0 && !e.Lines[n-1].Enter {
		t := &e.Lines[n-1]
		if !bytes.HasSuffix(line, []byte(t.Parts[len(t.Parts)-1])) {
			t.cut()
		}
	}
}

// key adds a character to the line being typed.
func (e *Finder) key(l *TypedLine, r rune, text string, by Shown) {
	l.Tty = by.Tty
	switch {
	case e.esc.swallows(r) && by.App:
		l.cut()
	case r == '\r' || r == '\n':
		l.Enter = true
	case r == 0x7f || r == '\b':
		l.erase()
	case r == 0x15: // ^U
		l.Parts = l.Parts[:1]
		l.Parts[0] = ""
	case r < 0x20 && r != '\t':
		l.cut()
		l.add(string(appendCaret(nil, byte(r))))
		l.cut()
	case e.bytes+len(text) <= echoPending:
		e.bytes += len(text)
		l.add(text)
	}
}

func (l *TypedLine) add(s string) {
	last := &l.Parts[len(l.Parts)-1]
	if len(*last)+len(s) > echoPart {
		l.Parts = append(l.Parts, s)
		return
	}
	*last += s
}

// cut starts a new part: the text after it may be elsewhere.
func (l *TypedLine) cut() {
	if l.Parts[len(l.Parts)-1] != "" {
		l.Parts = append(l.Parts, "")
	}
}

func (l *TypedLine) erase() {
	last := &l.Parts[len(l.Parts)-1]
	_, n := utf8.DecodeLastRuneInString(*last)
	*last = (*last)[:len(*last)-n]
}

func (l *TypedLine) size() int {
	n := 0
	for _, p := range l.Parts {
		n += len(p)
	}
	return n
}

// Span is a stretch of a text.
type Span struct{ From, To int }

// Line is a line, or a window of one, in which echo is looked for.
type Line struct {
	Text     []byte
	Number   uint64
	Offset   uint64 // of the output that ends it
	Complete bool
	Cols     int  // of the screen
	Editor   bool // a line editor may be at work
}

// Pending reports whether there is anything to look for.
func (e *Finder) Pending() bool { return len(e.Lines) > 0 || len(e.Again) > 0 }

// Mask returns where text is echo, in ascending order. Text found in a complete line is not searched again.
func (e *Finder) Mask(l Line) (masked []Span) {
	e.expire(l.Offset)
	from, drop := 0, 0
	for i := range e.Lines[:min(len(e.Lines), echoLines)] {
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
		masked = e.maskAgain(l)
	}
	if drop > 0 {
		e.remember(drop)
		e.Forget(drop)
	}
	return masked
}

// remember keeps lines that the terminal itself echoed.
func (e *Finder) remember(n int) {
	for _, t := range e.Lines[:n] {
		if t.Tty && t.Enter && len(t.Parts) == 1 && t.Parts[0] != "" {
			e.Again = append(e.Again, t)
		}
	}
	if over := len(e.Again) - echoAgain; over > 0 {
		e.Again = append(e.Again[:0], e.Again[over:]...)
	}
}

// maskAgain returns the position of a line's second echo: at the end, after a prompt. Lines before it will not be shown
// again.
func (e *Finder) maskAgain(l Line) []Span {
	for i, t := range e.Again {
		at := len(l.Text) - len(t.Parts[0])
		if at > 0 && string(l.Text[at:]) == t.Parts[0] {
			if l.Complete {
				e.Again = append(e.Again[:0], e.Again[i+1:]...)
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

// wraps reports whether the line editor may have wrapped the line: it then moves about
// in rows, which a logical line cannot follow.
func (t *TypedLine) wraps(l Line) bool {
	return l.Cols > 0 && t.At+t.size() >= l.Cols
}

// unfinishedEcho returns how many bytes of the start of part text ends with.
func unfinishedEcho(text []byte, part string) int {
	for n := min(len(text), len(part)-1); n > 0; n-- {
		if string(text[len(text)-n:]) == part[:n] {
			return n
		}
	}
	return 0
}

// expire forgets complete lines that were typed long before off.
func (e *Finder) expire(off uint64) {
	n := 0
	for n < len(e.Lines) && e.Lines[n].Since+echoReach < off {
		n++
	}
	if n > 0 {
		e.Forget(n)
	}
	for len(e.Again) > 0 && e.Again[0].Since+echoReach < off {
		e.Again = e.Again[1:]
	}
}

// Take continues with earlier lines.
func (e *Finder) Take(lines []TypedLine) {
	e.Lines = lines
	for i := range lines {
		e.bytes += lines[i].size()
	}
}

// Drop forgets one line.
func (e *Finder) Drop(i int) {
	e.bytes = max(0, e.bytes-e.Lines[i].size())
	e.Lines = append(e.Lines[:i], e.Lines[i+1:]...)
}

// Forget forgets the oldest lines.
func (e *Finder) Forget(n int) {
	for i := range e.Lines[:n] {
		e.bytes = max(0, e.bytes-e.Lines[i].size())
	}
	e.Lines = append(e.Lines[:0], e.Lines[n:]...)
}

// escape follows typed escape sequences: the keys that are not characters.
type escape uint8

const (
	escNone escape = iota
	escStart
	escCSI
	escSS3
)

// swallows takes a character and reports whether it belongs to a sequence.
func (s *escape) swallows(r rune) bool {
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
