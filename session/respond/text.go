package respond

import (
	"bytes"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output is matched in windows. A window is a logical line, or a piece of a line that is longer than windowBytes. A piece
// starts with the last carryBytes of the piece before it, so that a match may cross pieces.
const (
	windowBytes = 16 << 10
	carryBytes  = maxPatternBytes
)

// lineText splits output into windows.
type lineText struct {
	decoder       plaintext.Writer // removes escape sequences and applies line editing
	moves         moveScanner
	lineNumber    uint64 // of the current line
	decoderOffset uint64 // output offset at which decoder started
	begin         uint64 // offset of the current line or piece
	end           uint64 // offset of the next byte
	carry         []byte // end of the piece before
	startDropped  bool   // the start of the current line is no longer in the window
	// answered is the answered start of the window. It is valid until the line ends: a program that redraws the line
	// does not prompt again.
	answered  []byte
	scratch   []byte // buffer for windows
	completed window // window being matched
}

// window is a text that is matched at once.
type window struct {
	text         []byte
	redacted     []byte // text with secrets masked, for redacted rules; nil: as text
	unread       int    // offset of the unread part; the part before was answered
	hasLineStart bool   // text starts at the start of its line
	isComplete   bool   // the line has ended
	hasLineEnd   bool   // text ends at the end of its line, or of its part so far
	number       uint64 // number of the line
	offset       uint64 // end of the window in the output
}

// echoLine returns the window in the form that echo detection needs.
func (w *window) echoLine(cols int, by EchoState) echodetect.Line {
	return echodetect.Line{Text: w.text, Number: w.number, Offset: w.offset, Complete: w.isComplete, Cols: cols, Editor: by == EchoApp}
}

// newLineText returns a lineText for output from offset off.
func newLineText(off uint64) *lineText {
	t := &lineText{decoderOffset: off, begin: off, end: off}
	t.decoder.MaxLine = windowBytes
	t.moves.offset = off
	return t
}

// write processes output and calls f for each window that it completes. f returns the answered length of the window. m
// is the movement of the cursor to other rows since the last call.
func (t *lineText) write(p []byte, f func(w *window, m cursorMove) int) {
	t.moves.scan(p)
	t.end += uint64(len(p))
	_, _ = t.decoder.Write(p) // never fails
	t.decoder.Lines(func(l plaintext.Line) {
		t.begin = t.decoderOffset + l.To
		t.completed = t.withCarry(l.Text, t.begin)
		t.completed.isComplete, t.completed.hasLineEnd = !l.More, !l.More
		read := f(&t.completed, t.moves.takeBefore(t.begin))
		if l.More {
			t.carryOver(t.completed.text, read)
		} else {
			t.endLine()
		}
	})
	t.moves.merge()
}

// isUnfinished reports whether the current line has text.
func (t *lineText) isUnfinished() bool { return t.begin < t.end || len(t.carry) > 0 }

// unfinished returns the window of the unfinished line. It is valid until the next call.
func (t *lineText) unfinished() window {
	t.scratch, _, _ = t.decoder.AppendUnfinished(append(t.scratch[:0], t.carry...))
	w := t.newWindow(t.scratch, t.end)
	w.hasLineEnd = true
	return w
}

// withCarry returns the window of a piece, with the end of the piece before it.
func (t *lineText) withCarry(piece []byte, off uint64) window {
	if len(t.carry) == 0 {
		return t.newWindow(piece, off)
	}
	t.scratch = append(append(t.scratch[:0], t.carry...), piece...)
	return t.newWindow(t.scratch, off)
}

// newWindow returns the window of a text. It marks the answered start of the text as read.
func (t *lineText) newWindow(line []byte, off uint64) window {
	w := window{text: line, hasLineStart: !t.startDropped, number: t.lineNumber, offset: off}
	switch {
	case bytes.HasPrefix(line, t.answered):
		w.unread = len(t.answered)
	case bytes.HasPrefix(t.answered, line): // all of this piece was answered
		w.unread = len(line)
	}
	return w
}

// markAnswered records that the first n bytes of the unfinished line were answered.
func (t *lineText) markAnswered(line []byte, n int) {
	t.answered = append(t.answered[:0], line[:n]...)
}

// carryOver keeps the end of a window for the next window of the same line. n bytes of the window were answered.
func (t *lineText) carryOver(line []byte, n int) {
	from := max(len(line)-carryBytes, 0)
	t.startDropped = t.startDropped || from > 0
	carry := bytes.Clone(line[from:])
	answered := bytes.Clone(carry[:max(n-from, 0)])
	if n == len(line) && len(t.answered) > n && bytes.HasPrefix(t.answered, line) {
		answered = append(answered, t.answered[n:]...)
	}
	t.carry, t.answered = carry, answered
}

// endLine starts a new line.
func (t *lineText) endLine() {
	t.lineNumber++
	t.startDropped = false
	t.carry, t.answered = t.carry[:0], t.answered[:0]
}
