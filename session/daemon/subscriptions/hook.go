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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

const (
	// hookTime is how long a hook may run that no configuration says it of; then it is ended.
	hookTime = 5 * time.Minute
	// hookBatch is how many completions a hook's runner reads at once.
	hookBatch = 64
	// againAfter is the pause after a trouble that is none of the hook's.
	againAfter = time.Second
	// liveQueue is how many events that are not kept wait for a hook that runs.
	liveQueue = 64
)

// hookLabel marks sessions for whose events no hook is run: each would be the cause of another.
const hookLabel = api.HookLabel

// hook is one that runs: of a subscription, or of the configuration.
type hook struct {
	sub  store.Subscription // its runner's
	of   *config.Hook       // nil: a subscription's line
	stop context.CancelFunc
	done chan struct{} // closed when its runner has ended
	live chan api.Completion
	last time.Time // of what it was last run for

	// Guarded by Set.mu:
	job     string // the newest
	skipped int    // not run for, by its limit
	failure *api.HookFailure
}

// startHook has a subscription's hook run for its completions, if it has one.
func (s *Set) startHook(sub *store.Subscription) {
	if sub.Hook != "" && !isConfigured(sub.Name) {
		s.start(sub, nil)
	}
}

// start has a hook run; one of the same subscription that runs is left to it.
func (s *Set) start(sub *store.Subscription, of *config.Hook) {
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.hooks[sub.UID]
	if before != nil && before.of == nil {
		return
	}
	// A hook is a person's: who may make one is decided before it comes here.
	ctx, stop := context.WithCancel(actor.With(s.ctx, actor.Actor{UID: os.Getuid()}))
	h := &hook{sub: *sub, of: of, stop: stop, done: make(chan struct{}), live: make(chan api.Completion, liveQueue)}
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

// runHooks runs a hook for one completion after the other, until the subscription or the daemon is gone.
func (s *Set) runHooks(ctx context.Context, h *hook) {
	sub := &h.sub
	if h.of != nil {
		sub.Kinds = h.of.Kinds()
	}
	for ctx.Err() == nil {
		grown := s.next() // before it is looked
		list, upTo, err := s.pending(ctx, h)
		passed := uint64(0)
		for i := range list {
			if !s.wants(ctx, h, &list[i]) {
				passed = list[i].Seq
				continue
			}
			if err = s.act(ctx, h, hookJob(sub, list[i].Seq), view(&list[i]), list[i].Seq); err != nil {
				break
			}
			h.last = list[i].At
		}
		if err == nil && len(list) == 0 && upTo > sub.Cursor+store.KeptCompletions/2 {
			passed = upTo // of others, which are dropped some time
		}
		if passed > sub.Cursor { // also before a trouble: what was left out is not counted again
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

// pending are completions that the hook has not seen.
func (s *Set) pending(ctx context.Context, h *hook) (list []store.Completion, upTo uint64, err error) {
	if h.of != nil && len(h.sub.Kinds) == 0 { // only of events that are not kept
		upTo, err = s.store.NewestCompletion(ctx)
		return nil, upTo, err
	}
	list, _, upTo, err = s.store.Completions(ctx, &h.sub, h.sub.Cursor, hookBatch)
	return list, upTo, err
}

// runLive runs a hook for an event that is not kept: once, or not at all.
func (s *Set) runLive(ctx context.Context, h *hook, c api.Completion) {
	if s.limited(h, c.At) {
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

func pause(ctx context.Context) {
	t := time.NewTimer(againAfter)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// limited says that a hook is not run now, since it was run a short time ago; it is counted.
func (s *Set) limited(h *hook, at time.Time) bool {
	if h.of == nil || h.of.Every == 0 {
		return false
	}
	if since := at.Sub(h.last); !h.last.IsZero() && since >= 0 && since < h.of.Every {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.skipped++
		return true
	}
	return false
}

// runHook runs a hook for a completion, to its end, and acknowledges up to a cursor. A daemon that leaves meanwhile has
// decided nothing: the next one finds the job by its id. How the hook ends is counted and no reason to run it again.
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
		s.failed(h, &c, api.HookFailure{Name: h.sub.Name, Job: x.Job, At: time.Now(), Reason: why})
	} else {
		s.mu.Lock()
		h.failure = nil
		s.mu.Unlock()
	}
	return s.acknowledge(context.WithoutCancel(ctx), &h.sub, cursor, failed)
}

// failed keeps and tells that a hook failed.
func (s *Set) failed(h *hook, c *api.Completion, f api.HookFailure) {
	f.On, f.Session = c.Kind, c.Session
	s.mu.Lock()
	h.failure = &f
	s.mu.Unlock()
	if s.Tell != nil {
		s.Tell(api.Event{Kind: "hook", Hook: &f})
	}
}

// whyFailed says why a hook's run is none that went well; empty: it went well.
func whyFailed(r *api.Result, err error, limitMS *int64) string {
	switch {
	case err != nil:
		return err.Error()
	case r.TimedOut != "" && r.TimedOut != "none":
		return fmt.Sprintf("it was ended: %s is its time", time.Duration(*limitMS)*time.Millisecond)
	case r.ExitCode != nil && *r.ExitCode == 0:
		return ""
	case r.ExitCode != nil:
		return fmt.Sprintf("it ended with status %d%s", *r.ExitCode, lastWords(r))
	case r.Signal != "":
		return "it was ended by " + r.Signal + lastWords(r)
	case r.Message != "":
		return r.State + ": " + r.Message
	}
	return r.State
}

// maxWords bounds what is told of a hook's own complaint, in bytes.
const maxWords = 200

// lastWords is the end of what a hook that failed printed.
func lastWords(r *api.Result) string {
	text := strings.TrimSpace(r.Output)
	if text == "" {
		return ""
	}
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "…"
	}
	return ": " + text
}

// request is what runs a hook for a completion.
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
	if h.of == nil {
		return x, nil
	}
	limit = h.of.Timeout.Milliseconds()
	// The line is built of quoted words alone, so that rules see all of what is run.
	x.Line, x.Argv = "", []string{"/bin/sh", "-c", `printf '%s\n' "$LONGTERM_COMPLETION" | ` + shellquote.Line(h.of.Run)}
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
