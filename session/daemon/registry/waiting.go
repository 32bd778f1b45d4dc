//go:build unix

package registry

import (
	"context"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/notify"
	masking "github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Sender tells people of this set's sessions.
func (h *Registry) Sender() notify.Sender {
	s := notify.Sender{Terminals: h.Terminals.Send, Post: h.post}
	if h.known != nil {
		s.Mask = h.known.Line
	}
	return s
}

// tellWaiting has people told that a program waits for input, once it did so for some time: what is answered soon is
// nothing to call anybody for. Owners call it.
func (h *Registry) tellWaiting(e *Handle, st *session.Status) {
	if e.unread != nil {
		e.unread.Stop()
	}
	n := h.conf.NotifyWaiting()
	if !n.Any() || st.State != session.Running || !asksAPerson(&st.Needs) {
		return
	}
	asked, offset := st.Needs, st.Offset
	e.unread = time.AfterFunc(n.After, func() {
		h.watchers.run(func(ctx context.Context) { h.tellStillWaiting(ctx, e, asked, offset) })
	})
}

// asksAPerson says whether somebody is to answer: at the prompt of a program that takes commands nobody is asked.
func asksAPerson(n *session.Needs) bool {
	if n.Repl {
		return false
	}
	switch n.Kind {
	case evidence.Password, evidence.Confirm, evidence.Menu, evidence.Text:
		return true
	default:
		return false
	}
}

// tellStillWaiting tells it, if nothing has changed. A daemon that finds the same question again names it alike.
func (h *Registry) tellStillWaiting(ctx context.Context, e *Handle, asked session.Needs, offset uint64) {
	st, n := e.Session.Status(), h.conf.NotifyWaiting()
	if !n.Any() || st.State != session.Running || st.Needs != asked || st.Offset != offset || e.Clients.Count() > 0 && !n.Attended {
		return
	}
	r := e.Record()
	w := notify.Waiting{
		Session: r.ID, Name: r.Name, Needs: string(asked.Kind), Command: st.Shell.Command, Cwd: e.CurrentDir(st), Since: asked.Since, Offset: offset,
		Question: h.question(ctx, e),
	}
	sender := h.Sender()
	if err := sender.SendWaiting(ctx, n, &w); err != nil && ctx.Err() == nil {
		h.log.Warn("tell that a program waits for input", "session", r.ID, "err", err)
	}
}

// question is the line that the cursor stands on, or the last above it with text; secrets are masked as on screens.
func (h *Registry) question(ctx context.Context, e *Handle) string {
	var f vterm.Frame
	var above []vterm.Line
	if err := e.Session.Look(ctx, func(v session.View) {
		above = masking.Above(v.Engine)
		v.Engine.Frame(&f, vterm.Query{})
	}); err != nil {
		return ""
	}
	h.Secrets().Frame(&f, above)
	return lineAbove(&f, f.Cursor.Row)
}

// lineAbove is the last line with text that ends at a row or above it, with all its rows where it was wrapped.
func lineAbove(f *vterm.Frame, row int) (text string) {
	for i := min(row, len(f.Lines)-1); i >= 0; i-- {
		l := &f.Lines[i]
		if text != "" && !l.Wrapped {
			break
		}
		if text = string(appendCells(nil, f, l)) + text; strings.TrimSpace(text) == "" {
			text = ""
		}
	}
	return strings.TrimSpace(text)
}

// rangEvery is how often people are told at most that a session's program rings.
const rangEvery = time.Minute

// tellBell has people told that a program rang the bell. A shell at its prompt rings for a key that it has no use for:
// whoever pressed that knows. Owners call it.
func (h *Registry) tellBell(e *Handle, st *session.Status) {
	now := time.Now()
	if !e.rang.IsZero() && now.Sub(e.rang) < rangEvery || st.State != session.Running || st.Shell.Phase == shell.PhasePrompt {
		return
	}
	n := h.conf.NotifyBell()
	if !n.Any() || e.Clients.Count() > 0 && !n.Attended {
		return
	}
	e.rang = now
	is := *st
	h.watchers.run(func(ctx context.Context) {
		r := e.Record()
		told := notify.Rang{Session: r.ID, Name: r.Name, Title: is.Title, Command: is.Shell.Command, Cwd: e.CurrentDir(is), Time: now}
		sender := h.Sender()
		if err := sender.SendRang(ctx, n, &told); err != nil && ctx.Err() == nil {
			h.log.Warn("tell that a program rang the bell", "session", r.ID, "err", err)
		}
	})
}
