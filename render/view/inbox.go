package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// inbox caches the entries of the inbox, which are refreshed while its list is open.
type inbox struct {
	panel    *overlays.List // nil: closed
	list     []model.InboxEntry
	loaded   bool
	problem  string // why entries are missing
	fetching bool   // a request is in progress
	changes  int    // marks that were sent; a list that was requested before the newest is old
}

// openInbox opens the list of matters that need the user's attention.
func openInbox(v *viewer) {
	if v.o.Inbox == nil {
		v.message = "inbox unavailable"
		return
	}
	v.inbox = inbox{changes: v.inbox.changes}
	v.inbox.panel = &overlays.List{
		Title: "Inbox", Wide: true, Hint: "Enter jumps there  Ctrl-R answers  Ctrl-D done  Ctrl-S snoozes",
		Items: func() []overlays.Item { return inboxItems(v) }, OnKey: v.inboxKey,
	}
	v.open(v.inbox.panel)
	v.fetchInbox()
}

// fetchInbox reads the entries while the list is shown, also below a prompt.
func (v *viewer) fetchInbox() {
	shown := v.overlay
	if p, ok := shown.(*overlays.Prompt); ok {
		shown = p.Behind
	}
	if v.inbox.panel == nil || shown != overlays.Overlay(v.inbox.panel) || v.inbox.fetching {
		return
	}
	v.inbox.fetching = true
	changes := v.inbox.changes
	v.runAsync(func(ctx context.Context) func() {
		list, err := v.o.Inbox.Entries(ctx)
		return func() {
			v.inbox.fetching = false
			if changes != v.inbox.changes {
				v.fetchInbox()
				return
			}
			v.inbox.list, v.inbox.loaded, v.inbox.problem = list, true, ""
			if err != nil {
				v.inbox.problem = err.Error()
			}
		}
	})
}

func inboxItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	v.inbox.panel.Empty = "loading…"
	if v.inbox.loaded {
		v.inbox.panel.Empty = "nothing needs your attention"
	}
	if v.inbox.problem != "" {
		out = append(out, overlays.Item{Name: "unavailable", Text: v.inbox.problem, Sign: "!", Color: v.terminalTheme().Bad})
	}
	for i := range v.inbox.list {
		e := &v.inbox.list[i]
		sign, color := inboxLook(v.terminalTheme(), e.Kind)
		out = append(out, overlays.Item{
			Key: e.ID, Name: e.Name, Text: e.Text, Extra: e.Kind + " " + statusbar.Duration(max(0, v.o.Now().Sub(e.Since))), Names: e.ID,
			Sign: sign, Color: color, Below: e.Text + "\n" + e.Command, Do: func() { v.goToEntry(e) },
		})
	}
	return out
}

func inboxLook(th *theme.Theme, kind string) (sign string, c tcell.Color) {
	switch kind {
	case model.InboxApproval:
		return "!", th.Wants
	case model.InboxQuestion:
		return "?", th.Wants
	case "failed", "anomaly":
		return "✗", th.Bad
	case "finished":
		return "✓", th.Good
	case "port":
		return "●", th.Busy
	}
	return "♪", th.Warn
}

// goToEntry focuses the session of an entry, or opens the approval.
func (v *viewer) goToEntry(e *model.InboxEntry) {
	switch {
	case e.Kind == model.InboxApproval:
		openApprovals(v, e.ID)
	case v.m.Session(e.Session) == nil:
		v.message = e.ID + " has no session here: " + e.Command
	default:
		v.m.GoTo(e.Session)
	}
}

// inboxKey answers, marks or snoozes the chosen entry.
func (v *viewer) inboxKey(k input.Key, it *overlays.Item) (overlays.Result, bool) {
	if it == nil || it.Key == "" || k.Mods&input.Ctrl == 0 {
		return overlays.Result{}, false
	}
	i := slices.IndexFunc(v.inbox.list, func(e model.InboxEntry) bool { return e.ID == it.Key })
	if i < 0 {
		return overlays.Result{}, false
	}
	e := v.inbox.list[i]
	switch k.Code {
	case 'r':
		return overlays.Result{Then: func() { v.answerEntry(&e) }}, true
	case 'd':
		return overlays.Result{Then: func() { v.markDone(&e) }}, true
	case 's':
		return overlays.Result{Then: func() { v.askSnooze(&e) }}, true
	}
	return overlays.Result{}, false
}

func (v *viewer) answerEntry(e *model.InboxEntry) {
	switch {
	case e.Kind == model.InboxApproval:
		openApprovals(v, e.ID)
	case e.Kind != model.InboxQuestion:
		v.message = e.ID + " is not a question; Ctrl-D marks it as done"
	case !e.Answerable:
		v.message = e.ID + " is answered in its terminal; Enter jumps there"
	case v.m.ReadOnly:
		v.message = "read-only: nothing is sent; " + v.keys.Chord("read-only") + " turns it off"
	default:
		v.askInInbox("to "+statusbar.Cut(canvas.Printable(e.Name), 20)+": ", "", func(text string) {
			v.changeEntry(e.ID, "answered", func(ctx context.Context) error { return v.o.Inbox.AnswerEntry(ctx, e.ID, text) })
		})
	}
}

func (v *viewer) markDone(e *model.InboxEntry) {
	if e.Kind == model.InboxApproval {
		v.message = e.ID + " is pending: answer or snooze it"
		return
	}
	v.changeEntry(e.ID, "done", func(ctx context.Context) error { return v.o.Inbox.MarkDone(ctx, e.ID) })
}

func (v *viewer) askSnooze(e *model.InboxEntry) {
	v.askInInbox("hide "+e.ID+" for: ", "1h", func(text string) {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			v.message = fmt.Sprintf("%q: invalid duration; use one as in 30m, 2h or 24h", text)
			return
		}
		v.changeEntry(e.ID, "hidden for "+statusbar.Duration(d), func(ctx context.Context) error { return v.o.Inbox.Snooze(ctx, e.ID, d) })
	})
}

// askInInbox asks for a line below the list, and then shows the list again.
func (v *viewer) askInInbox(label, text string, done func(string)) {
	back := func() { v.open(v.inbox.panel) }
	p := overlays.NewPrompt(label, text, func(text string) {
		back()
		done(text)
	})
	p.Cancel, p.Behind = back, v.inbox.panel
	v.open(p)
}

// changeEntry changes an entry, which leaves the list at once, and then reads the list again.
func (v *viewer) changeEntry(id, done string, change func(ctx context.Context) error) {
	v.inbox.changes++
	v.inbox.list = slices.DeleteFunc(slices.Clone(v.inbox.list), func(e model.InboxEntry) bool { return e.ID == id })
	v.runAsync(func(ctx context.Context) func() {
		err := change(ctx)
		return func() {
			v.message = id + ": " + done
			if err != nil {
				v.message = id + ": " + err.Error()
			}
			v.inbox.changes++
			v.fetchInbox()
		}
	})
}
