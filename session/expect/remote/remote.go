//go:build unix

// Package remote drives sessions of the daemon for scripts and recordings.
//
// A Talk follows one session's output from an offset. It inserts the input that is typed through it at its place in the
// output: each answer to input has the output offset of that moment. It does not see input of others. It continues over
// a restart of the daemon.
package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/respond"
)

// Listener receives the events of a Talk, in order. Its methods are called one at a time.
type Listener interface {
	Output(offset uint64, data []byte)
	OnInput(in respond.Input, echo respond.EchoState)
}

// Talk is a session that is followed and typed into.
type Talk struct {
	s    *client.Session
	to   Listener
	stop context.CancelFunc
	over chan struct{} // closed when following has ended

	mu     sync.Mutex
	at     uint64 // offset up to which output was passed to to
	ahead  []chunk
	typed  []typed
	typing int // inputs under way: where they belong is not known yet
	ended  bool
	err    error
	change chan struct{} // closed when anything happens
}

type chunk struct {
	off  uint64
	data []byte
}

// typed is input that was typed when the output stood at an offset.
type typed struct {
	off  uint64
	in   respond.Input
	echo respond.EchoState
}

// Follow starts to follow a session from an offset on. Close ends it.
func Follow(ctx context.Context, s *client.Session, from uint64, to Listener) *Talk {
	ctx, stop := context.WithCancel(ctx)
	t := &Talk{s: s, to: to, stop: stop, at: from, over: make(chan struct{}), change: make(chan struct{})}
	go t.follow(ctx, from)
	return t
}

// Close ends following.
func (t *Talk) Close() {
	t.stop()
	<-t.over
}

const (
	awayTime  = time.Minute // how long a daemon may be away
	retryTime = 20 * time.Millisecond
)

// follow reads the output until its end.
func (t *Talk) follow(ctx context.Context, from uint64) {
	defer close(t.over)
	var away time.Time
	for {
		err := t.s.Follow(ctx, from, func(o api.Output) error {
			from, away = o.Next, time.Time{}
			t.add(chunk{o.From, o.Data})
			return nil
		})
		var e *api.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &e) || e.Code != api.CodeUnavailable {
			t.end(err)
			return
		}
		if away.IsZero() {
			away = time.Now()
		}
		if time.Since(away) > awayTime {
			t.end(err)
			return
		}
		select {
		case <-time.After(retryTime):
		case <-ctx.Done():
		}
	}
}

func (t *Talk) add(c chunk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ahead = append(t.ahead, c)
	t.deliver()
}

func (t *Talk) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.err = true, err
	t.deliver()
	t.signalChange()
}

func (t *Talk) signalChange() {
	close(t.change)
	t.change = make(chan struct{})
}

// deliver passes the known events on, in order, unless the place of some input is still unknown.
func (t *Talk) deliver() {
	if t.typing > 0 {
		return
	}
	for len(t.ahead) > 0 || len(t.typed) > 0 {
		if len(t.typed) > 0 && (t.typed[0].off <= t.at || t.ended && len(t.ahead) == 0) {
			x := t.typed[0]
			t.typed = t.typed[1:]
			t.to.OnInput(x.in, x.echo)
			continue
		}
		if len(t.ahead) == 0 {
			break
		}
		c := &t.ahead[0]
		n := len(c.data)
		if len(t.typed) > 0 && t.typed[0].off < c.off+uint64(n) {
			n = int(t.typed[0].off - min(c.off, t.typed[0].off))
		}
		t.to.Output(c.off, c.data[:n])
		t.at = c.off + uint64(n)
		if c.off, c.data = t.at, c.data[n:]; len(c.data) == 0 {
			t.ahead = t.ahead[1:]
		}
	}
	t.signalChange()
}

// Type types input. data are its bytes, for the listener; nil for a secret.
func (t *Talk) Type(ctx context.Context, in api.Input, data []byte) error {
	t.mu.Lock()
	t.typing++
	t.mu.Unlock()
	in.ID = uuid.NewString()
	r, err := t.s.Type(ctx, in)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.typing--
	if err == nil {
		t.typed = append(t.typed, typed{r.Cursor, respond.Input{Data: data, Secret: in.Secret}, respond.EchoState(r.Echo)})
	}
	t.deliver()
	return err
}

// WithLock calls f between two calls of the listener. f receives whether output has ended. change is closed at the next
// event.
func (t *Talk) WithLock(f func(ended bool)) (change <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.ended && len(t.ahead) == 0)
	if t.err != nil {
		err = fmt.Errorf("follow the session: %w", t.err)
	}
	return t.change, err
}
