//go:build unix

package subscriptions

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/store"
)

// Hooks of the configuration are subscriptions whose names nobody can choose. What they are for and run is in the
// configuration; the store has how far they are, and under which uid.

const configuredPrefix = "config:"

func isConfigured(name string) bool { return strings.HasPrefix(name, configuredPrefix) }

// Follow has the hooks of the configuration run as it changes, and for events, until these or the set come to an end.
// Where hooks says that they are not known, those that run stay.
func (s *Set) Follow(events <-chan api.Event, hooks func() (list []config.Hook, known bool)) {
	configure := func() {
		list, known := hooks()
		if !known || s.ctx.Err() != nil {
			return
		}
		if err := s.Configure(s.ctx, list); err != nil && s.ctx.Err() == nil {
			s.log.Error("have the configuration's hooks run", "err", err)
		}
	}
	configure()
	s.work.Go(func() {
		for {
			select {
			case <-s.ctx.Done():
				return
			case e, ok := <-events:
				switch {
				case !ok:
					return
				case e.Kind == "config" || e.Kind == "lost":
					configure()
				default:
					s.Hear(&e)
				}
			}
		}
	})
}

// Configure has the hooks of the configuration run, and ends those that are not there any more. One of a name that was
// there goes on where it was. Its calls come one after the other.
func (s *Set) Configure(ctx context.Context, hooks []config.Hook) error {
	all, err := s.store.Subscriptions(ctx)
	if err != nil {
		return err
	}
	there := map[string]*store.Subscription{}
	for i := range all {
		there[all[i].Name] = &all[i]
	}
	for i := range hooks {
		of := &hooks[i]
		name := configuredPrefix + of.Name
		sub := there[name]
		delete(there, name)
		if sub == nil {
			now := time.Now()
			made, err := s.store.Subscribe(ctx, store.Subscription{
				Name: name, UID: newUID(), Hook: does(of), Created: now, Seen: now,
			})
			if err != nil {
				return err
			}
			sub = &made
		}
		if !s.runsAs(sub.UID, of) {
			s.start(sub, of)
		}
	}
	for name := range there {
		if !isConfigured(name) {
			continue
		}
		if err := s.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// runsAs says that a hook runs already, and as it is to be.
func (s *Set) runsAs(uid string, of *config.Hook) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hooks[uid]
	return h != nil && h.of != nil && sameHook(h.of, of)
}

func sameHook(a, b *config.Hook) bool {
	return a.Name == b.Name && a.Webhook == b.Webhook && a.Format == b.Format && a.Brief == b.Brief && a.Every == b.Every && a.Timeout == b.Timeout && slices.Equal(a.On, b.On) &&
		slices.Equal(a.Run, b.Run) && slices.Equal(a.Session, b.Session) && slices.Equal(a.Label, b.Label)
}

// Hear runs the configured hooks that an event is for which is not kept. It never blocks.
func (s *Set) Hear(e *api.Event) {
	if e.Session == nil || e.Session.Temporary || e.Session.Labels[hookLabel] != "" {
		return
	}
	c := api.Completion{Seq: e.Seq, Session: e.Session.ID, Name: e.Session.Name, State: e.Session.State, At: time.Now()}
	switch e.Kind {
	case "created":
		c.Kind, c.Text = "new", e.Session.Command
	case "bell":
		c.Kind, c.Text = "bell", e.Session.Title
	case "agent":
		if e.Session.AgentIs == nil {
			return
		}
		c.Kind, c.State, c.Text = "agent", e.Session.AgentIs.State, e.Session.AgentIs.Reason
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hooks {
		if h.of == nil || !slices.Contains(h.of.On, c.Kind) || !h.of.Of(c.Name, e.Session.Labels) {
			continue
		}
		select {
		case h.live <- c:
		default:
			h.skipped++
		}
	}
}

// wants says if a hook is run for a completion.
func (s *Set) wants(ctx context.Context, h *hook, c *store.Completion) bool {
	var labels map[string]string
	lasting := false
	if s.Labels != nil && c.Session != "" {
		labels, lasting = s.Labels(c.Session)
	}
	if c.Kind == store.OfJob && !lasting { // a session that is gone has told of itself, where it lasted
		lasting = s.told(ctx, c.Session)
	}
	if labels[hookLabel] != "" || c.Kind == store.OfApproval && s.ownApproval(ctx, c.Ref) {
		return false
	}
	if h.of == nil {
		return true
	}
	return slices.ContainsFunc(h.of.On, func(on string) bool { return happened(on, c, lasting) }) && h.of.Of(c.Name, labels) && !s.limited(h, c.At)
}

// told says if a session's end, or that of a command of its shell, is a completion besides those of its jobs.
func (s *Set) told(ctx context.Context, session string) bool {
	is, err := s.store.HasCompletionOf(ctx, session, store.OfSession, store.OfCommand)
	if err != nil && ctx.Err() == nil {
		s.log.Error("look for what a session told", "session", session, "err", err)
	}
	return is
}

// happened says if a completion is an event of the configuration. A job in a lasting session is a command of its shell,
// or the session, which are told of by themselves.
func happened(on string, c *store.Completion, lasting bool) bool {
	ended := c.Kind == store.OfSession || c.Kind == store.OfCommand || c.Kind == store.OfJob && !lasting
	well := c.Signal == "" && c.State != "lost"
	switch on {
	case "exit":
		return c.Kind == store.OfSession
	case "finished":
		return ended && well && c.ExitCode != nil && *c.ExitCode == 0
	case "failed":
		return ended && (!well || c.ExitCode != nil && *c.ExitCode != 0)
	case "lost":
		return ended && c.State == "lost"
	}
	return c.Kind == on
}

// ownApproval says if an approval is one that a hook needs itself.
func (s *Set) ownApproval(ctx context.Context, id string) bool {
	s.mu.Lock()
	var jobs []string
	for _, h := range s.hooks {
		if h.job != "" {
			jobs = append(jobs, h.job)
		}
	}
	s.mu.Unlock()
	for _, job := range jobs { // it may be waiting for it
		s.noteApproval(ctx, job)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[id]
}

// noteApproval keeps which approval a hook's job asked for, if any.
func (s *Set) noteApproval(ctx context.Context, job string) {
	a, err := s.store.ApprovalOf(ctx, job)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) >= maxAsked {
		clear(s.asked)
	}
	s.asked[approvalID(a.N)] = true
}

// maxAsked bounds the approvals of hooks that are remembered.
const maxAsked = 4096

func approvalID(n int64) string { return "A" + strconv.FormatInt(n, 10) }
