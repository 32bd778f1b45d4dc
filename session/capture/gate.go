package capture

import (
	"io"
	"time"
)

// judged is how much is judged at once.
const judged = 4 << 10

// Gate lets text through and holds binary data back, counting it.
type Gate struct {
	W io.Writer
	// Progress, if set, is told of the bytes held back, at most once a second.
	Progress func(bytes uint64)

	judge Binary
	held  uint64
}

// Write passes text on.
func (g *Gate) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), judged)]
		p = p[len(part):]
		taken := g.judge.Take(part)
		if g.judge.End() || taken {
			g.held += uint64(len(part))
			if _, due := g.judge.Progress(time.Now()); due && g.Progress != nil {
				g.Progress(g.held)
			}
			continue
		}
		if _, err := g.W.Write(part); err != nil {
			return n - len(p), err
		}
	}
	return n, nil
}

// Held is how many bytes were held back.
func (g *Gate) Held() uint64 { return g.held }
