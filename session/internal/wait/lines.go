package wait

import (
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// lines turns output into lines of text for matching.
type lines struct {
	plain plaintext.Writer
	rest  []byte // scratch
}

func newLines() *lines { return &lines{} }

// write takes output and hands on every line that it completes.
func (l *lines) write(p []byte, line func(string)) {
	l.plain.Each(p, func(pl plaintext.Line) { line(string(pl.Text)) })
}

// current hands on the unfinished line, if there is one: a prompt has no newline.
func (l *lines) current(line func(string)) {
	if l.rest, _, _ = l.plain.Rest(l.rest[:0]); len(l.rest) > 0 {
		line(string(l.rest))
	}
}
