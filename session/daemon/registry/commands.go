//go:build unix

package registry

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// ran records a command that began or ended.
func (h *Registry) ran(e *Handle, c session.Command) {
	h.host.Ran(e, &c)
	h.watchers.command(e, &c)
	if e.Record().Temporary {
		return
	}
	rec := CommandRecord(e.rec.ID, &c)
	h.records.Later(writequeue.Key{Session: rec.Session, Command: rec.N}, func() {
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

// CommandRecord is the record of a command of a session, without the values of secrets.
func CommandRecord(id string, c *session.Command) store.Command {
	r := store.Command{
		Session: id, N: int(c.Number), Text: c.Text, Source: cmp.Or(c.By, string(c.TextSource)), State: store.CommandDone, Quality: string(c.Quality),
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
			value = Redacted
		}
		r.Env[ch.Name] = &value
	}
	return r
}

// Who gives commands to shells besides people; session.ByExec is the third.
const (
	byAgent   = "agent:"
	ByProgram = "program"
)

// By names who types for an actor; empty: a person.
func By(a actor.Actor, program bool) string {
	switch {
	case a.IsAgent():
		return byAgent + a.Agent
	case program:
		return ByProgram
	}
	return ""
}

// Typist is By for what is typed: of people it names who came by a token or from another host.
func Typist(a actor.Actor, program bool) string {
	by := By(a, program)
	switch {
	case by != "":
	case a.Token != "":
		by = api.ByToken + a.Token
	case a.Host != "":
		by = api.ByHost + a.Host
	}
	return by
}

// RanBy is who gave a command to its shell; empty: the user at the keys of this machine, or it is not known.
func RanBy(r *store.Command) string {
	if r.Source == session.ByExec || r.Source == ByProgram {
		return r.Source
	}
	for _, form := range []string{byAgent, api.ByToken, api.ByHost} {
		if strings.HasPrefix(r.Source, form) {
			return r.Source
		}
	}
	return ""
}

// Redacted stands for a secret's value.
const Redacted = store.Redacted
