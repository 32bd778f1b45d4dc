package pipeoutput

import (
	"bytes"
	"unicode/utf8"
)

// A NUL separates fields in output of `env -0` and `find -print0`, and is padding elsewhere. A NUL behind text is shown as the end
// of a line, so that fields stay apart; all others show nothing. Text with NULs in it is not binary data, for any number of them.

// separators turns NULs behind text into ends of lines. The zero value is for the start of a stream.
type separators struct {
	text  bool // the last byte was text
	ended bool // a NUL ended a line, and only ends of lines came since
	odd   bool // a byte came that is neither text nor a NUL
}

// Text in fields has at least ratioBytes bytes of text for each ratioFields NULs behind text. Text in 16-bit characters, with a NUL
// behind each character, has fewer.
const (
	ratioBytes  = 3
	ratioFields = 2
)

// inFields reports whether p, which was judged binary, and all output since the last text are text with NULs in between.
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
			wrong := r == utf8.RuneError && n == 1 && utf8.FullRune(p[i:]) && i >= utf8.UTFMax-1 // at the start of p it may be the rest of a character
			s.odd = wrong || r < 0xa0
			i, text = i+n, text+n
			continue
		case c < ' ' && !controls[c], c == 0x7f:
			s.odd = true
		}
		i, text = i+1, text+1
	}
	return !s.odd && text*ratioFields >= ends*ratioBytes
}

// controls are the control characters of text on a terminal.
var controls = [' ']bool{'\a': true, '\b': true, '\t': true, '\n': true, '\r': true, 0x0e: true, 0x0f: true, 0x1b: true}

// apply replaces NULs behind text by ends of lines, and an end of a line right behind such a NUL by a NUL. It returns the
// number of NULs that show nothing.
func (s *separators) apply(p []byte) (unshown int) {
	if !s.ended && bytes.IndexByte(p, 0) < 0 {
		s.text = len(p) > 0 && endsInText(p)
		return 0
	}
	for i, c := range p {
		switch {
		case c == 0 && s.text:
			p[i], s.text, s.ended = '\n', false, true
		case c == 0:
			unshown++
		case s.ended && (c == '\r' || c == '\n'):
			p[i], s.ended = 0, c == '\r'
		default:
			s.ended = false
			s.text = i+1 < len(p) && p[i+1] != 0 || endsInText(p[:i+1])
		}
	}
	return unshown
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
