//go:build unix

package projectrun

import (
	"context"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/project"
)

// looksAtOnce bounds how many sessions are looked at at a time.
const looksAtOnce = 16

// Status is how the project's sessions are; nothing is started.
func (r *Runner) Status(ctx context.Context) ([]State, error) {
	there, err := r.there(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]State, len(r.File.Sessions))
	turns := make(chan struct{}, looksAtOnce)
	var all sync.WaitGroup
	for i := range r.File.Sessions {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			s := &r.File.Sessions[i]
			states[i] = r.status(ctx, s, there[s.Name])
		})
	}
	all.Wait()
	return states, ctx.Err()
}

// status is how a session is; now is nil where there is none.
func (r *Runner) status(ctx context.Context, s *project.Session, now *api.Session) State {
	st := r.describe(s, now)
	switch {
	case now == nil:
	case finished(s, now):
		st.Ready = true
	case now.State == "running" && len(s.Ready) > 0:
		r.look(ctx, s, now, &st) // that it is not ready says it
	default:
		st.Ready = now.State == "running"
	}
	return st
}
