//go:build unix

package excerpt

import (
	"context"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/secrets"
)

// Along makes output text while it is printed, so that little is left to read when it has ended: ten megabytes take a tenth of a
// second. It belongs to one goroutine at a time.
type Along struct {
	Limits Limits

	s     *session.Session
	from  uint64
	r     *plainReader // nil: nothing is read
	known *secrets.Set // that was hidden
}

// NewAlong reads what a session prints from an offset on.
func NewAlong(s *session.Session, from uint64, limits Limits) *Along {
	return &Along{Limits: limits, s: s, from: from}
}

// From is where it begins.
func (a *Along) From() uint64 { return a.from }

// Read takes the whole pieces that are there. What is beyond those that are made text of any output (exactBytes) stays, as only its
// end says which part of it is.
func (a *Along) Read(ctx context.Context) error {
	_, end := a.s.OutputRange()
	if a.Limits.Hide {
		end = min(end, a.s.SettledOffset())
	}
	if a.r == nil && end < a.from+pieceBytes || a.r != nil && end < a.r.at+pieceBytes {
		return nil
	}
	a.renew()
	a.r.buf = make([]byte, pieceBytes) // not kept meanwhile: what waits may have to wait for long
	defer func() { a.r.buf, a.r.spare = nil, nil }()
	defer a.r.leave()
	whole := max(a.r.at, min(end, a.from+exactBytes/2)) - a.r.at
	for to := a.r.at + whole - whole%pieceBytes; a.r.at+pieceBytes <= to; {
		if more, err := a.r.readPiece(ctx, to); err != nil || !more {
			return err
		}
	}
	return nil
}

// renew begins anew where more secrets are known than had been when it began.
func (a *Along) renew() {
	if known := a.s.Secrets(); a.r == nil || a.Limits.Hide && known != a.known {
		a.r, a.known = newPlainReader(a.s, a.from, a.Limits), known
	}
}

// Text is all of it up to an offset, as Plain makes it. There is nothing to ask for after that.
func (a *Along) Text(ctx context.Context, to uint64) (Text, error) {
	if a.r == nil || a.r.at > to || a.Limits.Hide && a.s.Secrets() != a.known {
		return Plain(ctx, a.s, a.from, to, a.Limits)
	}
	a.r.buf = make([]byte, min(pieceBytes, max(1, to-a.r.at)))
	return a.r.text(ctx, to, a.Limits)
}
