package view

import (
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
)

// draw redraws the parts of the terminal that have changed.
func (v *viewer) draw() {
	if v.needsRedraw {
		v.needsRedraw = false
		v.begin()
	}
	look := v.terminalTheme()
	if overlays.Covers(v.overlay) {
		v.canvas.SetOverride(&look.Dimmed)
	}
	v.panes.Draw(&v.canvas, look, v.m.Focus, v.status)
	v.canvas.SetCovered(v.panes.FloatAreas())
	v.side.Draw(&v.canvas, look, &v.m, v.o.Home)
	v.canvas.SetCovered(nil)
	v.canvas.SetOverride(nil)
	v.drawBar()
	v.panes.DrawCursor(&v.canvas, v.m.Focus, v.m.Running(v.m.Focus))
	v.drawFooter() // its cursor wins
	switch {
	default:
		v.panes.DrawPictures(&v.canvas)
	case v.overlay != nil:
		v.overlay.Draw(v.overlayScreen())
	case v.hints && v.mode != modeInput:
		overlays.DrawHints(v.overlayScreen(), v.paneArea(), v.table)
	case v.welcome && len(v.panes.All()) > 0:
		overlays.DrawWelcome(v.overlayScreen(), v.paneArea())
	}
	v.canvas.Show()
}

// drawRows redraws changed rows of panes if nothing else changed.
func (v *viewer) drawRows() {
	v.panes.DrawRows(&v.canvas, v.terminalTheme(), v.status)
	v.panes.DrawCursor(&v.canvas, v.m.Focus, v.m.Running(v.m.Focus))
	v.drawFooter() // its cursor wins
	v.panes.DrawPictures(&v.canvas)
	v.canvas.Show()
}

// drawBar draws the last row.
func (v *viewer) drawBar() {
	s := statusbar.State{
		Model: &v.m, Keys: v.keys, Message: v.message, Prefix: v.mode == modePrefix, Mode: v.table, Locked: v.locked,
		Panes: v.visibleSessions(), NoHints: v.o.NoHints, Now: v.o.Now(),
	}
	if p := v.focusedPane(); p != nil && p.Copying().IsFrozen() {
		s.CopyMode = p.Copying().Hint(v.keys)
	}
	v.bar.Draw(&v.canvas, v.terminalTheme(), &s)
}

// visibleSessions returns the number of visible sessions, as panes or in the side list.
func (v *viewer) visibleSessions() int {
	if v.m.Side.W > 0 {
		return len(v.m.ShownPanes())
	}
	return len(v.panes.All())
}

// status returns the status of a session for its pane's title row; ok is false if the session is unknown.
func (v *viewer) status(id string) (statusbar.Status, bool) {
	s := v.m.Session(id)
	if s == nil {
		return statusbar.Status{}, false
	}
	return statusbar.Status{
		Session: s, Number: v.m.Number(id), Focused: id == v.m.Focus, Alert: v.m.Alerts[id].Kind,
		SyncKeys: v.m.Tab().Sync, Home: v.o.Home, Now: v.o.Now(),
	}, true
}

// begin clears the terminal and schedules a full redraw.
func (v *viewer) begin() {
	v.canvas.Clear()
	v.bar.Forget()
	v.side.Forget()
	v.panes.Forget()
	if v.m.Loaded && len(v.panes.All()) == 0 {
		statusbar.DrawEmpty(&v.canvas, v.keys)
	}
}
