package relay

import (
	"context"
	"io"
	"time"

	"github.com/gorilla/websocket"
)

// copyMessages copies messages from one socket to another, piece by piece, no faster than the relay's rate.
func (s *Server) copyMessages(ctx context.Context, to, from *websocket.Conn) error {
	buf := make([]byte, chunkSize)
	pace := rateLimiter{rate: s.Rate}
	// A pending write blocks reading of pongs: only then does its deadline restart.
	heard := func() { _ = from.SetReadDeadline(time.Now().Add(pingTimeout)) }
	for {
		heard()
		kind, r, err := from.NextReader()
		if err != nil {
			return err
		}
		if kind != websocket.BinaryMessage {
			return errUnsealed
		}
		_ = to.SetWriteDeadline(time.Now().Add(writeTimeout))
		w, err := to.NextWriter(kind)
		if err != nil {
			return err
		}
		for {
			heard()
			n, err := r.Read(buf)
			if n > 0 {
				if s.OnForward != nil {
					s.OnForward(buf[:n])
				}
				if _, err := w.Write(buf[:n]); err != nil {
					return err
				}
				if err := pace.wait(ctx, n); err != nil {
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
}

// rateLimiter limits a rate in bytes per second, with a burst of one second.
type rateLimiter struct {
	rate  int
	spent int
	since time.Time
}

// wait waits until n more bytes may be sent.
func (p *rateLimiter) wait(ctx context.Context, n int) error {
	if p.rate <= 0 {
		return nil
	}
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
	}
	if earned := int(now.Sub(p.since).Seconds() * float64(p.rate)); earned > 0 {
		p.spent, p.since = max(0, p.spent-earned), now
	}
	p.spent += n
	over := p.spent - p.rate
	if over <= 0 {
		return nil
	}
	late := time.NewTimer(time.Duration(float64(over) / float64(p.rate) * float64(time.Second)))
	defer late.Stop()
	select {
	case <-late.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
