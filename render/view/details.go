package view

import (
	"context"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// details are what is known of one session, as the panel shows it. They are fetched anew while it is open.
type details struct {
	panel   *overlays.List // nil: closed
	session string
	list    []model.Detail
	problem string
	asked   bool // they are being fetched
}

// openDetails shows all that is known of the focused session.
func openDetails(v *viewer) { showDetails(v, v.m.Focus) }

func showDetails(v *viewer, id string) {
	s := v.m.Session(id)
	switch {
	case v.o.Inspector == nil:
		v.message = "no more is known here"
		return
	case s == nil:
		return
	}
	v.details = details{session: id}
	v.details.panel = &overlays.List{
		Title: canvas.Printable(s.Name), Wide: true, Grouped: true, Hint: "Enter goes on  Ctrl-Y copies", Empty: "asking…",
		Items: func() []overlays.Item { return detailItems(v) },
	}
	v.details.panel.OnKey = func(k input.Key, it *overlays.Item) (overlays.Result, bool) {
		if it == nil || k.Code != 'y' || k.Mods&input.Ctrl == 0 {
			return overlays.Result{}, false
		}
		text := it.Text
		return overlays.Result{Close: true, Do: func() { v.copy(text) }}, true
	}
	v.open(v.details.panel)
	v.fetchDetails()
}

// fetchDetails asks for the details that are shown, unless that is under way.
func (v *viewer) fetchDetails() {
	id := v.details.session
	if v.details.panel == nil || v.over != overlays.Overlay(v.details.panel) || v.details.asked {
		return
	}
	v.details.asked = true
	v.beside(func(ctx context.Context) func() {
		list, err := v.o.Inspector.Details(ctx, id)
		return func() {
			if v.details.session != id {
				return
			}
			v.details.asked, v.details.problem = false, ""
			if err != nil {
				v.details.problem = err.Error()
				return
			}
			v.details.list, v.fresh = list, true
		}
	})
}

// ended reports that a panel that lives is not shown any more.
func (v *viewer) detailsTick() {
	v.fetchDetails()
	v.fetchGlances()
}

func detailItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	if v.details.problem != "" {
		out = append(out, overlays.Item{Name: "not known", Text: v.details.problem, Sign: "!", Color: v.look().Bad})
	}
	id := v.details.session
	for _, d := range v.details.list {
		sign, color := toneLook(v.look(), d.Tone)
		out = append(out, overlays.Item{
			Name: d.Group, Text: d.Text, Extra: d.Note, Sign: sign, Color: color, Lead: leadWord(d.Lead),
			Do: func() { leadOn(v, id, d) },
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

// leadWord says what Enter does with a line.
func leadWord(l model.Lead) string {
	switch {
	case l.Command != 0:
		return "Enter goes there"
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
		return "Enter has it look only"
	}
	return "Enter copies it"
}

// leadOn goes where a line of the details leads.
func leadOn(v *viewer, id string, d model.Detail) {
	switch l := d.Lead; {
	case l.Command != 0:
		v.m.GoTo(id)
		v.refresh()
		if p := v.focused(); p != nil {
			copyMode(p).ToCommand(l.Command)
		}
	case l.Rule != "":
		v.open(&overlays.Question{Text: "remove the rule " + bars.Cut(d.Text, 60) + "?", Yes: func() {
			v.tell("the rule is removed", func(ctx context.Context) error { return v.o.Inspector.DropRule(ctx, id, l.Rule) })
		}})
	case l.Job != "":
		v.open(&overlays.Question{Text: "stop " + bars.Cut(d.Text, 60) + "?", Yes: func() {
			v.tell("the job is stopped", func(ctx context.Context) error { return v.o.Inspector.StopJob(ctx, l.Job) })
		}})
	case l.Approvals:
		openApprovals(v)
	case l.Answer:
		answerIn(v, id, nil)
	case l.Errors:
		v.m.GoTo(id)
		openProblems(v)
	case l.Client != 0:
		done := "it looks only"
		if l.Types {
			done = "it types again"
		}
		v.tell(done, func(ctx context.Context) error { return v.o.Inspector.LetType(ctx, id, l.Client, l.Types) })
	case l.Size:
		v.m.GoTo(id)
		openSizes(v)
	case l.Copy != "":
		v.copy(l.Copy)
	}
}

// tell does something beside the viewer and says how that went.
func (v *viewer) tell(done string, work func(ctx context.Context) error) {
	v.beside(func(ctx context.Context) func() {
		err := work(ctx)
		return func() {
			v.message = done
			if err != nil {
				v.message = "not done: " + err.Error()
			}
		}
	})
}

// answerIn asks for what the program in a session waits for, and types it there. A password is not shown. What lies
// behind the line stays in sight, as it shows what is asked; nil: nothing lies there.
func answerIn(v *viewer, id string, behind overlays.Overlay) {
	s := v.m.Session(id)
	switch {
	case s == nil || v.o.Inspector == nil:
		return
	case s.Needs == model.NeedsApproval:
		openApprovals(v)
		return
	case v.m.ReadOnly:
		v.message = "read-only: nothing is sent; " + v.keys.Chord("read-only") + " ends this"
		return
	case !s.Wants():
		v.message = canvas.Printable(s.Name) + " asks nothing"
		return
	}
	secret := s.Needs == "password"
	p := overlays.NewPrompt("to "+bars.Cut(s.Name, 20)+", which needs "+s.Needs+": ", "", func(text string) {
		text = strings.TrimRight(text, "\r\n")
		v.tell("answered", func(ctx context.Context) error { return v.o.Inspector.Reply(ctx, id, text, secret) })
	})
	p.Secret, p.Behind = secret, behind
	v.open(p)
}
