//go:build unix

package subscriptions

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

const (
	// hookTime is how long a hook may run; then it is ended.
	hookTime = 5 * time.Minute
	// hookBatch is how many completions a hook's runner reads at once.
	hookBatch = 64
	// againAfter is the pause after a trouble that is none of the hook's.
	againAfter = time.Second
)

// startHook has a subscription's hook run for its completions, if it has one.
func (s *Set) startHook(sub *store.Subscription) {
	if sub.Hook == "" || s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hooks[sub.UID] != nil {
		return
	}
	// A hook is a person's: who may make one is decided before it comes here.
	ctx, stop := context.WithCancel(actor.With(s.ctx, actor.Actor{UID: os.Getuid()}))
	s.hooks[sub.UID] = stop
	own := *sub
	s.work.Go(func() { s.runHooks(ctx, &own) })
}

// runHooks runs a hook for one completion after the other, until the subscription or the daemon is gone.
func (s *Set) runHooks(ctx context.Context, sub *store.Subscription) {
	for ctx.Err() == nil {
		grown := s.next() // before it is looked
		list, _, upTo, err := s.store.Completions(ctx, sub, sub.Cursor, hookBatch)
		for i := range list {
			if err = s.runHook(ctx, sub, &list[i]); err != nil {
				break
			}
		}
		if err == nil && len(list) == 0 && upTo > sub.Cursor+store.KeptCompletions/2 {
			err = s.acknowledge(ctx, sub, upTo, 0) // of others, which are dropped some time
		}
		var gone *api.Error
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &gone) && gone.Code == api.CodeNotFound:
			return
		case err != nil:
			s.log.Warn("run a hook", "subscription", sub.Name, "err", err)
			pause(ctx)
		case len(list) > 0:
		default:
			select {
			case <-grown:
			case <-ctx.Done():
			}
		}
	}
}

func pause(ctx context.Context) {
	t := time.NewTimer(againAfter)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// runHook runs a hook for a completion, to its end, and acknowledges it. A daemon that leaves meanwhile has decided
// nothing: the next one finds the job by its id. How the hook ends is counted and no reason to run it again.
func (s *Set) runHook(ctx context.Context, sub *store.Subscription, c *store.Completion) error {
	about, err := json.Marshal(view(c))
	if err != nil {
		return err
	}
	limit := hookTime.Milliseconds()
	x := api.Run{
		Call: api.Call{Job: hookJob(sub, c.Seq), TimeoutMS: &limit, OnTimeout: "kill"},
		NewSession: api.NewSession{
			Line: sub.Hook, Pipe: true, SetEnv: []string{"LONGTERM_COMPLETION=" + string(about), "LONGTERM_SUBSCRIPTION=" + sub.Name},
		},
	}
	r, err := s.run.RunHook(context.WithoutCancel(ctx), x) // a subscription that is removed ends nothing
	var e *api.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e) && (e.Retry || e.Code == api.CodeLimit || e.Code == api.CodeUnavailable):
		return err
	}
	failed := 0
	if err != nil || r.ExitCode == nil || *r.ExitCode != 0 {
		failed = 1
		s.log.Warn("a hook failed", "subscription", sub.Name, "job", x.Job, "state", r.State, "message", r.Message, "err", err)
	}
	return s.acknowledge(ctx, sub, c.Seq, failed)
}
