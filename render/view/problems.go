package view

import (
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
)

// problems holds the errors of one session through which the user steps.
type problems struct {
	session    string
	list       []model.Problem
	opened     int           // index of the last opened one; -1: none
	editorRuns bool          // the editor has the terminal
	closed     chan struct{} // closed when the last opened editor has exited
}

// openProblems lists the errors of the focused session, or of the next one that has some; Enter opens the editor.
func openProblems(v *viewer) {
	v.findProblems(func() {
		name := v.problems.session
		if s := v.m.Session(name); s != nil {
			name = canvas.Printable(s.Name)
		}
		v.open(&overlays.List{
			Title: "errors of " + name, Wide: true, Places: true, Hint: "Enter opens the editor", Empty: "no errors",
			Items: func() []overlays.Item { return problemItems(v) },
		})
	})
}

func problemItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	for i := range v.problems.list {
		p := &v.problems.list[i]
		sign := "✗"
		if i == v.problems.opened {
			sign = "●"
		}
		out = append(out, overlays.Item{
			Name: placeText(p, v.o.Home), Text: firstLine(p.Message), Sign: sign, Color: v.terminalTheme().Bad,
			Do: func() { v.edit(i) },
		})
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// placeWidth is the width of a position in the list, in cells; its end matters most.
const placeWidth = 24

// placeText returns a place with the start of a long path cut off.
func placeText(p *model.Problem, home string) string {
	at := strings.TrimPrefix(p.Place(), p.File)
	return statusbar.ShortPath(p.File, home, max(1, placeWidth-len(at))) + at
}

// stepProblem returns an action that opens the error after (1) or before (-1) the last opened one.
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
	i := v.problems.opened + by
	if v.problems.opened < 0 && by < 0 {
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

// findProblems fetches the errors of the focused session, or of the next session that has errors, and then calls then.
func (v *viewer) findProblems(then func()) {
	if v.o.Editor == nil {
		v.message = "error list unavailable"
		return
	}
	ids := []string{v.m.Focus}
	for i := range v.m.Sessions {
		if s := &v.m.Sessions[i]; s.FirstError != "" && s.ID != v.m.Focus {
			ids = append(ids, s.ID)
		}
	}
	v.runAsync(func(ctx context.Context) func() {
		var failed error // perhaps of a session that was removed; others may have errors
		for _, id := range ids {
			list, err := v.o.Editor.Problems(ctx, id)
			if err != nil {
				failed = err
				continue
			}
			if len(list) > 0 {
				return func() {
					if v.problems.editorRuns { // the action was repeated while this ran
						return
					}
					v.foundProblems(id, list)
					then()
				}
			}
		}
		if failed != nil {
			return func() { v.message = "errors not loaded: " + failed.Error() }
		}
		return func() { v.message = "no session printed an error with a file and line" }
	})
}

// foundProblems stores the errors. If they are the same as before, the position is kept.
func (v *viewer) foundProblems(id string, list []model.Problem) {
	at := -1
	if old := &v.problems; old.session == id && old.opened >= 0 && old.opened < len(old.list) {
		for i := range list {
			if list[i].Place() == old.list[old.opened].Place() && list[i].Message == old.list[old.opened].Message {
				at = i
			}
		}
	}
	v.problems = problems{session: id, list: list, opened: at}
}

// edit opens the editor at an error. The editor owns the terminal until it exits: sessions continue, and the viewer
// draws nothing.
func (v *viewer) edit(i int) {
	if v.problems.editorRuns || i >= len(v.problems.list) {
		return
	}
	p := v.problems.list[i]
	v.problems.opened = i
	v.canvas.RemovePictures()
	if err := canvas.Lend(v.o.Screen); err != nil {
		v.message = "editor not opened: " + err.Error()
		return
	}
	closed := make(chan struct{})
	v.problems.editorRuns, v.problems.closed = true, closed
	v.pasting, v.pointer.held, v.pointer.grab = nil, 0, "" // their ends are not seen
	v.runAsync(func(ctx context.Context) func() {
		err := v.runEditor(ctx, p, closed)
		return func() {
			v.problems.editorRuns, v.keyboard = false, 0
			if back := canvas.Reclaim(v.o.Screen, insideTmux()); back != nil {
				v.message, v.quit = "terminal: "+back.Error(), true
				return
			}
			v.needsRedraw = true
			v.message = fmt.Sprintf("error %d of %d: %s", i+1, len(v.problems.list), p.Place())
			if err != nil {
				v.message = err.Error()
			}
		}
	})
}

func (v *viewer) runEditor(ctx context.Context, p model.Problem, closed chan<- struct{}) error {
	defer close(closed)
	return v.o.Editor.Edit(ctx, p)
}

// reclaim waits for an open editor to exit and takes the terminal back, so that the viewer restores it on exit.
func (v *viewer) reclaim() {
	if !v.problems.editorRuns {
		return
	}
	<-v.problems.closed
	_ = v.o.Screen.Resume() // the terminal may be gone
}
