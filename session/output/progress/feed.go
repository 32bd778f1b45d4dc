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
	// maxSamples is how often in one Write a line under way is looked at: a bar that is
	// redrawn a thousand times at once is not worth more.
	maxSamples = 32
)

// Feed makes a Machine's lines of raw output. Chunk boundaries do not matter: an incomplete line is read before it is
// redrawn, and when Settle reports that no more output came.
type Feed struct {
	m     *Machine
	plain plaintext.Writer
	base  uint64 // offset of the plain text's first byte
	held  []byte // possible start of a redraw
	// screens detects full-screen programs; what they draw on their own screen is not read.
	screens attach.Screens
	rest    []byte // scratch
}

// NewFeed returns a Feed for a machine, with output that starts at an offset.
func NewFeed(m *Machine, from uint64) *Feed {
	return &Feed{m: m, base: from, plain: plaintext.Writer{MaxLine: maxLine}}
}

// Write takes output that came at a time.
func (f *Feed) Write(p []byte, now time.Time) {
	if len(f.held) > 0 {
		p = append(f.held, p...)
	}
	whole := len(p) - partialRedraw(p)
	f.held = append([]byte(nil), p[whole:]...)
	for p = p[:whole]; len(p) > 0; {
		full := f.screens.Alternate()
		n := f.screens.Next(p)
		if full {
			f.base += uint64(n)
		} else {
			f.log(p[:n], now)
		}
		p = p[n:]
	}
}

// log takes output of the primary screen.
func (f *Feed) log(p []byte, now time.Time) {
	for range maxSamples {
		i := redraw(p)
		if i < 0 {
			break
		}
		f.write(p[:i], now)
		f.Settle(now)
		f.write(p[i:i+1], now)
		p = p[i+1:]
	}
	f.write(p, now)
}

// redraw finds where the redraw of a line starts: a carriage return, the erasure of the whole line, or a motion to
// another one.
func redraw(p []byte) int {
	cr := returns(p)
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
		params, final := control(p[i:])
		if final == 'A' || final == 'F' || final == 'K' && string(params) == "2" {
			return i
		}
	}
}

// returns finds a carriage return that ends no line.
func returns(p []byte) int {
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

// control splits a control sequence. final is 0 if p is not a complete one.
func control(p []byte) (params []byte, final byte) {
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

// maxHeld bounds what is held back, in bytes.
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

func (f *Feed) write(p []byte, now time.Time) {
	f.plain.Each(p, func(l plaintext.Line) { f.m.Line(string(l.Text), f.base+l.From, now) })
}

// Settle reads the incomplete line in its current form.
func (f *Feed) Settle(now time.Time) {
	var from uint64
	if f.rest, from, _ = f.plain.AppendUnfinished(f.rest[:0]); len(f.rest) > 0 {
		f.m.ReadUnfinished(string(f.rest[:min(len(f.rest), maxReadLine)]), f.base+from, now)
	}
}

// Skip continues with output at another offset. full states whether a full-screen program may run there.
func (f *Feed) Skip(to uint64, full bool) {
	f.plain, f.base, f.held = plaintext.Writer{MaxLine: maxLine}, to, nil
	f.screens.Assume(full)
}

// End reads the last line, which may lack a line end.
func (f *Feed) End(now time.Time) {
	if !f.screens.Alternate() {
		f.write(f.held, now)
	}
	f.held = nil
	var from uint64
	if f.rest, from, _ = f.plain.AppendUnfinished(f.rest[:0]); len(f.rest) > 0 {
		f.m.Line(string(f.rest), f.base+from, now)
	}
}
