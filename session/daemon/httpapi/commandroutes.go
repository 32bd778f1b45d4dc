//go:build unix

package httpapi

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/store"
)

// commandsQuery selects commands.
type commandsQuery struct {
	Session string `query:"session" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Text    string `query:"text" doc:"text in the command line"`
	Failed  bool   `query:"failed" doc:"only failed commands"`
	Running bool   `query:"running" doc:"only running commands"`
	Limit   int    `query:"limit" minimum:"0" maximum:"10000" doc:"maximum number, newest first; default 100"`
}

func (s *Server) listCommands(ctx context.Context, in *commandsQuery) ([]api.Command, error) {
	q := store.CommandQuery{Text: in.Text, Failed: in.Failed, Running: in.Running, Limit: in.Limit, Newest: true}
	if q.Limit == 0 {
		q.Limit = 100
	}
	if in.Session != "" {
		e, err := s.reg.Resolve(in.Session)
		if err != nil {
			return nil, err
		}
		q.Session = e.ID()
	}
	s.reg.Flush(ctx)
	recs, err := s.store.Commands(ctx, q)
	if err != nil {
		return nil, err
	}
	list, veil := make([]api.Command, 0, len(recs)), s.redactorFor(ctx)
	for i := range recs {
		c := s.commandView(&recs[len(recs)-1-i]) // oldest first
		// A match inside a secret would reveal it.
		if shown := veil.RedactText(c.Text); in.Text == "" || shown == c.Text || strings.Contains(strings.ToLower(shown), strings.ToLower(in.Text)) {
			list = append(list, c)
		}
	}
	return list, nil
}

// commandPath names a command.
type commandPath struct {
	SessionPath
	N int `path:"n" minimum:"0" doc:"number of the command in its session, from 1; 0: the newest"`
}

func (s *Server) getCommand(ctx context.Context, in *commandPath) (api.Command, error) {
	r, err := s.command(ctx, in)
	if err != nil {
		return api.Command{}, err
	}
	if e := s.reg.ByID(r.Session); e != nil && r.State == store.CommandRunning {
		e.AwaitActivity(ctx)
	}
	return s.commandView(&r), nil
}

func (s *Server) command(ctx context.Context, in *commandPath) (store.Command, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return store.Command{}, err
	}
	s.reg.Flush(ctx)
	if in.N == 0 {
		newest, err := s.store.Commands(ctx, store.CommandQuery{Session: e.ID(), Newest: true, Limit: 1})
		if err == nil && len(newest) == 0 {
			err = api.Errorf(api.CodeNotFound, "session %s has run no command yet", e.Record().Name)
		}
		if err != nil {
			return store.Command{}, err
		}
		return newest[0], nil
	}
	r, err := s.store.Command(ctx, e.ID(), in.N)
	if errors.Is(err, store.ErrNoCommand) {
		err = api.Errorf(api.CodeNotFound, "session %s has no command %d", e.Record().Name, in.N).
			WithHint("`longterm commands %s` lists them", e.Record().Name)
	}
	return r, err
}

func (s *Server) commandView(r *store.Command) api.Command {
	v := api.Command{
		Session: r.Session, N: r.N, Text: r.Text, State: r.State, Quality: r.Quality, Cwd: r.Cwd, CwdAfter: r.CwdAfter,
		ExitCode: r.ExitCode, Signal: r.Signal, Started: r.Started, Output: api.Range{Start: r.From, End: r.To}, Env: r.Env,
		By: registry.CommandAuthor(r),
	}
	if e := s.reg.ByID(r.Session); e != nil {
		v.Name = e.Record().Name
		v.Activity = e.Activity(r.N)
		if r.State == store.CommandRunning && e.IsReady() { // so far
			_, v.Output.End = e.Session.OutputRange()
		}
	}
	until := r.Ended
	if r.State == store.CommandRunning {
		until = time.Now()
	}
	if !until.IsZero() && !r.Started.IsZero() {
		v.Duration = until.Sub(r.Started).Milliseconds()
	}
	return v
}
