//go:build unix

package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// ran records a command that began or ended.
func (h *hub) ran(e *entry, c session.Command) {
	h.host.Ran(e, &c)
	h.followCommand(e, &c)
	if e.record().Temporary {
		return
	}
	rec := commandRecord(e.rec.ID, &c)
	h.commands.Later(writequeue.Key{Session: rec.Session, Command: rec.N}, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := h.store.AddCommand(ctx, rec)
		if errors.Is(err, store.ErrCommandExists) {
			err = h.store.UpdateCommand(ctx, rec)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			h.log.Error("record a command", "session", rec.Session, "n", rec.N, "err", err)
		}
	})
}

func commandRecord(id string, c *session.Command) store.Command {
	r := store.Command{
		Session: id, N: int(c.Number), Text: c.Text, Source: string(c.TextSource), State: store.CommandDone, Quality: string(c.Quality),
		Cwd: c.CwdBefore, CwdAfter: c.CwdAfter, Started: c.Began, Ended: c.Command.Ended, ExitCode: c.Exit, From: c.Start, To: c.End,
	}
	switch {
	case c.Running:
		r.State = store.CommandRunning
	case c.Command.Ended.IsZero():
		r.State = store.CommandLost
	}
	for _, ch := range c.Env {
		if r.Env == nil {
			r.Env = map[string]*string{}
		}
		if ch.Kind == shell.EnvUnset {
			r.Env[ch.Name] = nil
			continue
		}
		value := ch.Value
		if ch.Redacted {
			value = redacted
		}
		r.Env[ch.Name] = &value
	}
	return r
}

// redacted stands for a secret's value.
const redacted = "[redacted]"

// commandsQuery asks for commands.
type commandsQuery struct {
	Session string `query:"session" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Text    string `query:"text" doc:"occurs in the command line"`
	Failed  bool   `query:"failed" doc:"only those that failed"`
	Running bool   `query:"running" doc:"only those that run"`
	Limit   int    `query:"limit" minimum:"0" maximum:"10000" doc:"the newest so many; default 100"`
}

func (d *Daemon) listCommands(ctx context.Context, in *commandsQuery) ([]api.Command, error) {
	q := store.CommandQuery{Text: in.Text, Failed: in.Failed, Running: in.Running, Limit: in.Limit, Newest: true}
	if q.Limit == 0 {
		q.Limit = 100
	}
	if in.Session != "" {
		e, err := d.hub.resolve(in.Session)
		if err != nil {
			return nil, err
		}
		q.Session = e.rec.ID
	}
	d.hub.commands.Flush(ctx)
	recs, err := d.store.Commands(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]api.Command, 0, len(recs))
	for i := range recs {
		list = append(list, d.hub.commandView(&recs[len(recs)-1-i])) // oldest first
	}
	return list, nil
}

// commandPath names a command.
type commandPath struct {
	SessionPath
	N int `path:"n" minimum:"0" doc:"number of the command in its session, from 1; 0: the newest"`
}

func (d *Daemon) getCommand(ctx context.Context, in *commandPath) (api.Command, error) {
	r, err := d.command(ctx, in)
	if err != nil {
		return api.Command{}, err
	}
	return d.hub.commandView(&r), nil
}

func (d *Daemon) command(ctx context.Context, in *commandPath) (store.Command, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return store.Command{}, err
	}
	d.hub.commands.Flush(ctx)
	if in.N == 0 {
		newest, err := d.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID, Newest: true, Limit: 1})
		if err == nil && len(newest) == 0 {
			err = api.Errorf(api.CodeNotFound, "session %s has run no command yet", e.record().Name)
		}
		if err != nil {
			return store.Command{}, err
		}
		return newest[0], nil
	}
	r, err := d.store.Command(ctx, e.rec.ID, in.N)
	if errors.Is(err, store.ErrNoCommand) {
		err = api.Errorf(api.CodeNotFound, "session %s has no command %d", e.record().Name, in.N).
			WithHint("`longterm commands %s` lists them", e.record().Name)
	}
	return r, err
}

func (h *hub) commandView(r *store.Command) api.Command {
	v := api.Command{
		Session: r.Session, N: r.N, Text: r.Text, State: r.State, Quality: r.Quality, Cwd: r.Cwd, CwdAfter: r.CwdAfter,
		ExitCode: r.ExitCode, Signal: r.Signal, Started: r.Started, Output: api.Range{Start: r.From, End: r.To}, Env: r.Env,
	}
	if e := h.byID(r.Session); e != nil {
		v.Name = e.record().Name
		v.Activity = e.work.view(r.N)
		if r.State == store.CommandRunning && e.ready.Load() { // so far
			_, v.Output.End = e.s.OutputRange()
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
