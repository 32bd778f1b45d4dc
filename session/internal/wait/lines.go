package wait

import (
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// lines splits output into lines of text for matching.
type lines struct {
	plain plaintext.Writer
	rest  []byte // scratch
}

func newLines() *lines { return &lines{} }

// write calls line for each line that p completes.
func (l *lines) write(p []byte, line func(string)) {
	l.plain.Each(p, func(pl plaintext.Line) { line(string(pl.Text)) })
}

// current calls line for the unfinished line, if any: a prompt has no newline.
func (l *lines) current(line func(string)) {
	if l.rest, _, _ = l.plain.AppendUnfinished(l.rest[:0]); len(l.rest) > 0 {
		line(string(l.rest))
	}
}
