package progress

import (
	"bytes"
	"time"

	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Bounds of a Feed.
const (
	maxLine = 8 << 10
	// maxSamples bounds how often one Write reads an incomplete line: a bar that is redrawn a thousand times at once is
	// read this many times.
	maxSamples = 32
)

// Feed splits raw output into lines for a Machine. Chunk boundaries do not matter: an incomplete line is read before it is
// redrawn, and when the caller of ReadUnfinished expects no more output for now.
type Feed struct {
	machine       *Estimator
	plain         plaintext.Writer
	base          uint64 // offset of the plain text's first byte
	partialRedraw []byte // bytes at the end that may start a redraw
	// screens detects full-screen programs; what they draw on their own screen is not read.
	screens attach.Screens
	scratch []byte // reused buffer
}

// NewFeed returns a Feed for a machine, with output that starts at an offset.
func NewFeed(m *Estimator, from uint64) *Feed {
	return &Feed{machine: m, base: from, plain: plaintext.Writer{MaxLine: maxLine}}
}

// Write feeds output that arrived at the given time.
func (f *Feed) Write(p []byte, now time.Time) {
	if len(f.partialRedraw) > 0 {
		p = append(f.partialRedraw, p...)
	}
	whole := len(p) - partialRedraw(p)
	f.partialRedraw = append([]byte(nil), p[whole:]...)
	for p = p[:whole]; len(p) > 0; {
		full := f.screens.IsAlternate()
		n := f.screens.ReadToSwitch(p)
		if full {
			f.base += uint64(n)
		} else {
			f.feedPrimary(p[:n], now)
		}
		p = p[n:]
	}
}

// feedPrimary feeds output of the primary screen.
func (f *Feed) feedPrimary(p []byte, now time.Time) {
	for range maxSamples {
		i := redrawStart(p)
		if i < 0 {
			break
		}
		f.feedText(p[:i], now)
		f.ReadUnfinished(now)
		f.feedText(p[i:i+1], now)
		p = p[i+1:]
	}
	f.feedText(p, now)
}

// redrawStart returns the offset where the redraw of a line starts, or -1: a carriage return, the erasure of the whole
// line, or a motion to another line.
func redrawStart(p []byte) int {
	cr := bareReturn(p)
	if cr >= 0 {
		p = p[:cr]
	}
	for from := 0; ; {
		i := bytes.IndexByte(p[from:], 0x1b)
		if i < 0 {
			return cr
		}
		i += from
		from = i + 1
		params, final := parseCSI(p[i:])
		if final == 'A' || final == 'F' || final == 'K' && string(params) == "2" {
			return i
		}
	}
}

// bareReturn returns the offset of a carriage return that ends no line, or -1.
func bareReturn(p []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(p[from:], '\r')
		if i < 0 {
			return -1
		}
		if from += i + 1; from == len(p) || p[from] != '\n' {
			return from - 1
		}
	}
}

// parseCSI splits a control sequence. final is 0 if p is not a complete one.
func parseCSI(p []byte) (params []byte, final byte) {
	if len(p) < 3 || p[1] != '[' {
		return nil, 0
	}
	for i := 2; i < len(p) && i < maxHeld; i++ {
		if !isDigit(p[i]) {
			return p[2:i], p[i]
		}
	}
	return nil, 0
}

// maxHeld bounds the bytes that are held back.
const maxHeld = 8

// partialRedraw returns how many bytes at the end of p may start a redraw.
func partialRedraw(p []byte) int {
	tail := p[max(len(p)-maxHeld, 0):]
	for n := 1; n <= len(tail); n++ {
		switch c := tail[len(tail)-n]; {
		case c == '\r' && n == 1, c == 0x1b && n == 1:
			return n
		case c == '[' && n < len(tail) && tail[len(tail)-n-1] == 0x1b:
			return n + 1
		case !isDigit(c):
			return 0
		}
	}
	return 0
}

// feedText passes the complete lines of p to the machine.
func (f *Feed) feedText(p []byte, now time.Time) {
	f.plain.Each(p, func(l plaintext.Line) { f.machine.AddLine(string(l.Text), f.base+l.From, now) })
}

// ReadUnfinished reads the incomplete line in its current form.
func (f *Feed) ReadUnfinished(now time.Time) {
	var from uint64
	if f.scratch, from, _ = f.plain.AppendUnfinished(f.scratch[:0]); len(f.scratch) > 0 {
		f.machine.ReadUnfinished(string(f.scratch[:min(len(f.scratch), maxReadLine)]), f.base+from, now)
	}
}

// Skip continues with output at another offset. full states whether a full-screen program may run there.
func (f *Feed) Skip(to uint64, full bool) {
	f.plain, f.base, f.partialRedraw = plaintext.Writer{MaxLine: maxLine}, to, nil
	f.screens.SetAlternate(full)
}

// Finish reads the last line, which may lack a line end.
func (f *Feed) Finish(now time.Time) {
	if !f.screens.IsAlternate() {
		f.feedText(f.partialRedraw, now)
	}
	f.partialRedraw = nil
	var from uint64
	if f.scratch, from, _ = f.plain.AppendUnfinished(f.scratch[:0]); len(f.scratch) > 0 {
		f.machine.AddLine(string(f.scratch), f.base+from, now)
	}
}
