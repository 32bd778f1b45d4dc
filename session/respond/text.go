package respond

import (
	"bytes"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output is matched in windows: a logical line, or a piece of one that is longer than windowBytes, with the end of the
// piece before it, so that a match may cross pieces.
const (
	windowBytes = 16 << 10
	carryBytes  = maxPatternBytes
)

// text splits output into windows.
type text struct {
	plain  plaintext.Writer
	moves  moves
	number uint64 // of the current line
	base   uint64 // offset that plain counts from
	begin  uint64 // offset of its start, or of its current piece
	end    uint64 // offset of the next byte
	carry  []byte // end of the piece before
	cut    bool   // text of the current line before the window was let go
	// read is the answered start of the window. It is valid until the line ends: a program that redraws the line does
	// not prompt again.
	read []byte
	line []byte // scratch
	win  window // the one being matched
}

// window is a text that is matched at once.
type window struct {
	text     []byte
	shown    []byte // what agents' rules match: text with secrets masked; nil: as text
	from     int    // what is before was answered
	first    bool
	complete bool // the line is complete
	last     bool // its end is the line's, or all there is of it yet
	number   uint64
	offset   uint64 // of the output that made it
}

// line returns the window for the search for echo.
func (w *window) line(cols int, by EchoState) echodetect.Line {
	return echodetect.Line{Text: w.text, Number: w.number, Offset: w.offset, Complete: w.complete, Cols: cols, Editor: by == EchoApp}
}

func newText(off uint64) *text {
	t := &text{base: off, begin: off, end: off}
	t.plain.MaxLine = windowBytes
	t.moves.at = off
	return t
}

// write processes output and calls f for each window that it completes. f returns the answered length of the window. m
// is the movement of the cursor to other rows since the last call.
func (t *text) write(p []byte, f func(w *window, m move) int) {
	t.moves.scan(p)
	t.end += uint64(len(p))
	_, _ = t.plain.Write(p) // never fails
	t.plain.Lines(func(l plaintext.Line) {
		t.begin = t.base + l.To
		t.win = t.window(l.Text, t.begin)
		t.win.complete, t.win.last = !l.More, !l.More
		read := f(&t.win, t.moves.takeBefore(t.begin))
		if l.More {
			t.keepEnd(t.win.text, read)
		} else {
			t.endLine()
		}
	})
	t.moves.merge()
}

// isUnfinished reports whether there is an unfinished line.
func (t *text) isUnfinished() bool { return t.begin < t.end || len(t.carry) > 0 }

// current returns the unfinished line.
func (t *text) current() window {
	t.line, _, _ = t.plain.AppendUnfinished(append(t.line[:0], t.carry...))
	w := t.windowOf(t.line, t.end)
	w.last = true
	return w
}

func (t *text) window(piece []byte, off uint64) window {
	if len(t.carry) == 0 {
		return t.windowOf(piece, off)
	}
	t.line = append(append(t.line[:0], t.carry...), piece...)
	return t.windowOf(t.line, off)
}

func (t *text) windowOf(line []byte, off uint64) window {
	w := window{text: line, first: !t.cut, number: t.number, offset: off}
	switch {
	case bytes.HasPrefix(line, t.read):
		w.from = len(t.read)
	case bytes.HasPrefix(t.read, line): // a piece of a text that was answered as a whole
		w.from = len(line)
	}
	return w
}

// markAnswered records that the first n bytes of the unfinished line were answered.
func (t *text) markAnswered(line []byte, n int) {
	t.read = append(t.read[:0], line[:n]...)
}

// keepEnd keeps the end of a window for the next one.
func (t *text) keepEnd(line []byte, read int) {
	from := max(len(line)-carryBytes, 0)
	t.cut = t.cut || from > 0
	carry := bytes.Clone(line[from:])
	answered := bytes.Clone(carry[:max(read-from, 0)])
	if read == len(line) && len(t.read) > read && bytes.HasPrefix(t.read, line) {
		answered = append(answered, t.read[read:]...)
	}
	t.carry, t.read = carry, answered
}

func (t *text) endLine() {
	t.number++
	t.cut = false
	t.carry, t.read = t.carry[:0], t.read[:0]
}
