//go:build unix

package registry

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

// Exponential backoff before a session is restarted: the pause doubles from minBackoff to maxBackoff, and starts again
// at minBackoff once a session has run for stableTime.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
	stableTime = time.Minute
	// maxRestartAge is how long after an end the next daemon still performs a restart: the longest backoff plus the
	// time without a daemon.
	maxRestartAge = 10 * time.Minute
)

// restarts restarts sessions that ended by themselves and carry api.RestartLabel. A session ended on request stays
// ended. The next daemon continues pauses that a daemon's end cut short.
type restarts struct {
	reg   *Registry
	check func(context.Context, *Handle, *api.Restore) error // checks whether the program may be restarted; nil: always
	after func(time.Duration, func())                        // calls a function after a time; set by tests

	mu      sync.Mutex
	backoff map[string]time.Duration // next backoff, by session
	pending map[*Handle]time.Time    // time of the pending restart, until it succeeded or failed
	stopped bool
}

// onEnd handles the end of a session, on its owner's goroutine.
func (r *restarts) onEnd(e *Handle, st session.Status) {
	policy := e.Record().Labels[api.RestartLabel]
	if policy == "" || st.State != session.Exited || e.endRequested.Load() || !shouldRestart(policy, st.Exit) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	id := e.ID()
	if r.backoff[id] == 0 || !st.Started.IsZero() && st.Ended.Sub(st.Started) >= stableTime {
		r.backoff[id] = minBackoff
	}
	wait := r.backoff[id]
	r.backoff[id] = min(2*wait, maxBackoff)
	r.pending[e] = time.Now().Add(wait)
	r.after(wait, func() { r.restart(e) })
}

// resumePending schedules the restarts that the previous daemon's end interrupted.
func (r *restarts) resumePending(list []*Handle) {
	for _, e := range list {
		rec := e.Record()
		if rec.Stopped || rec.State != string(session.Exited) || time.Since(rec.Ended) > maxRestartAge {
			continue
		}
		exit := &session.Exit{Signal: rec.Signal}
		if rec.ExitCode != nil {
			exit.Code = *rec.ExitCode
		}
		r.onEnd(e, session.Status{State: session.Exited, Ended: rec.Ended, Exit: exit})
	}
}

// shouldRestart reports whether a policy restarts a session after this exit.
func shouldRestart(policy string, x *session.Exit) bool {
	switch policy {
	case "always":
		return true
	case "on-failure":
		return x != nil && (x.Code != 0 || x.Signal != "")
	}
	return false
}

// dueAt returns when an ended session is restarted, or nil. A time in the past means that it waits for approval or is
// starting.
func (r *restarts) dueAt(e *Handle) *time.Time {
	r.mu.Lock()
	at, is := r.pending[e]
	over := r.stopped
	r.mu.Unlock()
	if !is || over || e.endRequested.Load() || r.reg.host.IsStopping() || r.reg.ByID(e.ID()) != e || e.Record().Labels[api.RestartLabel] == "" {
		return nil
	}
	return &at
}

// isPending reports whether a restart is pending.
func (r *restarts) isPending(e *Handle) bool { return r.dueAt(e) != nil }

// clearPending removes a pending restart that succeeded or failed.
func (r *restarts) clearPending(e *Handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, e)
}

// restart restarts the session, if that is still pending.
func (r *restarts) restart(e *Handle) {
	defer r.clearPending(e)
	if !r.isPending(e) {
		return
	}
	ctx := context.Background() // an approval may take long
	req := api.Restore{Command: true}
	if r.check != nil {
		err := r.check(ctx, e, &req)
		if !r.isPending(e) {
			return
		}
		if err != nil {
			r.reg.host.Notice("session %s was not started again: %v", e.Record().Name, err)
			return
		}
	}
	anew, err := r.reg.Restore(ctx, e, req)
	if err == nil && e.endRequested.Load() { // a caller ended the old session during the start
		err = r.reg.Kill(ctx, anew, r.reg.conf.GraceFor(identity.Actor{}))
	}
	if err != nil {
		r.reg.host.Notice("session %s was not started again: %v", e.Record().Name, err)
	}
}

// stop cancels all restarts.
func (r *restarts) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// cancelAll cancels all restarts for this daemon and the next.
func (r *restarts) cancelAll() {
	r.stop()
	r.mu.Lock()
	waiting := slices.Collect(maps.Keys(r.pending))
	r.mu.Unlock()
	for _, e := range waiting {
		r.reg.Save(e, func(rec *store.Session) { rec.Stopped = true })
	}
}

// forget drops the state of a removed session.
func (r *restarts) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.backoff, id)
}
