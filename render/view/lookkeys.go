package view

import (
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/vterm/input"
)

// lookKey handles a key while looking back. Without a cursor any key that is typed leads
// back to the present, and goes to the session.
func (v *viewer) lookKey(p *pane, k input.Key) (handled bool) {
	l := p.look
	if !l.keys {
		switch k.Code {
		case input.KeyPageUp:
			v.scroll(p, -l.height)
		case input.KeyPageDown:
			v.scroll(p, l.height)
		case input.KeyEscape:
			v.present(p)
		default:
			v.present(p)
			return false
		}
		return true
	}
	a := v.keys.InScroll(k)
	f, ok := lookActions[a]
	if !ok {
		v.message = "looking back: " + v.keys.ScrollLabel("scroll-leave") + " goes back to the present, " + v.keys.Chord("help") + " lists the keys"
		return true
	}
	f(v, p)
	if p.look != nil {
		p.markAll()
		v.fetch(p, nil)
	}
	return true
}

// moveCursor makes an action of a motion.
func moveCursor(to func(l *look) page.Pos) func(*viewer, *pane) {
	return func(_ *viewer, p *pane) { p.look.move(to(p.look)) }
}

func by(rows, cols int) func(l *look) page.Pos {
	return func(l *look) page.Pos {
		if rows < 0 && l.cursor.Row+rows < l.page.First && !l.loaded {
			l.owed -= l.cursor.Row + rows - l.page.First
		}
		return page.Pos{Row: l.cursor.Row + rows, Col: l.cursor.Col + cols}
	}
}

// pages scrolls by parts of a page, the cursor along with it.
func pages(numerator, denominator int) func(*viewer, *pane) {
	return func(_ *viewer, p *pane) {
		n := p.look.height * numerator / denominator
		p.look.scroll(n)
		p.look.move(page.Pos{Row: p.look.cursor.Row + n, Col: p.look.cursor.Col})
	}
}

func (l *look) lineEnd() page.Pos {
	at := page.Pos{Row: l.cursor.Row}
	if line := l.page.Line(at.Row); line != nil && len(line.Spans) > 0 {
		last := &line.Spans[len(line.Spans)-1]
		at.Col = last.Col + last.Width - 1
	}
	return at
}

// lookActions are the actions of keymap.Scroll.
var lookActions map[keymap.Action]func(*viewer, *pane)

func init() { // a table that its own functions refer to
	lookActions = map[keymap.Action]func(*viewer, *pane){
		"scroll-up":        moveCursor(by(-1, 0)),
		"scroll-down":      moveCursor(by(1, 0)),
		"scroll-left":      moveCursor(by(0, -1)),
		"scroll-right":     moveCursor(by(0, 1)),
		"scroll-word":      moveCursor(func(l *look) page.Pos { return l.page.Word(l.cursor, 1) }),
		"scroll-word-back": moveCursor(func(l *look) page.Pos { return l.page.Word(l.cursor, -1) }),
		"scroll-home":      moveCursor(func(l *look) page.Pos { return page.Pos{Row: l.cursor.Row} }),
		"scroll-line-end":  moveCursor((*look).lineEnd),
		"scroll-page-up":   pages(-1, 1), "scroll-page-down": pages(1, 1),
		"scroll-half-up": pages(-1, 2), "scroll-half-down": pages(1, 2),
		"scroll-top":          (*viewer).lookTop,
		"scroll-bottom":       moveCursor(func(l *look) page.Pos { return page.Pos{Row: l.page.End() - 1} }),
		"scroll-search":       (*viewer).askSearch,
		"scroll-match-up":     func(v *viewer, p *pane) { v.stepMatch(p, -1) },
		"scroll-match-down":   func(v *viewer, p *pane) { v.stepMatch(p, 1) },
		"scroll-command-up":   func(v *viewer, p *pane) { v.stepCommand(p, -1) },
		"scroll-command-down": func(v *viewer, p *pane) { v.stepCommand(p, 1) },
		"scroll-select":       func(_ *viewer, p *pane) { p.look.selecting(page.Characters) },
		"scroll-select-rows":  func(_ *viewer, p *pane) { p.look.selecting(page.Rows) },
		"scroll-select-block": func(_ *viewer, p *pane) { p.look.selecting(page.Block) },
		"scroll-copy":         (*viewer).copyAndLeave,
		"scroll-copy-output":  (*viewer).copyOutput,
		"scroll-leave":        (*viewer).leaveLook,
	}
}

// lookTop goes to the oldest row, loading all.
func (v *viewer) lookTop(p *pane) {
	l := p.look
	l.move(page.Pos{Row: l.page.First})
	if v.o.History != nil && (!l.loaded || l.page.First > 0) {
		v.fetch(p, func() { v.lookTop(p) })
	}
}

func (v *viewer) stepMatch(p *pane, by int) {
	if p.look.search == nil {
		v.askSearch(p)
		return
	}
	if !p.look.step(by) {
		v.message = "not found: " + p.look.search.Pattern
	}
}

// leaveLook gives up the selection first.
func (v *viewer) leaveLook(p *pane) {
	if p.look.sel != nil {
		p.look.sel = nil
		return
	}
	v.present(p)
}

func (v *viewer) copyAndLeave(p *pane) {
	if p.look.sel == nil {
		v.message = "nothing is selected; v selects"
		return
	}
	v.copySelection(p)
	v.present(p)
}

// askSearch asks what to search for, and goes to what is found while it is typed.
func (v *viewer) askSearch(p *pane) {
	l := v.lookBack(p, true)
	l.origin, l.started = l.cursor, l.top
	ask := &overlays.Prompt{Label: "search: ", Search: true}
	ask.Change = func(text string, isRegexp bool) {
		if p.look != l {
			return
		}
		l.cursor = l.page.Clamp(l.origin)
		l.find(text, isRegexp, l.origin)
		p.markAll()
		v.fetch(p, nil)
	}
	ask.Note = func() string {
		switch s := l.search; {
		case s == nil || s.Pattern == "":
			return ""
		case s.Err != nil:
			return s.Err.Error()
		case l.page.First > 0:
			return s.Count() + " …"
		default:
			return s.Count()
		}
	}
	ask.Done = func(string) {
		if l.search != nil && len(l.search.Matches) == 0 && l.search.Err == nil && l.search.Pattern != "" {
			v.message = "not found: " + l.search.Pattern
		}
	}
	ask.Cancel = func() {
		l.search = nil
		l.cursor, l.top = l.page.Clamp(l.origin), max(min(l.started, l.bottom()), l.page.First)
		p.markAll()
	}
	v.fetch(p, nil)
	v.open(ask)
}
