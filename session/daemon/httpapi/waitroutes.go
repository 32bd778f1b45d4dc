//go:build unix

package httpapi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/secrets"
)

func (s *Server) postWait(ctx context.Context, in *sessionBody[api.Wait]) (api.Waited, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Waited{}, err
	}
	w := session.WaitFor{All: in.Body.All, Since: in.Body.Since}
	if set := s.veil(ctx); !set.Empty() {
		w.Veil = secrets.NewVeil(set)
	}
	for _, c := range in.Body.Conds {
		cond, err := condition(c)
		if err != nil {
			return api.Waited{}, err
		}
		w.Conds = append(w.Conds, cond)
	}
	timeout := time.Minute
	if in.Body.TimeoutMS > 0 {
		timeout = time.Duration(in.Body.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if in.Body.Input != nil {
		typed, err := s.typeInput(ctx, e, *in.Body.Input)
		if err != nil {
			return api.Waited{}, err
		}
		w.Since = &typed.Cursor
	}
	r, err := e.Session.Wait(ctx, w)
	if err == nil && r.Ended {
		s.lateProgress(ctx, e, &w, &r)
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

// lateTime is how long the reader of a program's output gets after the program's end.
const lateTime = time.Second

// lateProgress looks at progress conditions once more when what an ended program printed has
// been read to its end, which is done beside the session.
func (s *Server) lateProgress(ctx context.Context, e *registry.Handle, w *session.WaitFor, r *session.Waited) {
	if !slices.ContainsFunc(w.Conds, func(c session.Cond) bool { return c.Kind == session.CondProgress }) {
		return
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(lateTime); ctx.Err() == nil && time.Now().Before(until); <-look.C {
		again, err := e.Session.Wait(ctx, *w)
		if err != nil {
			return
		}
		*r = again
		if a := e.Activity(registry.Newest); !again.Ended || a != nil && !a.Running {
			break
		}
	}
	if r.Ended {
		if again, err := e.Session.Wait(ctx, *w); err == nil {
			*r = again
		}
	}
}
