package respond

import (
	"bytes"
	"unicode/utf8"
)

// EchoState is who shows what is typed.
type EchoState string

// Echo states, as the terminal's settings tell.
const (
	EchoOn  EchoState = "on"  // the terminal: ECHO
	EchoOff EchoState = "off" // nobody: ICANON without ECHO, as for a password
	EchoApp EchoState = "app" // the program, if it likes: neither, as in a line editor
)

// Typed text is looked for in the line that was being written when it was typed, from
// where that line ended then, and in the lines after it. It is found there as it was
// typed, whatever way it came to the screen: by the terminal, by a line editor, or by
// one that draws the line anew for each key. Each line typed is found once.

// typedLine is what was typed up to Enter, or is being typed.
type typedLine struct {
	Parts  []string `json:"parts"`  // text between keys that move or edit
	At     int      `json:"at"`     // bytes of the line that stood there before
	Line   uint64   `json:"line"`   // number of that line
	Since  uint64   `json:"since"`  // offset of the output then
	Enter  bool     `json:"enter"`  // it is complete
	Tty    bool     `json:"tty"`    // the terminal echoed it
	Secret bool     `json:"secret"` // must not be written down
}

// echoes are the typed lines whose echo has not been seen completely.
type echoes struct {
	lines []typedLine
	// again are lines that the terminal echoed before the program read them. A line
	// editor that finds them when it starts shows them once more, after its prompt.
	again []typedLine
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

// typed takes what was typed while the terminal echoed, or the program may have.
func (e *echoes) typed(data []byte, state EchoState, at int, line, off uint64, secret bool) {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		l := e.open(at, line, off)
		l.Secret = l.Secret || secret
		e.key(l, r, string(data[:n]), state)
		if l.Enter {
			at = 0
		}
		data = data[n:]
	}
}

// open is the line being typed.
func (e *echoes) open(at int, line, off uint64) *typedLine {
	if n := len(e.lines); n > 0 && !e.lines[n-1].Enter {
		return &e.lines[n-1]
	}
	e.lines = append(e.lines, typedLine{Parts: []string{""}, At: at, Line: line, Since: off})
	return &e.lines[len(e.lines)-1]
}

// follow begins a new part of the line being typed unless line ends with what was typed
// of it: something else was printed in between, or its echo is still to come.
func (e *echoes) follow(line []byte) {
	if n := len(e.lines); n > 0 && !e.lines[n-1].Enter {
		t := &e.lines[n-1]
		if !bytes.HasSuffix(line, []byte(t.Parts[len(t.Parts)-1])) {
			t.cut()
		}
	}
}

// key adds a character to the line being typed.
func (e *echoes) key(l *typedLine, r rune, text string, state EchoState) {
	l.Tty = state == EchoOn
	switch {
	case e.esc.swallows(r) && state == EchoApp:
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
		l.add("^" + string(r+'@'))
		l.cut()
	case e.bytes+len(text) <= echoPending:
		e.bytes += len(text)
		l.add(text)
	}
}

func (l *typedLine) add(s string) {
	last := &l.Parts[len(l.Parts)-1]
	if len(*last)+len(s) > echoPart {
		l.Parts = append(l.Parts, s)
		return
	}
	*last += s
}

// cut begins a new part: what follows may stand elsewhere.
func (l *typedLine) cut() {
	if l.Parts[len(l.Parts)-1] != "" {
		l.Parts = append(l.Parts, "")
	}
}

func (l *typedLine) erase() {
	last := &l.Parts[len(l.Parts)-1]
	_, n := utf8.DecodeLastRuneInString(*last)
	*last = (*last)[:len(*last)-n]
}

func (l *typedLine) size() int {
	n := 0
	for _, p := range l.Parts {
		n += len(p)
	}
	return n
}

// span is a stretch of a text.
type span struct{ from, to int }

// outputLine is a line, or a window of one, in which echo is looked for.
type outputLine struct {
	text     []byte
	number   uint64
	offset   uint64 // of the output that ends it
	complete bool
	cols     int  // of the screen
	editor   bool // a line editor may be at work
}

// pending reports whether there is anything to look for.
func (e *echoes) pending() bool { return len(e.lines) > 0 || len(e.again) > 0 }

// mask is where text is echo, in ascending order. What is found in a complete line is
// not looked for again.
func (e *echoes) mask(l outputLine) (masked []span) {
	e.expire(l.offset)
	from, drop := 0, 0
	for i := range e.lines[:min(len(e.lines), echoLines)] {
		t := &e.lines[i]
		if t.Line == l.number {
			from = max(from, min(t.At, len(l.text)))
		}
		spans, end := t.find(l, from)
		if len(spans) == 0 {
			continue
		}
		masked, from = append(masked, spans...), end
		if l.complete {
			drop = i + 1
		}
	}
	if len(masked) == 0 && l.editor {
		masked = e.maskAgain(l)
	}
	if drop > 0 {
		e.remember(drop)
		e.forget(drop)
	}
	return masked
}

// remember keeps lines that the terminal itself echoed.
func (e *echoes) remember(n int) {
	for _, t := range e.lines[:n] {
		if t.Tty && t.Enter && len(t.Parts) == 1 && t.Parts[0] != "" {
			e.again = append(e.again, t)
		}
	}
	if over := len(e.again) - echoAgain; over > 0 {
		e.again = append(e.again[:0], e.again[over:]...)
	}
}

// maskAgain is where a line stands that is shown for the second time: at the end, after
// a prompt. Those before it are not shown any more.
func (e *echoes) maskAgain(l outputLine) []span {
	for i, t := range e.again {
		at := len(l.text) - len(t.Parts[0])
		if at > 0 && string(l.text[at:]) == t.Parts[0] {
			if l.complete {
				e.again = append(e.again[:0], e.again[i+1:]...)
			}
			return []span{{at, len(l.text)}}
		}
		if n := unfinishedEcho(l.text, t.Parts[0]); n > 0 && !l.complete {
			return []span{{len(l.text) - n, len(l.text)}}
		}
	}
	return nil
}

// find is where a typed line stands in a line of output from from on.
func (t *typedLine) find(l outputLine, from int) (found []span, end int) {
	end = from
	missing := false
	for _, part := range t.Parts {
		if part == "" {
			continue
		}
		at := bytes.Index(l.text[end:], []byte(part))
		if at < 0 {
			if n := unfinishedEcho(l.text[end:], part); n > 0 && !l.complete {
				found = append(found, span{len(l.text) - n, len(l.text)})
				return found, len(l.text)
			}
			missing = true
			continue
		}
		found = append(found, span{end + at, end + at + len(part)})
		end += at + len(part)
	}
	if missing && t.Line == l.number && t.wraps(l) {
		return []span{{0, len(l.text)}}, len(l.text)
	}
	return found, end
}

// wraps reports whether the line editor may have wrapped the line: it then moves about
// in rows, which a logical line cannot follow.
func (t *typedLine) wraps(l outputLine) bool {
	return l.cols > 0 && t.At+t.size() >= l.cols
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
func (e *echoes) expire(off uint64) {
	n := 0
	for n < len(e.lines) && e.lines[n].Since+echoReach < off {
		n++
	}
	if n > 0 {
		e.forget(n)
	}
	for len(e.again) > 0 && e.again[0].Since+echoReach < off {
		e.again = e.again[1:]
	}
}

func (e *echoes) forget(n int) {
	for i := range e.lines[:n] {
		e.bytes = max(0, e.bytes-e.lines[i].size())
	}
	e.lines = append(e.lines[:0], e.lines[n:]...)
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
