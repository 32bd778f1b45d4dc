//go:build unix

package httpapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys/listeners"
)

func (s *Server) postWait(ctx context.Context, in *sessionBody[api.Wait]) (api.Waited, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Waited{}, err
	}
	w := session.WaitSpec{All: in.Body.All, Since: in.Body.Since}
	if set := s.redactorFor(ctx); !set.Empty() {
		w.Redactor = redact.NewStreamRedactor(set)
	}
	for _, c := range in.Body.Conds {
		cond, err := condition(c)
		if err != nil {
			return api.Waited{}, err
		}
		w.Conds = append(w.Conds, cond)
	}
	if err := checkAgent(s.reg, e, w.Conds); err != nil && in.Body.Input == nil {
		return api.Waited{}, err
	}
	timeout := time.Duration(in.Body.TimeoutMS) * time.Millisecond
	if timeout == 0 {
		timeout = s.conf.TimeoutFor(identity.Of(ctx))
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if in.Body.Input != nil {
		typed, err := s.typeInput(ctx, e, *in.Body.Input)
		if err != nil {
			return api.Waited{}, err
		}
		w.Since = &typed.Cursor
	}
	ctx, stop := agentWaitContext(ctx, s.reg, e, w.Conds)
	defer stop()
	if waitsFor(w.Conds, session.CondPort) {
		defer s.daemon.Ports().Await(e)()
	}
	if waitsFor(w.Conds, session.CondAnomaly) {
		defer e.Anomalies.AddWaiter()()
	}
	r, err := e.Session.Wait(ctx, w)
	if cause := context.Cause(ctx); err != nil && cause != nil && errors.As(cause, new(*api.Error)) {
		return api.Waited{}, cause
	}
	if err == nil && r.Ended {
		r, err = repeatEndedWait(ctx, e, w, r)
	}
	res := api.Waited{Outcome: "fired", Fired: []api.Fired{}, Version: r.Version, Cursor: r.Cursor}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		res.Outcome = "timeout"
	case err != nil:
		return res, err
	case r.Ended:
		res.Outcome = "ended"
	}
	for _, f := range r.Fired {
		res.Fired = append(res.Fired, api.Fired{Condition: in.Body.Conds[f.Cond], Match: f.Match})
	}
	res.Session = s.reg.Describe(e, e.Session.Status())
	return res, nil
}

// recentlyTyped is the age up to which a typed line may be the one that starts an agent.
const recentlyTyped = 3 * time.Second

// checkAgent returns an error if a wait for an agent cannot succeed: no agent runs and the shell is at its prompt.
func checkAgent(reg *registry.Registry, e *registry.Handle, conds []session.Cond) error {
	st := e.Session.Status()
	switch {
	case len(conds) == 0, slices.ContainsFunc(conds, func(c session.Cond) bool { return c.Kind != session.CondAgent }):
		return nil
	case st.Shell.Phase != shell.PhasePrompt, time.Since(st.Shell.Since) < recentlyTyped, time.Since(st.LastTyped) < recentlyTyped:
		return nil
	case reg.Describe(e, st).AgentState != nil:
		return nil
	}
	return api.Errorf(api.CodeInvalid, "no coding agent runs in session %s: its shell is at its prompt", e.Record().Name).
		WithHint("start one first, or wait for something else, for example --for prompt")
}

// agentWaitContext returns a context that ends when the wait cannot succeed: the shell shows its first prompt after the wait
// began, or the agent has ended. The error is its cause.
func agentWaitContext(ctx context.Context, reg *registry.Registry, e *registry.Handle, conds []session.Cond) (context.Context, func()) {
	if len(conds) == 0 || slices.ContainsFunc(conds, func(c session.Cond) bool { return c.Kind != session.CondAgent }) {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		look := time.NewTicker(recentlyTyped / 3)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
			if err := checkAgent(reg, e, conds); err != nil {
				cancel(err)
				return
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		looking.Wait()
	}
}

// waitsFor reports whether a condition is of a kind.
func waitsFor(conds []session.Cond, kind session.CondKind) bool {
	return slices.ContainsFunc(conds, func(c session.Cond) bool { return c.Kind == kind })
}

// repeatEndedWait repeats a wait for progress or an anomaly on an ended session after all output was read: that happens on separate
// goroutines, and the owner may report the end first.
func repeatEndedWait(ctx context.Context, e *registry.Handle, w session.WaitSpec, r session.WaitResult) (session.WaitResult, error) {
	progress, anomaly := waitsFor(w.Conds, session.CondProgress), waitsFor(w.Conds, session.CondAnomaly)
	if !progress && !anomaly || e.Session.Status().State == session.Running {
		return r, nil
	}
	if progress {
		if err := e.ReadToEnd(ctx); err != nil {
			return r, err
		}
	}
	if anomaly {
		if err := e.Anomalies.AwaitCompared(ctx); err != nil {
			return r, err
		}
	}
	if again, err := e.Session.Wait(ctx, w); err == nil { // else its owner has stopped
		r = again
	}
	return r, nil
}

// condition reads a condition of a request.
func condition(c api.Condition) (session.Cond, error) {
	cond := session.Cond{Kind: session.CondKind(c.Kind), Text: c.Text, Off: c.Off, Percent: c.Percent, Row: -1, Col: -1, Port: c.Port}
	if c.Pattern != "" {
		re, err := pattern.Compile(c.Pattern)
		if err != nil {
			return cond, api.Errorf(api.CodeInvalid, "pattern %.80q: %v", c.Pattern, err).WithHint("RE2 syntax, see https://pkg.go.dev/regexp/syntax")
		}
		cond.Regexp = re
	}
	switch cond.Kind {
	case session.CondText:
		cond.Regexp = nil
		if c.Text == "" {
			return cond, api.Errorf(api.CodeInvalid, "a text condition needs a text")
		}
	case session.CondRegexp:
		if c.Pattern == "" {
			return cond, api.Errorf(api.CodeInvalid, "a regexp condition needs a pattern")
		}
	case session.CondAbsent:
		if c.Text == "" && c.Pattern == "" {
			return cond, api.Errorf(api.CodeInvalid, "a gone condition needs a text or a pattern")
		}
	case session.CondQuiet:
		cond.Quiet = time.Second
		if c.QuietMS > 0 {
			cond.Quiet = time.Duration(c.QuietMS) * time.Millisecond
		}
	case session.CondProgress:
		if c.Percent == 0 {
			cond.Percent = 100
		}
	case session.CondPort:
		if !listeners.Supported {
			return cond, api.Errorf(api.CodeInvalid, "a port condition needs Linux: this system does not list the ports of programs").
				WithHint("wait for what the program prints, as in --for text=listening")
		}
	case session.CondCursor:
		if c.Row == nil && c.Col == nil {
			return cond, api.Errorf(api.CodeInvalid, "a cursor condition needs a row or a column")
		}
		if c.Row != nil {
			cond.Row = *c.Row
		}
		if c.Col != nil {
			cond.Col = *c.Col
		}
	}
	return cond, nil
}
