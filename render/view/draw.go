package view

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// How the viewer's own parts look. Reverse and dim follow the person's colours, and do
// without any.
var (
	plain     = tcell.StyleDefault
	statusBar = plain.Reverse(true).Dim(true)
	focusBar  = plain.Reverse(true).Bold(true)
	hintBar   = plain.Dim(true)
	askBar    = plain.Reverse(true).Bold(true)
	separator = plain.Dim(true)
)

// draw puts on the terminal what changed since the last time.
func (v *viewer) draw() {
	if v.fresh {
		v.fresh = false
		v.begin()
	}
	if v.m.mode != modeHelp { // it covers the panes
		for _, p := range v.m.panes {
			v.drawStatus(p)
			v.drawRows(p)
		}
	}
	v.drawBar()
	v.drawCursor()
	v.canvas.show()
}

// begin clears the terminal and draws what stands still.
func (v *viewer) begin() {
	v.canvas.clear()
	v.bar = ""
	for _, p := range v.m.panes {
		p.markAll()
		v.drawSeparator(p)
	}
	switch {
	case v.m.mode == modeHelp:
		v.drawHelp()
	case v.m.loaded && len(v.m.panes) == 0:
		v.drawEmpty()
	}
}

func (v *viewer) drawSeparator(p *pane) {
	w, _ := v.canvas.screen.Size()
	x := p.area.x + p.area.w
	for y := p.area.y; x < w && y < p.area.y+p.area.h; y++ {
		v.canvas.put(x, y, 1, "│", separator)
	}
}

// drawStatus draws a pane's first row: number, name and what runs; on the right how it
// fares and for how long.
func (v *viewer) drawStatus(p *pane) {
	s := v.m.session(p.id)
	if s == nil || p.area.h < 2 {
		return
	}
	left := fmt.Sprintf(" %d %s", v.m.number(p.id), s.Name)
	what := p.screen.Title
	if what == "" {
		what = s.Command
	}
	if what != "" {
		left += "  " + what
	}
	right := " " + stateText(s, p.area.w) + " " + duration(s.ran(v.o.Now())) + " "
	focused := p.id == v.m.focus
	if key := fmt.Sprint(left, "\x00", right, focused); p.status != key {
		p.status = key
		style := statusBar
		if focused {
			style = focusBar
		}
		state := style
		if s.failed() && !v.o.NoColor {
			state = style.Foreground(tcell.ColorMaroon)
		}
		w := min(utf8.RuneCountInString(right), p.area.w)
		v.canvas.text(p.area.x, p.area.y, p.area.w-w, left, style)
		v.canvas.text(p.area.x+p.area.w-w, p.area.y, w, right, state)
	}
}

// wideStatus is the width from which on a state is told in words.
const wideStatus = 40

func stateText(s *Session, width int) string {
	switch {
	case s.State == StateRunning:
		return "●"
	case s.ExitCode != nil && *s.ExitCode == 0 && width < wideStatus:
		return "✓"
	case s.ExitCode != nil && *s.ExitCode == 0:
		return "✓ exited 0"
	case s.ExitCode != nil && width < wideStatus:
		return fmt.Sprintf("✗%d", *s.ExitCode)
	case s.ExitCode != nil:
		return fmt.Sprintf("✗ exited %d", *s.ExitCode)
	case width < wideStatus:
		return "✗"
	case s.Signal != "":
		return "✗ " + s.Signal
	}
	return "✗ " + s.State
}

func duration(d time.Duration) string {
	sec := int(d / time.Second)
	switch {
	case sec < 60:
		return fmt.Sprintf("%ds", sec)
	case sec < 3600:
		return fmt.Sprintf("%d:%02d", sec/60, sec%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
}

// drawRows draws the rows of a pane that changed.
func (v *viewer) drawRows(p *pane) {
	in := p.inner()
	for i, dirty := range p.dirty {
		if dirty {
			p.dirty[i] = false
			v.canvas.line(rect{in.x, in.y + i, in.w, 1}, p.row(i), p.screen.Cols, p.modes.ReverseVideo)
		}
	}
}

// drawCursor shows the focused session's cursor, or none while keys go elsewhere.
func (v *viewer) drawCursor() {
	hidden := cursor{x: -1}
	p := v.m.focused()
	if p == nil || v.m.mode == modeHelp || !v.m.running(v.m.focus) || !p.screen.Cursor.Visible {
		v.canvas.setCursor(hidden)
		return
	}
	in, c := p.inner(), p.screen.Cursor
	at := cursor{in.x + c.X, in.y + c.Y - p.top, tcell.CursorStyleDefault}
	if c.X >= in.w || !in.contains(at.x, at.y) {
		v.canvas.setCursor(hidden)
		return
	}
	at.style = cursorStyle(c)
	v.canvas.setCursor(at)
}
