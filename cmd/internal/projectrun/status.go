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

// maxChecks bounds how many sessions are checked concurrently.
const maxChecks = 16

// Status returns the states of the file's sessions, followed by sessions that the file no longer lists. It starts
// nothing.
func (r *Runner) Status(ctx context.Context) ([]State, error) {
	there, err := r.existingSessions(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]State, len(r.File.Sessions))
	turns := make(chan struct{}, maxChecks)
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
	return append(states, r.filterUnlisted(there)...), ctx.Err()
}

// FindUnlisted returns the running sessions that up started and that the file no longer lists.
func (r *Runner) FindUnlisted(ctx context.Context) ([]State, error) {
	there, err := r.existingSessions(ctx)
	return r.filterUnlisted(there), err
}

func (r *Runner) filterUnlisted(there map[string]*api.Session) (states []State) {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		now := there[name]
		if slices.Contains(r.names(), name) || now.State != "running" && now.RestartAt == nil {
			continue
		}
		st := State{Name: name, Session: now.ID, SessionName: now.Name, Unlisted: true}
		st.follow(now)
		states = append(states, st)
	}
	return states
}

// status returns a session's state; now is nil if it was never started.
func (r *Runner) status(ctx context.Context, s *project.Session, now *api.Session) State {
	st := r.describe(s, now)
	switch {
	case now == nil:
	case hasFinished(s, now):
		st.Ready = true
	case now.State == "running" && len(s.Ready) > 0:
		r.isReady(ctx, s, now, &st) // "not ready" is reported by Ready
	default:
		st.Ready = now.State == "running"
	}
	return st
}
