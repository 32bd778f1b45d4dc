//go:build unix

package waitrun

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// refusals prints each reply of a rule that was rejected, once and while the line runs: the line may wait for the
// reply.
type refusals struct {
	w    io.Writer
	mu   sync.Mutex
	seen map[string]bool
}

// print prints a rejected reply. It ignores replies that were sent or printed before.
func (r *refusals) print(f *api.RespondFiring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprint(f.Rule, f.Time.UnixNano(), f.Error)
	if f.Error == "" || r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	name := f.Name
	if name == "" {
		name = f.Rule
	}
	fmt.Fprintf(r.w, "longterm: rule %s: %s\n", name, f.Error)
}

// printAll prints the rejected ones of replies.
func (r *refusals) printAll(list []api.RespondFiring) {
	for i := range list {
		r.print(&list[i])
	}
}

// followRefusals prints the session's refusals until stop is called. Without events, Exec prints them at the end.
func (c *Caller) followRefusals(ctx context.Context, s *client.Session, r *refusals) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ready, done := make(chan struct{}), make(chan struct{})
	listening := sync.OnceFunc(func() { close(ready) })
	go func() {
		defer close(done)
		defer listening()
		v, err := s.Info(ctx)
		if err != nil {
			return // Exec returns why
		}
		_ = c.Client.FollowEvents(ctx, func(e api.Event) error {
			switch {
			case e.Kind == "listening":
				listening()
			case e.Answer != nil && e.Session != nil && e.Session.ID == v.ID:
				r.print(e.Answer)
			}
			return nil
		})
	}()
	<-ready
	return func() { cancel(); <-done }
}

// followRunRefusals follows a run's session as followRefusals. It also prints the refusals from before the client
// listened: the command was started before.
func (c *Caller) followRunRefusals(ctx context.Context, s *client.Session, r *refusals) (stop func()) {
	stop = c.followRefusals(ctx, s, r)
	if did, err := s.RuleMatches(ctx); err == nil { // else the result has them
		r.printAll(did)
	}
	return stop
}
