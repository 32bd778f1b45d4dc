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
	g := &lineFeed{f: f}
	r := newPlainReader(s, from, Limits{Hide: hide})
	r.budget = g
	r.buf = make([]byte, min(pieceBytes, max(1, to-min(from, to))))
	defer r.awaitPrefetch()
	err = r.read(ctx, to)
	r.flushTail()
	g.end()
	return g.partial, err
}

// lineFeed is a gatherer that passes lines on and stores nothing.
type lineFeed struct {
	f       func([]byte)
	pieces  []byte // of a line that is not complete
	partial bool
}

// Add implements gatherer.
func (g *lineFeed) Add(text []byte, _, _ uint64, more bool) {
	if !more && len(g.pieces) == 0 {
		g.f(text[:min(len(text), eachLineMax)])
		return
	}
	g.pieces = append(g.pieces, text[:min(len(text), eachLineMax-len(g.pieces))]...)
	if !more {
		g.end()
	}
}

// Skip implements gatherer.
func (g *lineFeed) Skip(int, int, uint64, uint64) { g.partial = true }

// Gap implements gatherer.
func (g *lineFeed) Gap(string, uint64) { g.partial = true }

// end passes on an unfinished last line.
func (g *lineFeed) end() {
	if len(bytes.TrimSpace(g.pieces)) > 0 {
		g.f(g.pieces)
	}
	g.pieces = g.pieces[:0]
}
