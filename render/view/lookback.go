package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/page"
)

// History is fetched a piece at a time, in rows.
const (
	tailRows  = 1000
	olderRows = 5000
)

// lookBack opens the focused pane for looking back, with a cursor or only to scroll.
func (v *viewer) lookBack(p *pane, keys bool) *look {
	if p.look == nil || p.look.passing {
		p.look = newLook(p)
		p.markAll()
	}
	p.look.keys = p.look.keys || keys
	if keys {
		p.look.cursor.Row = min(max(p.look.cursor.Row, p.look.top), p.look.top+p.look.height-1)
		p.look.cursor = p.look.page.Clamp(p.look.cursor)
	}
	p.status = ""
	return p.look
}

// present shows the live screen again.
func (v *viewer) present(p *pane) {
	if p.look != nil {
		p.look = nil
		p.left, p.top = p.wantLeft(), p.wantTop()
		p.markAll()
	}
}

// scroll moves a pane's rows; down to the newest one it is live again.
func (v *viewer) scroll(p *pane, by int) {
	if p.look == nil && by > 0 {
		return
	}
	l := v.lookBack(p, false)
	l.scroll(by)
	if (by > 0 || v.o.History == nil) && l.idle() {
		v.present(p)
		return
	}
	p.markAll()
	v.fetch(p, nil)
}

// fetch loads history if what is shown comes near the page's beginning, or all of it
// while something is searched. then runs when rows have come.
func (v *viewer) fetch(p *pane, then func()) {
	l := p.look
	near := l.top-l.page.First < 2*l.height
	switch {
	case v.o.History == nil || l.asked:
	case !l.loaded:
		l.asked = true
		v.spawn(func() {
			pg, err := v.o.History.Tail(v.ctx, p.id, tailRows)
			v.arrived(p, l, err, func() { l.tail(pg) }, then)
		})
	case l.page.First > 0 && (near || l.search != nil || then != nil):
		l.asked = true
		first := l.page.First
		v.spawn(func() {
			lines, err := v.o.History.Older(v.ctx, p.id, first, olderRows)
			v.arrived(p, l, err, func() {
				if len(lines) == 0 { // forgotten meanwhile
					l.page.First = 0
				}
				l.older(lines)
			}, then)
		})
	}
}

// arrived takes rows in, unless the person has left.
func (v *viewer) arrived(p *pane, l *look, err error, take, then func()) {
	v.later(func() {
		if p.look != l {
			return
		}
		if err != nil {
			l.asked = false
			v.message = "no history: " + err.Error()
			return
		}
		take()
		p.markAll()
		if l.idle() && then == nil { // there is nothing to look back at
			v.present(p)
			return
		}
		if then != nil {
			then()
		}
		v.fetch(p, nil)
	})
}

// withCommands runs f once it is known where commands were typed.
func (v *viewer) withCommands(p *pane, f func()) {
	l := p.look
	if l.typed || v.o.History == nil {
		f()
		return
	}
	v.spawn(func() {
		list, err := v.o.History.Commands(v.ctx, p.id)
		v.later(func() {
			if p.look != l {
				return
			}
			if err != nil {
				v.message = "its commands are not known: " + err.Error()
				return
			}
			l.typed, l.commands = true, list
			l.places = page.Commands(&l.page, list)
			f()
			p.markAll()
		})
	})
}

// stepCommand goes to the command before or after, loading history as needed.
func (v *viewer) stepCommand(p *pane, by int) {
	l := p.look
	switch {
	case !l.loaded && v.o.History != nil:
		v.fetch(p, func() { v.stepCommand(p, by) })
	case !l.typed && v.o.History != nil:
		v.withCommands(p, func() { v.stepCommand(p, by) })
	case l.command(by):
		p.markAll()
	case by < 0 && l.page.First > 0 && len(l.places) < len(l.commands):
		v.fetch(p, func() { v.stepCommand(p, by) })
	default:
		v.message = "no command " + map[int]string{-1: "before", 1: "after"}[by] + " this one is known"
	}
}

// copyOutput copies what a command printed: the one at the cursor, or the newest.
func (v *viewer) copyOutput(p *pane) {
	if v.o.History == nil {
		return
	}
	fetch := func(n int) {
		v.spawn(func() {
			text, err := v.o.History.Output(v.ctx, p.id, n)
			v.later(func() {
				if err != nil {
					v.message = "not copied: " + err.Error()
					return
				}
				v.copy(text)
			})
		})
	}
	if p.look == nil {
		fetch(0)
		return
	}
	v.withCommands(p, func() { fetch(p.look.commandAt()) })
}

// copySelection copies what is selected.
func (v *viewer) copySelection(p *pane) {
	if p.look == nil || p.look.sel == nil {
		return
	}
	v.copy(p.look.sel.Text(&p.look.page))
}

// maxTerminalCopy is the longest text that is sent through the terminal, in bytes:
// terminals cut off or drop what is longer.
const maxTerminalCopy = 1 << 20

// copy hands text to the terminal's clipboard (OSC 52), and to the system's.
func (v *viewer) copy(text string) {
	if strings.TrimSpace(text) == "" {
		v.message = "nothing to copy"
		return
	}
	if len(text) <= maxTerminalCopy {
		v.o.Screen.SetClipboard([]byte(text))
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	v.message = "copied " + count(utf8.RuneCountInString(strings.TrimSuffix(text, "\n")), "character", "characters")
	if lines > 1 {
		v.message = fmt.Sprintf("copied %d lines", lines)
	}
	if v.o.Clipboard == nil {
		return
	}
	v.spawn(func() {
		if err := v.o.Clipboard.Copy(v.ctx, text); err != nil {
			v.later(func() { v.message = "copied by the terminal only: " + err.Error() })
		}
	})
}

// lookMarks are the stretches of a row that look otherwise, found and selected.
func (v *viewer) lookMarks(p *pane, row int, line *render.Line) []page.Mark {
	if p.look.search == nil || line == nil {
		return nil
	}
	return p.look.search.Marks(nil, row, line)
}
