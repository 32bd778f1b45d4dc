package pipeoutput

import (
	"bytes"
	"io"
	"time"
)

// judged is how much is judged at once.
const judged = 4 << 10

// Gate passes text and holds binary data back, counting it. Within binary data it passes lines that are text.
type Gate struct {
	W io.Writer
	// Progress, if set, receives the number of held bytes, at most once a second.
	Progress func(bytes uint64)

	judge Binary
	lines lines
	nuls  separators
	held  uint64
}

// Write passes text on.
func (g *Gate) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), judged)]
		p = p[len(part):]
		if taken := g.judge.Take(part); !g.judge.End() && !taken {
			g.nuls.odd = false
			if err := g.fields(part); err != nil {
				return n - len(p), err
			}
			continue
		}
		if err := g.some(part); err != nil {
			return n - len(p), err
		}
		if _, due := g.judge.Progress(time.Now()); due && g.Progress != nil {
			g.Progress(g.held)
		}
	}
	return n, nil
}

// some passes the lines on that are text in what was judged binary.
func (g *Gate) some(p []byte) (err error) {
	if g.nuls.inFields(p) {
		return g.fields(p)
	}
	g.nuls = separators{odd: true}
	g.lines.split(p, func(p []byte, text bool) {
		switch {
		case !text:
			g.held += uint64(len(p))
		case err == nil:
			_, err = g.W.Write(p)
		}
	})
	return err
}

// fields writes text, with each field on a line.
func (g *Gate) fields(p []byte) error {
	g.lines.text(p)
	if g.nuls.ended || bytes.IndexByte(p, 0) >= 0 {
		p = bytes.Clone(p) // the caller's bytes stay as they are
		g.held += uint64(g.nuls.apply(p))
		p = bytes.ReplaceAll(p, []byte{0}, nil)
	} else {
		g.nuls.apply(p)
	}
	_, err := g.W.Write(p)
	return err
}

// HeldBytes returns how many bytes were held back.
func (g *Gate) HeldBytes() uint64 { return g.held }
