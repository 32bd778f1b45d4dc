//go:build unix

package excerpt

import (
	"context"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/redact"
)

// Incremental converts output to text while the program prints it, so that little is left to read at the end: ten
// megabytes take a tenth of a second. Only one goroutine may use it at a time.
type Incremental struct {
	Limits Limits

	s     *session.Session
	from  uint64
	r     *plainReader // nil: nothing is read
	known *redact.Set  // secrets that were masked
}

// NewIncremental returns a reader of a session's output from an offset.
func NewIncremental(s *session.Session, from uint64, limits Limits) *Incremental {
	return &Incremental{Limits: limits, s: s, from: from}
}

// From returns the offset of the first byte.
func (a *Incremental) From() uint64 { return a.from }

// Read converts the complete pieces available so far. It leaves those after the first exactBytes/2 bytes, because only
// the end of the output decides which of them are included.
func (a *Incremental) Read(ctx context.Context) error {
	_, end := a.s.OutputRange()
	if a.Limits.Hide {
		end = min(end, a.s.SettledOffset())
	}
	if a.r == nil && end < a.from+pieceBytes || a.r != nil && end < a.r.at+pieceBytes {
		return nil
	}
	a.restartIfSecretsChanged()
	a.r.buf = make([]byte, pieceBytes) // released after the call: the next one may come much later
	defer func() { a.r.buf, a.r.spare = nil, nil }()
	defer a.r.awaitPrefetch()
	whole := max(a.r.at, min(end, a.from+exactBytes/2)) - a.r.at
	for to := a.r.at + whole - whole%pieceBytes; a.r.at+pieceBytes <= to; {
		if more, err := a.r.readPiece(ctx, to); err != nil || !more {
			return err
		}
	}
	return nil
}

// restartIfSecretsChanged restarts from the beginning if secrets were added since the last start.
func (a *Incremental) restartIfSecretsChanged() {
	if known := a.s.KnownSecrets(); a.r == nil || a.Limits.Hide && known != a.known {
		a.r, a.known = newPlainReader(a.s, a.from, a.Limits), known
	}
}

// Text returns the text up to offset to, as Plain does. The reader must not be used afterwards.
func (a *Incremental) Text(ctx context.Context, to uint64) (Text, error) {
	if a.r == nil || a.r.at > to || a.Limits.Hide && a.s.KnownSecrets() != a.known {
		return Plain(ctx, a.s, a.from, to, a.Limits)
	}
	a.r.buf = make([]byte, min(pieceBytes, max(1, to-a.r.at)))
	return a.r.text(ctx, to, a.Limits)
}
