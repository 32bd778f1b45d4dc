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

// Hooks of the configuration are subscriptions with reserved names. The configuration holds their events and commands;
// the store holds their cursors, under their uid.

const configuredPrefix = "config:"

// isConfigured reports whether a subscription belongs to a hook of the configuration.
func isConfigured(name string) bool { return strings.HasPrefix(name, configuredPrefix) }

// Follow runs the hooks of the configuration and applies its changes, for each event, until the events or the set end.
// If hooks reports known false, the running ones stay.
func (s *Set) Follow(events <-chan api.Event, hooks func() (list []config.Hook, known bool)) {
	configure := func() {
		list, known := hooks()
		if !known || s.ctx.Err() != nil {
			return
		}
		if err := s.Configure(s.ctx, list); err != nil && s.ctx.Err() == nil {
			s.log.Error("start the configured hooks", "err", err)
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
					s.HandleEvent(&e)
				}
			}
		}
	})
}

// Configure starts the hooks of the configuration and stops those that were removed. A hook with a known name continues
// at its cursor. Calls must not overlap.
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
				Name: name, UID: newUID(), Hook: actionText(of), Created: now, Seen: now,
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

// runsAs reports whether a hook already runs with this configuration.
func (s *Set) runsAs(uid string, conf *config.Hook) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hooks[uid]
	return h != nil && h.conf != nil && sameHook(h.conf, conf)
}

func sameHook(a, b *config.Hook) bool {
	return a.Name == b.Name && a.Webhook == b.Webhook && a.Format == b.Format && a.Brief == b.Brief && a.Every == b.Every && a.Timeout == b.Timeout && slices.Equal(a.On, b.On) &&
		slices.Equal(a.Run, b.Run) && slices.Equal(a.Session, b.Session) && slices.Equal(a.Label, b.Label)
}

// HandleEvent runs the configured hooks for an event that is not stored. It never blocks.
func (s *Set) HandleEvent(e *api.Event) {
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
		if e.Session.AgentState == nil {
			return
		}
		c.Kind, c.State, c.Text = "agent", e.Session.AgentState.State, e.Session.AgentState.Reason
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hooks {
		if h.conf == nil || !slices.Contains(h.conf.On, c.Kind) || !h.conf.AppliesTo(c.Name, e.Session.Labels) {
			continue
		}
		select {
		case h.live <- c:
		default:
			h.skipped++
		}
	}
}

// runsFor reports whether a completion runs hook h.
func (s *Set) runsFor(ctx context.Context, h *hook, c *store.Completion) bool {
	var labels map[string]string
	lasting := false
	if s.Labels != nil && c.Session != "" {
		labels, lasting = s.Labels(c.Session)
	}
	if c.Kind == store.CompletionJob && !lasting { // an ended session that lasted has completions itself
		lasting = s.hasSessionCompletions(ctx, c.Session)
	}
	if labels[hookLabel] != "" || c.Kind == store.CompletionApproval && s.isHookApproval(ctx, c.Ref) {
		return false
	}
	if h.conf == nil {
		return true
	}
	return slices.ContainsFunc(h.conf.On, func(on string) bool { return matchesEvent(on, c, lasting) }) && h.conf.AppliesTo(c.Name, labels) && !s.rateLimited(h, c.At)
}

// hasSessionCompletions reports whether the end of a session, or of a command of its shell, is a completion apart from
// those of its jobs.
func (s *Set) hasSessionCompletions(ctx context.Context, session string) bool {
	is, err := s.store.HasCompletionOf(ctx, session, store.CompletionSession, store.CompletionCommand)
	if err != nil && ctx.Err() == nil {
		s.log.Error("read a session's completions", "session", session, "err", err)
	}
	return is
}

// matchesEvent reports whether a completion is the given event of the configuration. A job in a lasting session does
// not count as an end: its command or session has its own completion.
func matchesEvent(on string, c *store.Completion, lasting bool) bool {
	ended := c.Kind == store.CompletionSession || c.Kind == store.CompletionCommand || c.Kind == store.CompletionJob && !lasting
	well := c.Signal == "" && c.State != "lost"
	switch on {
	case "exit":
		return c.Kind == store.CompletionSession
	case "finished":
		return ended && well && c.ExitCode != nil && *c.ExitCode == 0
	case "failed":
		return ended && (!well || c.ExitCode != nil && *c.ExitCode != 0)
	case "lost":
		return ended && c.State == "lost"
	}
	return c.Kind == on
}

// isHookApproval reports whether the approval was requested for a hook's own job.
func (s *Set) isHookApproval(ctx context.Context, id string) bool {
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
	return s.hookApprovals[id]
}

// noteApproval records the approval that a hook's job requested, if any.
func (s *Set) noteApproval(ctx context.Context, job string) {
	a, err := s.store.ApprovalOf(ctx, job)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.hookApprovals) >= maxHookApprovals {
		clear(s.hookApprovals)
	}
	s.hookApprovals[approvalID(a.N)] = true
}

// maxHookApprovals bounds the remembered approvals of hooks.
const maxHookApprovals = 4096

func approvalID(n int64) string { return "A" + strconv.FormatInt(n, 10) }
