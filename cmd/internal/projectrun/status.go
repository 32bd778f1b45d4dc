//go:build unix

package projectrun

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/project"
)

// looksAtOnce bounds how many sessions are looked at at a time.
const looksAtOnce = 16

// Status is how the project's sessions are, and then those that its file does not have any more; nothing is started.
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
	return append(states, r.unlisted(there)...), ctx.Err()
}

// Unlisted are the sessions that up started, that run, and that the file does not have any more.
func (r *Runner) Unlisted(ctx context.Context) ([]State, error) {
	there, err := r.there(ctx)
	return r.unlisted(there), err
}

func (r *Runner) unlisted(there map[string]*api.Session) (states []State) {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		now := there[name]
		if slices.Contains(r.names(), name) || now.State != "running" && now.RestartAt == nil {
			continue
		}
		st := State{Name: name, Session: now.ID, Called: now.Name, Unlisted: true}
		st.follow(now)
		states = append(states, st)
	}
	return states
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
