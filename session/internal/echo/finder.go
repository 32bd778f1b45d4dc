package echo

import (
	"bytes"
	"unicode/utf8"
)

// Typed text is looked for in the line that was being written when it was typed, from
// where that line ended then, and in the lines after it. It is found there as it was
// typed, whatever way it came to the screen: by the terminal, by a line editor, or by
// one that draws the line anew for each key. Each line typed is found once.

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
	// Again are lines that the terminal echoed before the program read them. A line
	// editor that finds them when it starts shows them once more, after its prompt.
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

// Shown is who shows what is typed: neither of them for a password.
type Shown struct {
	Tty bool // the terminal
	App bool // the program, if it likes
}

// Type takes what was typed while the terminal echoed, or the program may have: behind at bytes of a
// line of output, which has a number, when the output stood at off.
func (e *Finder) Type(data []byte, by Shown, at int, line, off uint64, secret bool) {
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

// open is the line being typed.
func (e *Finder) open(at int, line, off uint64) *TypedLine {
	if n := len(e.Lines); n > 0 && !e.Lines[n-1].Enter {
		return &e.Lines[n-1]
	}
	e.Lines = append(e.Lines, TypedLine{Parts: []string{""}, At: at, Line: line, Since: off})
	return &e.Lines[len(e.Lines)-1]
}

// Follow begins a new part of the line being typed unless line ends with what was typed
// of it: something else was printed in between, or its echo is still to come.
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

// cut begins a new part: what follows may stand elsewhere.
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

// Mask is where text is echo, in ascending order. What is found in a complete line is
// not looked for again.
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

// maskAgain is where a line stands that is shown for the second time: at the end, after
// a prompt. Those before it are not shown any more.
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

// Find is where a typed line stands in a line of output from from on.
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

// unfinishedEcho is how much of the beginning of part ends text.
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

// Take goes on with lines.
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
