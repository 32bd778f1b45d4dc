//go:build unix

package main

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
)

// retryTime is how often a viewer asks for a daemon that is away.
const retryTime = 50 * time.Millisecond

// viewSource is where the viewer's sessions come from: the daemon.
type viewSource struct{ c *client.Client }

func newViewSource(c *client.Client) view.Source { return viewSource{c} }

// Sessions follows the daemon's events. Each makes for a fresh list: lists are small,
// and a list cannot be out of step.
func (v viewSource) Sessions(ctx context.Context) <-chan view.Update {
	out := make(chan view.Update)
	send := func(u view.Update) bool {
		select {
		case out <- u:
			return true
		case <-ctx.Done():
			return false
		}
	}
	list := func() bool {
		all, err := v.c.List(ctx)
		if err != nil {
			return send(view.Update{Away: err.Error()})
		}
		return send(view.Update{Sessions: viewSessions(all)})
	}
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			if !list() {
				return
			}
			err := v.c.Events(ctx, func(api.Event) error {
				if !list() {
					return context.Canceled
				}
				return nil
			})
			if err != nil && !send(view.Update{Away: err.Error()}) {
				return
			}
			pause(ctx, retryTime)
		}
	}()
	return out
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func viewSessions(all []api.Session) []view.Session {
	var out []view.Session
	for _, s := range all {
		vs := view.Session{
			ID: s.ID, Name: s.Name, State: s.State, Command: s.Command, Cwd: s.Cwd,
			ExitCode: s.ExitCode, Signal: s.Signal,
			Started: time.Now().Add(-time.Duration(s.Duration) * time.Millisecond),
		}
		if s.Ended != nil {
			vs.Ended = vs.Started.Add(time.Duration(s.Duration) * time.Millisecond)
		}
		out = append(out, vs)
	}
	return out
}

func (v viewSource) New(ctx context.Context) (string, error) {
	n, err := shellHere()
	if err != nil {
		return "", err
	}
	s, err := v.c.NewSession(ctx, n)
	return s.ID, err
}

func (v viewSource) Kill(ctx context.Context, id string) error {
	_, err := v.c.Session(id).Kill(ctx, api.Kill{})
	return err
}

// Watch opens a stream that finds its session again after a restart of the daemon.
func (v viewSource) Watch(ctx context.Context, id string, cols, rows int) view.Stream {
	ctx, cancel := context.WithCancel(ctx)
	w := &watched{
		s: v.c.Session(id), cancel: cancel, frames: make(chan view.Frame), wake: make(chan struct{}, 1),
		size: attach.Act{Cols: cols, Rows: rows},
	}
	go w.run(ctx)
	return w
}

// maxActs bounds what is typed into a session whose daemon is away.
const maxActs = 10_000

// watched is a session the viewer shows. What is done while the daemon is away waits
// for it, in order.
type watched struct {
	s      *client.Session
	cancel context.CancelFunc
	frames chan view.Frame
	wake   chan struct{}

	mu   sync.Mutex // guards the fields below
	acts []attach.Act
	size attach.Act // the newest
}

func (w *watched) Frames() <-chan view.Frame { return w.frames }

func (w *watched) Close() { w.cancel() }

func (w *watched) Resize(cols, rows int) {
	size := attach.Act{Cols: cols, Rows: rows}
	w.mu.Lock()
	w.size = size
	w.mu.Unlock()
	w.act(size)
}

func (w *watched) Act(in view.Input) {
	w.act(attach.Act{Key: in.Key, Mouse: in.Mouse, Paste: in.Paste, Focus: in.Focus})
}

// act queues; the viewer must not wait for a daemon.
func (w *watched) act(a attach.Act) {
	w.mu.Lock()
	if len(w.acts) < maxActs {
		w.acts = append(w.acts, a)
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next is the oldest act that was not sent; sent drops it.
func (w *watched) next() (attach.Act, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.acts) == 0 {
		return attach.Act{}, false
	}
	return w.acts[0], true
}

func (w *watched) sent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acts = w.acts[1:]
}

func (w *watched) run(ctx context.Context) {
	defer close(w.frames)
	for ctx.Err() == nil {
		w.mu.Lock()
		size := w.size
		w.mu.Unlock()
		st, err := w.s.Watch(ctx, client.StreamOptions{Cols: size.Cols, Rows: size.Rows})
		if err == nil {
			w.converse(ctx, st)
			_ = st.Close()
		}
		pause(ctx, retryTime)
	}
}

func (w *watched) converse(ctx context.Context, st *client.Stream) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		defer cancel()
		w.show(ctx, st)
	}()
	defer func() { // the stream's frames end before the next one's begin
		cancel()
		_ = st.Close()
		<-shown
	}()
	for {
		for a, ok := w.next(); ok; a, ok = w.next() {
			if st.Act(a) != nil {
				return
			}
			w.sent()
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
	}
}

func (w *watched) show(ctx context.Context, st *client.Stream) {
	for {
		f, err := st.NextFrame()
		if err != nil {
			return
		}
		select {
		case w.frames <- view.Frame{Screen: &f.Screen, Modes: f.Modes}:
		case <-ctx.Done():
			return
		}
	}
}
