//go:build unix

package subscriptions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

const (
	// hookTime limits a hook whose configuration sets no timeout.
	hookTime = 5 * time.Minute
	// hookBatch is the number of completions read at once.
	hookBatch = 64
	// retryDelay is the pause after an error that the hook did not cause.
	retryDelay = time.Second
	// liveQueue bounds the unstored events that wait for a running hook.
	liveQueue = 64
)

// hookLabel marks sessions whose events run no hooks, to prevent loops.
const hookLabel = api.HookLabel

// hook is a running hook, of a subscription or of the configuration.
type hook struct {
	sub  store.Subscription // holds the hook's cursor
	conf *config.Hook       // nil: a subscription's line
	stop context.CancelFunc
	done chan struct{}       // closed when its runner has ended
	live chan api.Completion // unstored events to run for
	last time.Time           // time of the event of its last run

	// Guarded by Set.mu:
	job     string // the newest
	skipped int    // completions skipped by its rate limit
	failure *api.HookFailure
}

// startHook starts the hook of a subscription, if it has one.
func (s *Set) startHook(sub *store.Subscription) {
	if sub.Hook != "" && !isConfigured(sub.Name) {
		s.start(sub, nil)
	}
}

// start runs a hook. It returns if one of the same subscription already runs.
func (s *Set) start(sub *store.Subscription, conf *config.Hook) {
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.hooks[sub.UID]
	if before != nil && before.conf == nil {
		return
	}
	// A hook runs as the user: its creation was authorized before.
	ctx, stop := context.WithCancel(identity.WithActor(s.ctx, identity.Actor{UID: os.Getuid()}))
	h := &hook{sub: *sub, conf: conf, stop: stop, done: make(chan struct{}), live: make(chan api.Completion, liveQueue)}
	s.hooks[sub.UID] = h
	s.work.Go(func() {
		defer close(h.done)
		if before != nil { // what it runs is waited for: it is not run twice
			before.stop()
			<-before.done
			h.last = before.last
			h.sub.Cursor = max(h.sub.Cursor, before.sub.Cursor)
		}
		s.runHooks(ctx, h)
	})
}

// runHooks runs a hook for one completion after another, until the subscription is removed or the daemon stops.
func (s *Set) runHooks(ctx context.Context, h *hook) {
	sub := &h.sub
	if h.conf != nil {
		sub.Kinds = h.conf.Kinds()
	}
	for ctx.Err() == nil {
		grown := s.next() // before it is looked
		list, upTo, err := s.pending(ctx, h)
		passed := uint64(0)
		for i := range list {
			if !s.runsFor(ctx, h, &list[i]) {
				passed = list[i].Seq
				continue
			}
			if err = s.act(ctx, h, hookJobID(sub, list[i].Seq), view(&list[i]), list[i].Seq); err != nil {
				break
			}
			h.last = list[i].At
		}
		if err == nil && len(list) == 0 && upTo > sub.Cursor+store.KeptCompletions/2 {
			passed = upTo // of others, which are dropped some time
		}
		if passed > sub.Cursor { // also before an error, so that skipped completions are not counted twice
			err = errors.Join(err, s.acknowledge(ctx, sub, passed, 0))
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
			case c := <-h.live:
				s.runLive(ctx, h, c)
			case <-ctx.Done():
			}
		}
	}
}

// pending returns the completions that the hook has not handled.
func (s *Set) pending(ctx context.Context, h *hook) (list []store.Completion, upTo uint64, err error) {
	if h.conf != nil && len(h.sub.Kinds) == 0 { // only of events that are not kept
		upTo, err = s.store.NewestCompletion(ctx)
		return nil, upTo, err
	}
	list, _, upTo, err = s.store.Completions(ctx, &h.sub, h.sub.Cursor, hookBatch)
	return list, upTo, err
}

// runLive runs a hook for an unstored event, at most once.
func (s *Set) runLive(ctx context.Context, h *hook, c api.Completion) {
	if s.rateLimited(h, c.At) {
		return
	}
	err := s.act(ctx, h, fmt.Sprintf("hook-%s-e%d", h.sub.UID, c.Seq), c, h.sub.Cursor)
	switch {
	case err == nil:
		h.last = c.At
	case ctx.Err() == nil:
		s.log.Warn("a hook is not run", "subscription", h.sub.Name, "event", c.Kind, "err", err)
	}
}

// pause waits for retryDelay, or until ctx ends.
func pause(ctx context.Context) {
	t := time.NewTimer(retryDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// rateLimited reports whether a hook is skipped because it ran less than its interval ago, and counts that.
func (s *Set) rateLimited(h *hook, at time.Time) bool {
	if h.conf == nil || h.conf.Every == 0 {
		return false
	}
	if since := at.Sub(h.last); !h.last.IsZero() && since >= 0 && since < h.conf.Every {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.skipped++
		return true
	}
	return false
}

// runHook runs a hook for one completion, waits for its end and acknowledges up to cursor. If the daemon stops
// meanwhile, nothing is acknowledged: the next daemon finds the job by its id. A hook that fails is counted and not
// retried.
func (s *Set) runHook(ctx context.Context, h *hook, job string, c api.Completion, cursor uint64) error {
	x, err := request(h, job, &c)
	if err != nil {
		return err
	}
	s.mu.Lock()
	h.job = job
	s.mu.Unlock()
	r, err := s.run.RunHook(context.WithoutCancel(ctx), x) // a subscription that is removed ends nothing
	var e *api.Error
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &e) && (e.Retry || e.Code == api.CodeLimit || e.Code == api.CodeUnavailable):
		return err
	case errors.As(err, &e) && e.Code == api.CodeIDTaken: // it was run, as the configuration had it before
		return s.acknowledge(context.WithoutCancel(ctx), &h.sub, cursor, 0)
	}
	s.noteApproval(context.WithoutCancel(ctx), job)
	failed := 0
	if why := whyFailed(&r, err, x.TimeoutMS); why != "" {
		failed = 1
		s.log.Warn("a hook failed", "subscription", h.sub.Name, "job", x.Job, "state", r.State, "message", r.Message, "err", err)
		s.recordFailure(h, &c, api.HookFailure{Name: h.sub.Name, Job: x.Job, At: time.Now(), Reason: why})
	} else {
		s.mu.Lock()
		h.failure = nil
		s.mu.Unlock()
	}
	return s.acknowledge(context.WithoutCancel(ctx), &h.sub, cursor, failed)
}

// recordFailure stores and publishes the failure of a hook.
func (s *Set) recordFailure(h *hook, c *api.Completion, f api.HookFailure) {
	f.On, f.Session = c.Kind, c.Session
	s.mu.Lock()
	h.failure = &f
	s.mu.Unlock()
	if s.Publish != nil {
		s.Publish(api.Event{Kind: "hook", Hook: &f})
	}
}

// whyFailed returns why a hook's run failed, or "" if it succeeded.
func whyFailed(r *api.Result, err error, limitMS *int64) string {
	switch {
	case err != nil:
		return err.Error()
	case r.TimedOut != "" && r.TimedOut != "none":
		return fmt.Sprintf("it was ended: %s is its time", time.Duration(*limitMS)*time.Millisecond)
	case r.ExitCode != nil && *r.ExitCode == 0:
		return ""
	case r.ExitCode != nil:
		return fmt.Sprintf("it ended with status %d%s", *r.ExitCode, lastLine(r))
	case r.Signal != "":
		return "it was ended by " + r.Signal + lastLine(r)
	case r.Message != "":
		return r.State + ": " + r.Message
	}
	return r.State
}

// maxQuoted bounds the part of a hook's output that its failure quotes, in bytes.
const maxQuoted = 200

// lastLine returns the last line that a failed hook printed.
func lastLine(r *api.Result) string {
	text := strings.TrimSpace(r.Output)
	if text == "" {
		return ""
	}
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return ": " + text
}

// request builds the job that runs a hook for a completion.
func request(h *hook, job string, c *api.Completion) (api.Run, error) {
	about, err := json.Marshal(c)
	if err != nil {
		return api.Run{}, err
	}
	limit := hookTime.Milliseconds()
	x := api.Run{
		Call: api.Call{Job: job, TimeoutMS: &limit, OnTimeout: "kill"},
		NewSession: api.NewSession{
			Line: h.sub.Hook, Pipe: true, Labels: map[string]string{hookLabel: h.sub.Name},
			SetEnv: []string{"LONGTERM_COMPLETION=" + string(about), "LONGTERM_SUBSCRIPTION=" + h.sub.Name, api.HookEnv + "=" + h.sub.Name},
		},
	}
	if h.conf == nil {
		return x, nil
	}
	limit = h.conf.Timeout.Milliseconds()
	// The line consists of quoted words only, so that rules see every program that it runs.
	x.Line, x.Argv = "", []string{"/bin/sh", "-c", `printf '%s\n' "$LONGTERM_COMPLETION" | ` + shellquote.Line(h.conf.Run)}
	x.SetEnv = append(x.SetEnv, "LONGTERM_EVENT="+c.Kind, "LONGTERM_EVENT_SESSION="+c.Session, "LONGTERM_EVENT_NAME="+c.Name,
		"LONGTERM_EVENT_STATE="+c.State, "LONGTERM_EVENT_EXIT="+exitText(c.ExitCode), "LONGTERM_EVENT_TEXT="+c.Text)
	return x, nil
}

func exitText(code *int) string {
	if code == nil {
		return ""
	}
	return strconv.Itoa(*code)
}
