//go:build unix

package excerpt

import (
	"bytes"
	"context"

	"github.com/longterm-dev/longterm/session"
)

// eachLineMax bounds the part of a line that EachLine returns, in bytes.
const eachLineMax = 8 << 10

// EachLine calls f with each line of a range of output, as text without its end, valid during the call. It reports whether it
// left a part out: the middle of output over exactBytes, or what is not in the journal.
func EachLine(ctx context.Context, s *session.Session, from, to uint64, hide bool, f func(line []byte)) (partial bool, err error) {
	l := NewLineReader(s, from, hide, func(line []byte, _ uint64) { f(line) })
	err = l.Read(ctx, to)
	return l.Finish(), err
}

// LineReader calls a function with each line of output, also while the program prints. Only one goroutine may use it
// at a time.
type LineReader struct {
	r    *plainReader
	feed *lineFeed
}

// NewLineReader returns a reader of a session's output from an offset. f gets each line with its offset; line is
// valid during the call.
func NewLineReader(s *session.Session, from uint64, hide bool, f func(line []byte, at uint64)) *LineReader {
	l := &LineReader{r: newPlainReader(s, from, Limits{Hide: hide}), feed: &lineFeed{f: f}}
	l.r.budget = l.feed
	return l
}

// Offset returns the offset of the next byte.
func (l *LineReader) Offset() uint64 { return l.r.at }

// Read passes on the complete lines up to an offset. If the range exceeds exactBytes, its middle is skipped.
func (l *LineReader) Read(ctx context.Context, to uint64) error {
	l.r.buf = make([]byte, min(pieceBytes, max(1, to-min(l.r.at, to)))) // released after the call: the next one may come much later
	defer func() { l.r.buf, l.r.spare = nil, nil }()
	defer l.r.awaitPrefetch()
	return l.r.read(ctx, to)
}

// Skip continues at an offset without the output before it.
func (l *LineReader) Skip(to uint64) {
	l.r.restart(to)
	l.r.mask.Restart()
	l.r.at = to
}

// Finish passes on an unfinished last line, and reports whether a part was skipped.
func (l *LineReader) Finish() (partial bool) {
	l.r.flushTail()
	l.feed.end()
	return l.feed.partial
}

// lineFeed is a gatherer that passes lines on and stores nothing.
type lineFeed struct {
	f       func(line []byte, at uint64)
	pieces  []byte // of a line that is not complete
	at      uint64 // its offset
	partial bool
}

// Add implements gatherer.
func (g *lineFeed) Add(text []byte, from, _ uint64, more bool) {
	if len(g.pieces) == 0 {
		g.at = from
	}
	if !more && len(g.pieces) == 0 {
		g.f(text[:min(len(text), eachLineMax)], g.at)
		return
	}
	g.pieces = append(g.pieces, text[:min(len(text), eachLineMax-len(g.pieces))]...)
	if !more {
		g.end()
	}
}

// Skip implements gatherer.
func (g *lineFeed) Skip(int, int, uint64, uint64) { g.partial = true }

// AddGap implements gatherer.
func (g *lineFeed) AddGap(string, uint64) { g.partial = true }

// end passes on an unfinished last line.
func (g *lineFeed) end() {
	if len(bytes.TrimSpace(g.pieces)) > 0 {
		g.f(g.pieces, g.at)
	}
	g.pieces = g.pieces[:0]
}
