package view

import (
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// problems are the errors that are gone through, one after another: those of one session.
type problems struct {
	session string
	list    []model.Problem
	at      int           // the one that was opened last; -1: none
	opening bool          // the terminal is the editor's
	closed  chan struct{} // closed when the editor that was opened last has ended
}

// openProblems lists the errors of the focused session, or of the next one that has some; Enter opens the editor.
func openProblems(v *viewer) {
	v.findProblems(func() {
		name := v.problems.session
		if s := v.m.Session(name); s != nil {
			name = canvas.Printable(s.Name)
		}
		v.open(&overlays.List{
			Title: "errors of " + name, Wide: true, Places: true, Hint: "Enter opens the editor", Empty: "none",
			Items: func() []overlays.Item { return problemItems(v) },
		})
	})
}

func problemItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	for i := range v.problems.list {
		p := &v.problems.list[i]
		sign := "✗"
		if i == v.problems.at {
			sign = "●"
		}
		out = append(out, overlays.Item{
			Name: placeText(p, v.o.Home), Text: firstLine(p.Message), Sign: sign, Color: v.look().Bad,
			Do: func() { v.edit(i) },
		})
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// placeWidth is what a place takes in the list, in cells: its end is what people look for.
const placeWidth = 24

// placeText is a place, without the beginning of its path where it is long.
func placeText(p *model.Problem, home string) string {
	at := strings.TrimPrefix(p.Place(), p.File)
	return bars.ShortPath(p.File, home, max(1, placeWidth-len(at))) + at
}

// stepProblem opens the error after (1) or before (-1) the one that was opened last.
func stepProblem(by int) action {
	return always(func(v *viewer) {
		if len(v.problems.list) > 0 && v.problems.session == v.m.Focus {
			v.editNext(by)
			return
		}
		v.findProblems(func() { v.editNext(by) })
	})
}

func (v *viewer) editNext(by int) {
	i := v.problems.at + by
	if v.problems.at < 0 && by < 0 {
		i = len(v.problems.list) - 1
	}
	switch {
	case i < 0:
		v.message = "that was the first error"
	case i >= len(v.problems.list):
		v.message = "that was the last error"
	default:
		v.edit(i)
	}
}

// findProblems has the errors of the focused session be known, or those of the next one that has some, and then does
// something with them.
func (v *viewer) findProblems(then func()) {
	if v.o.Editor == nil {
		v.message = "no errors are known here"
		return
	}
	ids := []string{v.m.Focus}
	for i := range v.m.Sessions {
		if s := &v.m.Sessions[i]; s.FirstError != "" && s.ID != v.m.Focus {
			ids = append(ids, s.ID)
		}
	}
	v.beside(func(ctx context.Context) func() {
		var failed error // of a session that was removed meanwhile, perhaps: others have errors as well
		for _, id := range ids {
			list, err := v.o.Editor.Problems(ctx, id)
			if err != nil {
				failed = err
				continue
			}
			if len(list) > 0 {
				return func() {
					if v.problems.opening { // it was asked for twice
						return
					}
					v.foundProblems(id, list)
					then()
				}
			}
		}
		if failed != nil {
			return func() { v.message = "the errors are not known: " + failed.Error() }
		}
		return func() { v.message = "no session printed an error with a place in a file" }
	})
}

// foundProblems takes errors in. Who went through the same ones before goes on there.
func (v *viewer) foundProblems(id string, list []model.Problem) {
	at := -1
	if old := &v.problems; old.session == id && old.at >= 0 && old.at < len(old.list) {
		for i := range list {
			if list[i].Place() == old.list[old.at].Place() && list[i].Message == old.list[old.at].Message {
				at = i
			}
		}
	}
	v.problems = problems{session: id, list: list, at: at}
}

// edit opens the editor at an error. The terminal is the editor's until that ends; sessions go on, and nothing is drawn.
func (v *viewer) edit(i int) {
	if v.problems.opening || i >= len(v.problems.list) {
		return
	}
	p := v.problems.list[i]
	v.problems.at = i
	v.canvas.Undraw()
	if err := canvas.Lend(v.o.Screen); err != nil {
		v.message = "no editor is opened: " + err.Error()
		return
	}
	closed := make(chan struct{})
	v.problems.opening, v.problems.closed = true, closed
	v.pasting, v.pointer.held, v.pointer.grab = nil, 0, "" // their ends are not seen
	v.beside(func(ctx context.Context) func() {
		err := v.edited(ctx, p, closed)
		return func() {
			v.problems.opening, v.keyboard = false, 0
			if back := canvas.TakeBack(v.o.Screen, insideTmux()); back != nil {
				v.message, v.quit = "the terminal: "+back.Error(), true
				return
			}
			v.fresh = true
			v.message = fmt.Sprintf("error %d of %d: %s", i+1, len(v.problems.list), p.Place())
			if err != nil {
				v.message = err.Error()
			}
		}
	})
}

func (v *viewer) edited(ctx context.Context, p model.Problem, closed chan<- struct{}) error {
	defer close(closed)
	return v.o.Editor.Edit(ctx, p)
}

// reclaim takes the terminal from an editor once that has ended, where the viewer leaves meanwhile: what the editor has set
// on it goes with what the viewer gives back.
func (v *viewer) reclaim() {
	if !v.problems.opening {
		return
	}
	<-v.problems.closed
	_ = v.o.Screen.Resume() // the terminal may be gone
}
