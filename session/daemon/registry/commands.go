//go:build unix

package registry

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// onCommand records the start or end of a command.
func (h *Registry) onCommand(e *Handle, c session.Command) {
	h.host.OnCommand(e, &c)
	h.watchers.command(e, &c)
	if !c.Running && h.sandboxOf(e).drafts != nil {
		h.drafts.CommandEnded(h.Drafts(), h.log, e.rec.ID, int(c.Number), &h.draftCounts)
	}
	if e.Record().Temporary {
		return
	}
	rec := CommandRecord(e.rec.ID, &c)
	h.records.Enqueue(writequeue.Key{Session: rec.Session, Command: rec.N}, func() {
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

// CommandRecord returns the record of a session's command, without secret values.
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

// Sources of commands other than users; session.ByExec is the third.
const (
	byAgent   = "agent:"
	ByProgram = "program"
)

// AuthorName returns the source name of an actor, or "" for a user.
func AuthorName(a identity.Actor, program bool) string {
	switch {
	case a.IsAgent():
		return byAgent + a.Agent
	case program:
		return ByProgram
	}
	return ""
}

// InputAuthorName returns By for typed input. It also names users that came by a token or from another host.
func InputAuthorName(a identity.Actor, program bool) string {
	by := AuthorName(a, program)
	switch {
	case by != "":
	case a.Token != "":
		by = api.ByToken + a.Token
	case a.Host != "":
		by = api.ByHost + a.Host
	}
	return by
}

// CommandAuthor returns the source of a command; empty: the user at this machine's keyboard, or unknown.
func CommandAuthor(r *store.Command) string {
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

// Redacted replaces a secret's value.
const Redacted = store.Redacted
