package view

import (
	"context"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// details is the state of the details panel of one session. It is refreshed while the panel is open.
type details struct {
	panel    *overlays.List // nil: closed
	session  string
	list     []model.Detail
	problem  string
	fetching bool // a request is in progress
}

// openDetails opens the details of the focused session.
func openDetails(v *viewer) { showDetails(v, v.m.Focus) }

func showDetails(v *viewer, id string) {
	s := v.m.Session(id)
	switch {
	case v.o.Inspector == nil:
		v.message = "details unavailable"
		return
	case s == nil:
		return
	}
	v.details = details{session: id}
	v.details.panel = &overlays.List{
		Title: canvas.Printable(s.Name), Wide: true, Grouped: true, Hint: "Enter selects  Ctrl-Y copies", Empty: "loading…",
		Items: func() []overlays.Item { return detailItems(v) },
	}
	v.details.panel.OnKey = func(k input.Key, it *overlays.Item) (overlays.Result, bool) {
		if it == nil || k.Code != 'y' || k.Mods&input.Ctrl == 0 {
			return overlays.Result{}, false
		}
		text := it.Text
		return overlays.Result{Close: true, Then: func() { v.copy(text) }}, true
	}
	v.open(v.details.panel)
	v.fetchDetails()
}

// fetchDetails fetches the shown details, unless a fetch is under way.
func (v *viewer) fetchDetails() {
	id := v.details.session
	if v.details.panel == nil || v.overlay != overlays.Overlay(v.details.panel) || v.details.fetching {
		return
	}
	v.details.fetching = true
	v.runAsync(func(ctx context.Context) func() {
		list, err := v.o.Inspector.Details(ctx, id)
		return func() {
			if v.details.session != id {
				return
			}
			v.details.fetching, v.details.problem = false, ""
			if err != nil {
				v.details.problem = err.Error()
				return
			}
			v.details.list, v.needsRedraw = list, true
		}
	})
}

// detailsTick refreshes the open details panel, the overview, the inbox and the changes.
func (v *viewer) detailsTick() {
	v.fetchDetails()
	v.fetchSummaries()
	v.fetchInbox()
	v.fetchChanges()
}

func detailItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	if v.details.problem != "" {
		out = append(out, overlays.Item{Name: "unavailable", Text: v.details.problem, Sign: "!", Color: v.terminalTheme().Bad})
	}
	id := v.details.session
	for _, d := range v.details.list {
		sign, color := toneLook(v.terminalTheme(), d.Tone)
		out = append(out, overlays.Item{
			Name: d.Group, Text: d.Text, Extra: d.Note, Sign: sign, Color: color, EnterHint: actionHint(d.Action),
			Do: func() { runDetailAction(v, id, d) },
		})
	}
	return out
}

func toneLook(th *theme.Theme, t model.Tone) (sign string, c tcell.Color) {
	switch t {
	case model.ToneGood:
		return "✓", th.Good
	case model.ToneBad:
		return "✗", th.Bad
	case model.ToneWarn:
		return "!", th.Warn
	case model.ToneBusy:
		return "●", th.Busy
	case model.ToneWants:
		return "?", th.Wants
	}
	return "", tcell.ColorDefault
}

// actionHint returns the hint for the action of Enter on a line.
func actionHint(l model.DetailAction) string {
	switch {
	case l.Command != 0:
		return "Enter jumps there"
	case l.Rule != "":
		return "Enter removes the rule"
	case l.Job != "":
		return "Enter stops the job"
	case l.Approvals:
		return "Enter answers it"
	case l.Answer:
		return "Enter answers it"
	case l.Errors:
		return "Enter lists the errors"
	case l.Size:
		return "Enter changes it"
	case l.Client != 0 && l.Types:
		return "Enter lets it type"
	case l.Client != 0:
		return "Enter makes it view-only"
	}
	return "Enter copies it"
}

// runDetailAction runs the action of a line of the details.
func runDetailAction(v *viewer, id string, d model.Detail) {
	switch l := d.Action; {
	case l.Command != 0:
		v.m.GoTo(id)
		v.refresh()
		if p := v.focusedPane(); p != nil {
			copyMode(p).ToCommand(l.Command)
		}
	case l.Rule != "":
		v.open(&overlays.Confirmation{Text: "remove rule " + statusbar.Cut(d.Text, 60) + "?", Yes: func() {
			v.runAndReport("rule removed", func(ctx context.Context) error { return v.o.Inspector.DropRule(ctx, id, l.Rule) })
		}})
	case l.Job != "":
		v.open(&overlays.Confirmation{Text: "stop " + statusbar.Cut(d.Text, 60) + "?", Yes: func() {
			v.runAndReport("job stopped", func(ctx context.Context) error { return v.o.Inspector.StopJob(ctx, l.Job) })
		}})
	case l.Approvals:
		openApprovals(v, "")
	case l.Answer:
		answerIn(v, id, nil)
	case l.Errors:
		v.m.GoTo(id)
		openProblems(v)
	case l.Client != 0:
		done := "client is view-only"
		if l.Types {
			done = "client may type again"
		}
		v.runAndReport(done, func(ctx context.Context) error { return v.o.Inspector.LetType(ctx, id, l.Client, l.Types) })
	case l.Size:
		v.m.GoTo(id)
		openSizes(v)
	case l.Copy != "":
		v.copy(l.Copy)
	}
}

// runAndReport runs work in the background and shows in the status bar how it ended.
func (v *viewer) runAndReport(done string, work func(ctx context.Context) error) {
	v.runAsync(func(ctx context.Context) func() {
		err := work(ctx)
		return func() {
			v.message = done
			if err != nil {
				v.message = "failed: " + err.Error()
			}
		}
	})
}

// answerIn prompts for the answer to a session's program, and types it there. A password is not shown. behind is the
// overlay that stays visible below the prompt, because it shows the question; it may be nil.
func answerIn(v *viewer, id string, behind overlays.Overlay) {
	s := v.m.Session(id)
	switch {
	case s == nil || v.o.Inspector == nil:
		return
	case s.Needs == model.NeedsApproval:
		openApprovals(v, "")
		return
	case v.m.ReadOnly:
		v.message = "read-only: nothing is sent; " + v.keys.Chord("read-only") + " turns it off"
		return
	case !s.NeedsAnswer():
		v.message = canvas.Printable(s.Name) + " has no prompt to answer"
		return
	}
	secret := s.Needs == "password"
	p := overlays.NewPrompt("to "+statusbar.Cut(s.Name, 20)+", which needs "+s.Needs+": ", "", func(text string) {
		text = strings.TrimRight(text, "\r\n")
		v.runAndReport("answered", func(ctx context.Context) error { return v.o.Inspector.Reply(ctx, id, text, secret) })
	})
	p.Secret, p.Behind = secret, behind
	v.open(p)
}
