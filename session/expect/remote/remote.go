//go:build unix

// Package remote drives sessions of the daemon for scripts and recordings.
//
// A Dialogue follows one session's output from an offset. It merges the input typed through it into the output: each response
// to input carries the output offset at that moment. It does not see other clients' input. It continues after a daemon restart.
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

// Listener receives the events of a Dialogue, in order. Its methods are called one at a time.
type Listener interface {
	Output(offset uint64, data []byte)
	OnInput(in respond.Input, echo respond.EchoState)
}

// Dialogue follows the output of a session and types into it.
type Dialogue struct {
	session  *client.Session
	listener Listener
	stop     context.CancelFunc
	done     chan struct{} // closed when following has ended

	mu            sync.Mutex
	delivered     uint64        // offset up to which the listener has received output
	output        []outputChunk // not delivered yet
	inputs        []typedInput  // typed, not delivered yet
	pendingInputs int           // requests whose response, with the offset of the input, is not there yet
	ended         bool          // the session's output has ended
	err           error
	changed       chan struct{} // closed and replaced at each event
}

// outputChunk is output from an offset.
type outputChunk struct {
	off  uint64
	data []byte
}

// typedInput is input with the output offset at which it was typed.
type typedInput struct {
	off  uint64
	in   respond.Input
	echo respond.EchoState
}

// Follow starts to follow a session from an offset on. Close stops it.
func Follow(ctx context.Context, s *client.Session, from uint64, to Listener) *Dialogue {
	ctx, stop := context.WithCancel(ctx)
	t := &Dialogue{session: s, listener: to, stop: stop, delivered: from, done: make(chan struct{}), changed: make(chan struct{})}
	go t.follow(ctx, from)
	return t
}

// Close stops following.
func (t *Dialogue) Close() {
	t.stop()
	<-t.done
}

const (
	maxOutage     = time.Minute // how long the daemon may be unreachable
	retryInterval = 20 * time.Millisecond
)

// follow reads the output until its end, over outages of the daemon.
func (t *Dialogue) follow(ctx context.Context, from uint64) {
	defer close(t.done)
	var outageStart time.Time
	for {
		err := t.session.Follow(ctx, from, func(o api.Output) error {
			from, outageStart = o.Next, time.Time{}
			t.addOutput(outputChunk{o.From, o.Data})
			return nil
		})
		var e *api.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &e) || e.Code != api.CodeUnavailable {
			t.endOutput(err)
			return
		}
		if outageStart.IsZero() {
			outageStart = time.Now()
		}
		if time.Since(outageStart) > maxOutage {
			t.endOutput(err)
			return
		}
		select {
		case <-time.After(retryInterval):
		case <-ctx.Done():
		}
	}
}

// addOutput adds received output and delivers it.
func (t *Dialogue) addOutput(c outputChunk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, c)
	t.deliver()
}

// endOutput records the end of the output, or why following failed.
func (t *Dialogue) endOutput(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.err = true, err
	t.deliver()
	t.signalChange()
}

// signalChange notifies the callers of WithLock. The caller holds mu.
func (t *Dialogue) signalChange() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// deliver passes the events on in order, unless the offset of some input is still unknown. The caller holds mu.
func (t *Dialogue) deliver() {
	if t.pendingInputs > 0 {
		return
	}
	for len(t.output) > 0 || len(t.inputs) > 0 {
		if len(t.inputs) > 0 && (t.inputs[0].off <= t.delivered || t.ended && len(t.output) == 0) {
			x := t.inputs[0]
			t.inputs = t.inputs[1:]
			t.listener.OnInput(x.in, x.echo)
			continue
		}
		if len(t.output) == 0 {
			break
		}
		c := &t.output[0]
		n := len(c.data)
		if len(t.inputs) > 0 && t.inputs[0].off < c.off+uint64(n) {
			n = int(t.inputs[0].off - min(c.off, t.inputs[0].off))
		}
		t.listener.Output(c.off, c.data[:n])
		t.delivered = c.off + uint64(n)
		if c.off, c.data = t.delivered, c.data[n:]; len(c.data) == 0 {
			t.output = t.output[1:]
		}
	}
	t.signalChange()
}

// Type types input. data are its bytes, for the listener.
func (t *Dialogue) Type(ctx context.Context, in api.Input, data []byte) error {
	t.mu.Lock()
	t.pendingInputs++
	t.mu.Unlock()
	in.ID = uuid.NewString()
	r, err := t.session.Type(ctx, in)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pendingInputs--
	if err == nil {
		t.inputs = append(t.inputs, typedInput{r.Cursor, respond.Input{Data: data, Secret: in.Secret}, respond.EchoState(r.Echo)})
	}
	t.deliver()
	return err
}

// WithLock calls f between two calls of the listener. f receives whether output has ended. changed is closed at the
// next event.
func (t *Dialogue) WithLock(f func(ended bool)) (changed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.ended && len(t.output) == 0)
	if t.err != nil {
		err = fmt.Errorf("follow the session: %w", t.err)
	}
	return t.changed, err
}
