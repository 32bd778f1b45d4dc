package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// draw puts on the terminal what changed since the last time.
func (v *viewer) draw() {
	if v.fresh {
		v.fresh = false
		v.begin()
	}
	for _, p := range v.panes {
		if m := p.copying(); m != nil && m.Changed() {
			p.markAll()
		}
		v.drawStatus(p)
		v.drawRows(p)
	}
	v.drawSeparators()
	v.drawBar()
	v.drawCursor()
	v.drawFooter() // its cursor wins
	switch {
	case v.over != nil:
		v.over.Draw(v.overlayScreen())
	case v.hints && v.mode == modePrefix:
		overlays.DrawHints(v.overlayScreen(), v.paneArea())
	}
	v.canvas.Show()
}

// drawStatus draws a pane's first row.
func (v *viewer) drawStatus(p *pane) {
	s := v.m.Session(p.id)
	if s == nil || p.area.H < 2 {
		return
	}
	now := v.o.Now()
	line := bars.Status{
		Session: s, Number: v.m.Number(p.id), Focused: p.id == v.m.Focus, Title: p.screen.Title,
		Alert: v.m.Alerts[p.id].Kind, SyncKeys: v.m.Tab().Sync, Home: v.o.Home, Now: now,
	}
	if m := p.copying(); m.StandsStill() {
		line.Copying = m.Position()
	}
	if p.outgrown(now) {
		line.Cols, line.Rows = p.screen.Cols, p.screen.Rows
	}
	p.status = line.Draw(&v.canvas, v.theme, p.area, p.status)
}

// drawBar draws the last row.
func (v *viewer) drawBar() {
	s := bars.State{
		Model: &v.m, Keys: v.keys, Message: v.message, Prefix: v.mode == modePrefix,
		Panes: len(v.panes), NoHints: v.o.NoHints, Now: v.o.Now(),
	}
	if p := v.focused(); p != nil && p.copying().StandsStill() {
		s.CopyMode = p.copying().Hint(v.keys)
	}
	v.bar.Draw(&v.canvas, v.theme, &s)
}

// begin clears the terminal and has everything drawn.
func (v *viewer) begin() {
	v.canvas.Clear()
	v.bar.Forget()
	v.lined = "\x00"
	for _, p := range v.panes {
		p.markAll()
	}
	if v.m.Loaded && len(v.panes) == 0 {
		bars.DrawEmpty(&v.canvas, v.keys)
	}
}

// drawSeparators draws the columns between panes; beside the focused one they stand out.
func (v *viewer) drawSeparators() {
	if v.lined == v.m.Focus {
		return
	}
	v.lined = v.m.Focus
	w, _ := v.canvas.Size()
	focus := v.focused()
	for _, p := range v.panes {
		x := p.area.X + p.area.W
		for y := p.area.Y; x < w && y < p.area.Y+p.area.H; y++ {
			st := v.theme.Separator
			if f := focus; f != nil && y >= f.area.Y && y < f.area.Y+f.area.H && (x == f.area.X-1 || x == f.area.X+f.area.W) {
				st = v.theme.SeparatorNow
			}
			v.canvas.Put(x, y, 1, "│", st)
		}
	}
}

// drawRows draws the rows of a pane that changed.
func (v *viewer) drawRows(p *pane) {
	in := p.inner()
	if boxed := p.outgrown(v.o.Now()); boxed != p.boxed {
		p.boxed = boxed
		p.markAll()
		v.drawStatus(p)
	}
	m := p.copying()
	for i, dirty := range p.dirty {
		if !dirty {
			continue
		}
		p.dirty[i] = false
		at := layout.Rect{X: in.X, Y: in.Y + i, W: in.W, H: 1}
		if m != nil {
			m.DrawRow(&v.canvas, v.theme, at, i, p.modes.ReverseVideo)
			continue
		}
		v.canvas.Line(at, p.row(i), p.screen.Cols, p.left, p.modes.ReverseVideo)
		if p.boxed {
			v.drawOutside(p, at, i)
		}
	}
}

// drawOutside marks what the session's screen does not reach.
func (v *viewer) drawOutside(p *pane, at layout.Rect, i int) {
	from := min(p.screen.Cols-p.left, at.W)
	if p.row(i) == nil {
		from = 0
	}
	v.canvas.Dots(at.X+from, at.Y, at.W-from, v.theme.Outside)
}

// drawCursor shows the focused session's cursor, or none while keys go elsewhere.
func (v *viewer) drawCursor() {
	p := v.focused()
	if p == nil {
		v.canvas.HideCursor()
		return
	}
	in := p.inner()
	if m := p.copying(); m.StandsStill() {
		row, col, shown := m.Cursor()
		x, y := in.X+col, in.Y+row
		if !shown || !in.Contains(x, y) {
			v.canvas.HideCursor()
			return
		}
		v.canvas.ShowCursor(x, y, tcell.CursorStyleSteadyBlock)
		return
	}
	c := p.screen.Cursor
	x, y := in.X+c.X-p.left, in.Y+c.Y-p.top
	if !v.m.Running(v.m.Focus) || !c.Visible || !in.Contains(x, y) {
		v.canvas.HideCursor()
		return
	}
	v.canvas.ShowCursor(x, y, canvas.CursorStyle(c))
}
