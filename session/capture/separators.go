package capture

import (
	"bytes"
	"unicode/utf8"
)

// A NUL is what separates fields for `env -0` and `find -print0`, and padding elsewhere. One behind text reads as the end of a
// line, so that fields stay apart; all others show nothing. Output that is text but for its NULs is no binary data, however
// many there are.

// separators makes ends of lines of NULs behind text. The zero value is at the beginning of a stream.
type separators struct {
	text  bool // the last byte was text
	ended bool // a NUL ended a line, and nothing but ends of lines came since
	odd   bool // something came that is neither text nor a NUL
}

// Bounds of fields: text in 16-bit characters has a NUL behind each, and is none.
const (
	fieldBytes = 3 // of text, for each so many fields
	fields     = 2
)

// inFields reports whether p, which was judged binary, is text with NULs between, as all was since the stream was last text.
func (s *separators) inFields(p []byte) bool {
	text, ends := 0, 0
	for i := 0; i < len(p) && !s.odd; {
		switch c := p[i]; {
		case c == 0:
			if i > 0 && p[i-1] != 0 {
				ends++
			}
			i++
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(p[i:])
			wrong := r == utf8.RuneError && n == 1 && utf8.FullRune(p[i:]) && i >= utf8.UTFMax-1 // the rest of one before p
			s.odd = wrong || r < 0xa0
			i, text = i+n, text+n
			continue
		case c < ' ' && !controls[c], c == 0x7f:
			s.odd = true
		}
		i, text = i+1, text+1
	}
	return !s.odd && text*fields >= ends*fieldBytes
}

// controls are the control characters of text on a terminal.
var controls = [' ']bool{'\a': true, '\b': true, '\t': true, '\n': true, '\r': true, 0x0e: true, 0x0f: true, 0x1b: true}

// apply replaces NULs behind text in place, and an end of a line right behind such a NUL by a NUL. It returns how many
// NULs came that show nothing.
func (s *separators) apply(p []byte) (none int) {
	if !s.ended && bytes.IndexByte(p, 0) < 0 {
		s.text = len(p) > 0 && endsInText(p)
		return 0
	}
	for i, c := range p {
		switch {
		case c == 0 && s.text:
			p[i], s.text, s.ended = '\n', false, true
		case c == 0:
			none++
		case s.ended && (c == '\r' || c == '\n'):
			p[i], s.ended = 0, c == '\r'
		default:
			s.ended = false
			s.text = i+1 < len(p) && p[i+1] != 0 || endsInText(p[:i+1])
		}
	}
	return none
}

// maxSequence bounds how far back a control sequence is looked for.
const maxSequence = 32

// endsInText reports whether p ends in a character that shows, which is not the end of an escape sequence.
func endsInText(p []byte) bool {
	if c := p[len(p)-1]; c <= ' ' || c == 0x7f {
		return c == ' '
	}
	near := p[max(0, len(p)-maxSequence):]
	i := bytes.LastIndexByte(near, 0x1b)
	return i < 0 || i+2 < len(near) && csi(near[i:]) != len(near)-i
}
