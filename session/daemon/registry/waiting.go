//go:build unix

package registry

import (
	"context"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Sender returns the sender for notifications about these sessions.
func (h *Registry) Sender() notify.Sender {
	s := notify.Sender{Terminals: h.Terminals.Send, Post: h.post}
	if h.known != nil {
		s.Redact = h.known.RedactCommand
	}
	return s
}

// notifyInput schedules a notification that a program waits for input, unless it is answered soon. Owners call it.
func (h *Registry) notifyInput(e *Handle, st *session.Status) {
	if e.inputTimer != nil {
		e.inputTimer.Stop()
	}
	n := h.conf.NotifyWaiting()
	if !n.IsEnabled() || st.State != session.Running || !needsUser(&st.Needs) {
		return
	}
	asked, offset := st.Needs, st.Offset
	e.inputTimer = time.AfterFunc(n.After, func() {
		h.watchers.run(func(ctx context.Context) { h.notifyIfStillWaiting(ctx, e, asked, offset) })
	})
}

// needsUser reports whether a user should answer. A prompt for commands does not count.
func needsUser(n *session.InputNeed) bool {
	if n.Repl {
		return false
	}
	switch n.Kind {
	case inputdetect.Password, inputdetect.Confirm, inputdetect.Menu, inputdetect.Text:
		return true
	default:
		return false
	}
}

// notifyIfStillWaiting sends the notification if the program waits for the same input. The offset identifies the prompt
// across daemons.
func (h *Registry) notifyIfStillWaiting(ctx context.Context, e *Handle, needs session.InputNeed, offset uint64) {
	st, n := e.Session.Status(), h.conf.NotifyWaiting()
	if !n.IsEnabled() || st.State != session.Running || st.Needs != needs || st.Offset != offset || e.Clients.Count() > 0 && !n.Attended {
		return
	}
	r := e.Record()
	w := notify.InputEvent{
		Session: r.ID, Name: r.Name, Kind: string(needs.Kind), Command: st.Shell.Command, Cwd: e.CurrentDir(st), Since: needs.Since, Offset: offset,
		Prompt: h.question(ctx, e),
	}
	sender := h.Sender()
	if err := sender.SendInput(ctx, n, &w); err != nil && ctx.Err() == nil {
		h.log.Warn("notify about input", "session", r.ID, "err", err)
	}
}

// Prompt is a question of a program.
type Prompt struct {
	Kind    inputdetect.Kind
	Since   time.Time
	Offset  uint64 // of the output; identifies the prompt, also for later daemons
	Version uint64 // of the screen that shows it
}

// PromptOf returns the question that a session's program waits for the user to answer, if any.
func (e *Handle) PromptOf(st *session.Status) (Prompt, bool) {
	if st.State != session.Running || !needsUser(&st.Needs) {
		return Prompt{}, false
	}
	p := Prompt{Kind: st.Needs.Kind, Since: st.Needs.Since, Offset: e.promptAt.Load(), Version: st.Version}
	if p.Offset == 0 {
		p.Offset = st.Offset
	}
	return p, true
}

// seenKey is the writequeue.Key.Command of records that a session was seen.
const seenKey = -1

// recordSeen records that a user's client came or left: what ended before is no news.
func (h *Registry) recordSeen(e *Handle, at time.Time) {
	id := e.rec.ID
	h.records.Enqueue(writequeue.Key{Session: id, Command: seenKey}, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.store.MarkSessionSeen(ctx, id, at); err != nil {
			h.log.Warn("record that a session was seen", "session", id, "err", err)
		}
	})
}

// Question returns the text of the line in which a program asks, with secrets masked.
func (h *Registry) Question(ctx context.Context, e *Handle) string { return h.question(ctx, e) }

// question returns the text of the question on the alternate screen, if it was recognized; otherwise the line at the
// cursor, or the last line with text above it. Secrets are masked.
func (h *Registry) question(ctx context.Context, e *Handle) string {
	if st := e.Session.Status(); st.Alt { // the cursor is at a button or a field
		if text := inputdetect.PromptText(st.Needs.Reason); text != "" {
			return text
		}
	}
	var f vterm.Frame
	var above []vterm.Line
	if err := e.Session.WithScreen(ctx, func(v session.View) {
		above = redact.LinesAbove(v.Engine)
		v.Engine.Frame(&f, vterm.Query{})
	}); err != nil {
		return ""
	}
	h.Secrets().RedactFrame(&f, above)
	return lineAbove(&f, f.Cursor.Row)
}

// lineAbove returns the last line with text at or above a row, joined if it was wrapped.
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

// bellInterval is the shortest time between bell notifications of a session.
const bellInterval = time.Minute

// notifyBell sends a notification that a program rang the bell. It ignores a shell at its prompt, which rings for keys
// that the user just pressed. Owners call it.
func (h *Registry) notifyBell(e *Handle, st *session.Status) {
	now := time.Now()
	if !e.lastBell.IsZero() && now.Sub(e.lastBell) < bellInterval || st.State != session.Running || st.Shell.Phase == shell.PhasePrompt {
		return
	}
	n := h.conf.NotifyBell()
	if !n.IsEnabled() || e.Clients.Count() > 0 && !n.Attended {
		return
	}
	e.lastBell = now
	is := *st
	h.watchers.run(func(ctx context.Context) {
		r := e.Record()
		told := notify.BellEvent{Session: r.ID, Name: r.Name, Title: is.Title, Command: is.Shell.Command, Cwd: e.CurrentDir(is), Time: now}
		sender := h.Sender()
		if err := sender.SendBell(ctx, n, &told); err != nil && ctx.Err() == nil {
			h.log.Warn("notify about a bell", "session", r.ID, "err", err)
		}
	})
}
