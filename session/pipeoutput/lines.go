package pipeoutput

import (
	"bytes"
	"unicode/utf8"
)

// Bounds of text within binary data. Noise has lines of a few characters by chance.
const (
	leastText  = 8 // characters of lines in succession
	mostlyText = 4 // this fraction of text: then every text line counts
)

// lines finds text lines in data judged binary: a program may print some binary bytes and then an error message. The
// zero value is at the start of a line.
type lines struct {
	wrong bool // the line under way has something that is no text
	shown bool // and its beginning was taken for text
	cut   bool // it ended within a character
}

// text records bytes that passed without a check.
func (l *lines) text(p []byte) {
	if len(p) > 0 {
		*l = lines{shown: p[len(p)-1] != '\n'}
	}
}

// split calls f for the stretches of p in order: those that are text, lines as wholes, and those that are not.
func (l *lines) split(p []byte, f func(part []byte, text bool)) {
	least := leastText
	if l.count(p)*mostlyText >= len(p) {
		least = 1
	}
	for len(p) > 0 {
		run, characters := 0, 0
		for run < len(p) {
			line := lineOf(p[run:])
			if !l.clean(line) {
				break
			}
			run, characters = run+len(line), characters+len(line)-bytes.Count(line, []byte{'\r'})-bytes.Count(line, []byte{'\n'})
		}
		if run > 0 {
			text := characters >= least || l.shown
			f(p[:run], text)
			l.shown = text && p[run-1] != '\n'
			p = p[run:]
			continue
		}
		line := lineOf(p)
		p = p[len(line):]
		ends := line[len(line)-1] == '\n'
		l.wrong, l.cut = !ends, false
		if l.shown && ends { // the following text is a new line
			f(line[:len(line)-1], false)
			line = line[len(line)-1:]
		}
		f(line, l.shown && ends)
		l.shown = l.shown && !ends
	}
}

// count returns how many bytes of p are text lines.
func (l lines) count(p []byte) (n int) {
	for len(p) > 0 {
		line := lineOf(p)
		p = p[len(line):]
		if l.clean(line) {
			n += len(line)
		} else {
			l.wrong = line[len(line)-1] != '\n'
		}
	}
	return n
}

func lineOf(p []byte) []byte {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return p[:i+1]
	}
	return p
}

// clean reports whether a line is text so far.
func (l *lines) clean(line []byte) bool {
	if l.wrong {
		return false
	}
	i := 0
	for l.cut && i < min(len(line), utf8.UTFMax-1) && !utf8.RuneStart(line[i]) { // the rest of a character
		i++
	}
	cut := false
	for i < len(line) {
		switch c := line[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(line[i:])
			if r == utf8.RuneError && n == 1 {
				if cut = !utf8.FullRune(line[i:]); !cut {
					return false
				}
			}
			if r < 0xa0 {
				return false
			}
			i += n
			if cut {
				i = len(line)
			}
		case c == 0x1b:
			n := csi(line[i:])
			if n == 0 {
				return false
			}
			i += n
		case c >= ' ' && c != 0x7f, c == '\t', c == '\r', c == '\n', c == '\b', c == '\a':
			i++
		default:
			return false
		}
	}
	l.cut = cut
	return true
}

// csi returns the length of the complete control sequence at the start of p (ECMA-48 §5.4), or 0. Other sequences may
// be long, and random data with their start would swallow the following text.
func csi(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	for i, c := range p[2:] {
		switch {
		case c >= 0x40 && c <= 0x7e:
			return i + 3
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}
