//go:build unix

package main

import (
	"context"
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
		s: v.c.Session(id), cancel: cancel, frames: make(chan view.Frame), acts: make(chan attach.Act, 256),
		size: attach.Act{Cols: cols, Rows: rows},
	}
	go w.run(ctx)
	return w
}

// watched is a session the viewer shows.
type watched struct {
	s      *client.Session
	cancel context.CancelFunc
	frames chan view.Frame
	acts   chan attach.Act
	size   attach.Act // the owner of acts' reader only
}

func (w *watched) Frames() <-chan view.Frame { return w.frames }

func (w *watched) Close() { w.cancel() }

func (w *watched) Resize(cols, rows int) { w.act(attach.Act{Cols: cols, Rows: rows}) }

func (w *watched) Act(in view.Input) {
	w.act(attach.Act{Key: in.Key, Mouse: in.Mouse, Paste: in.Paste, Focus: in.Focus})
}

// act queues; keys typed into a session that is away for long are dropped, not piled up.
func (w *watched) act(a attach.Act) {
	select {
	case w.acts <- a:
	default:
	}
}

func (w *watched) run(ctx context.Context) {
	defer close(w.frames)
	for ctx.Err() == nil {
		st, err := w.s.Watch(ctx, client.StreamOptions{Cols: w.size.Cols, Rows: w.size.Rows})
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
	go func() {
		defer cancel()
		w.show(ctx, st)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-w.acts:
			if a.Cols > 0 {
				w.size = attach.Act{Cols: a.Cols, Rows: a.Rows}
			}
			if st.Act(a) != nil {
				return
			}
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
