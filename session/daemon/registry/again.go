//go:build unix

package registry

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// Pauses before a session that ended by itself is started again. They double with each time, until it has run
// for stableTime.
const (
	firstPause = time.Second
	lastPause  = time.Minute
	stableTime = time.Minute
	// overTime is how long after an end the next daemon still makes up for a restart: the longest pause, and what it
	// takes until there is a daemon again.
	overTime = 10 * time.Minute
)

// restarts starts sessions again that ended by themselves and carry api.RestartLabel. A session that somebody
// ended stays ended. One whose pause a daemon's end cuts short is taken over by the next daemon.
type restarts struct {
	reg *Registry
	may func(context.Context, *Handle, *api.Restore) error // whether its program may be started again; nil: it may
	ask func(time.Duration, func())                        // in some time; tests have their own clock

	mu    sync.Mutex
	pause map[string]time.Duration // the next one, by session
	at    map[*Handle]time.Time    // when each is to be started again of those that are, until that is done or has failed
	over  bool
}

// ended is told of each session that ended, on its owner's goroutine.
func (r *restarts) ended(e *Handle, st session.Status) {
	policy := e.Record().Labels[api.RestartLabel]
	if policy == "" || st.State != session.Exited || e.toEnd.Load() || !wantsAgain(policy, st.Exit) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	id := e.ID()
	if r.pause[id] == 0 || !st.Started.IsZero() && st.Ended.Sub(st.Started) >= stableTime {
		r.pause[id] = firstPause
	}
	wait := r.pause[id]
	r.pause[id] = min(2*wait, lastPause)
	r.at[e] = time.Now().Add(wait)
	r.ask(wait, func() { r.again(e) })
}

// takeOver has those started again whose pauses the end of the daemon before cut short.
func (r *restarts) takeOver(list []*Handle) {
	for _, e := range list {
		rec := e.Record()
		if rec.Stopped || rec.State != string(session.Exited) || time.Since(rec.Ended) > overTime {
			continue
		}
		exit := &session.Exit{Signal: rec.Signal}
		if rec.ExitCode != nil {
			exit.Code = *rec.ExitCode
		}
		r.ended(e, session.Status{State: session.Exited, Ended: rec.Ended, Exit: exit})
	}
}

// wantsAgain says whether a policy has a session started again after such an end.
func wantsAgain(policy string, x *session.Exit) bool {
	switch policy {
	case "always":
		return true
	case "on-failure":
		return x != nil && (x.Code != 0 || x.Signal != "")
	}
	return false
}

// due is when a session that has ended is started again; nil: it is not, or somebody else did so. A time that has passed is that
// of a session about which a person is asked, or that starts.
func (r *restarts) due(e *Handle) *time.Time {
	r.mu.Lock()
	at, is := r.at[e]
	over := r.over
	r.mu.Unlock()
	if !is || over || e.toEnd.Load() || r.reg.host.Leaving() || r.reg.ByID(e.ID()) != e || e.Record().Labels[api.RestartLabel] == "" {
		return nil
	}
	return &at
}

func (r *restarts) wanted(e *Handle) bool { return r.due(e) != nil }

// settled notes that it was started again, or is not.
func (r *restarts) settled(e *Handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.at, e)
}

// again starts it, if it is still wanted.
func (r *restarts) again(e *Handle) {
	defer r.settled(e)
	if !r.wanted(e) {
		return
	}
	ctx := context.Background() // whoever has to be asked may take long
	req := api.Restore{Command: true}
	if r.may != nil {
		err := r.may(ctx, e, &req)
		if !r.wanted(e) {
			return
		}
		if err != nil {
			r.reg.host.Notice("session %s was not started again: %v", e.Record().Name, err)
			return
		}
	}
	anew, err := r.reg.Restore(ctx, e, req)
	if err == nil && e.toEnd.Load() { // somebody ended the one before while this one began
		err = r.reg.Kill(ctx, anew, r.reg.conf.GraceFor(actor.Actor{}))
	}
	if err != nil {
		r.reg.host.Notice("session %s was not started again: %v", e.Record().Name, err)
	}
}

// stop has nothing started again any more.
func (r *restarts) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// giveUp is stop for a daemon that ends all there is: the next one does not take over what waits either.
func (r *restarts) giveUp() {
	r.stop()
	r.mu.Lock()
	waiting := slices.Collect(maps.Keys(r.at))
	r.mu.Unlock()
	for _, e := range waiting {
		r.reg.Save(e, func(rec *store.Session) { rec.Stopped = true })
	}
}

// forget is for a session that is not there any more.
func (r *restarts) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pause, id)
}
