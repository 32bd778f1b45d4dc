package wait

import (
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// lines splits output into lines of text for matching.
type lines struct {
	plain   plaintext.Writer
	scratch []byte // scratch buffer
}

// newLines returns a splitter at the start of a line.
func newLines() *lines { return &lines{} }

// write calls line for each line that p completes.
func (l *lines) write(p []byte, line func(string)) {
	l.plain.Each(p, func(pl plaintext.Line) { line(string(pl.Text)) })
}

// current calls line for the unfinished line, if any: a prompt has no newline.
func (l *lines) current(line func(string)) {
	if l.scratch, _, _ = l.plain.AppendUnfinished(l.scratch[:0]); len(l.scratch) > 0 {
		line(string(l.scratch))
	}
}
