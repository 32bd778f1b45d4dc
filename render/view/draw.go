package view

import (
	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// draw puts on the terminal what changed since the last time.
func (v *viewer) draw() {
	if v.fresh {
		v.fresh = false
		v.begin()
	}
	look := v.look()
	if overlays.Covers(v.over) {
		v.canvas.Veil(&look.Veil)
	}
	v.panes.Draw(&v.canvas, look, v.m.Focus, v.status)
	v.canvas.Under(v.panes.Over())
	v.side.Draw(&v.canvas, look, &v.m, v.o.Home)
	v.canvas.Under(nil)
	v.canvas.Veil(nil)
	v.drawBar()
	v.panes.DrawCursor(&v.canvas, v.m.Focus, v.m.Running(v.m.Focus))
	v.drawFooter() // its cursor wins
	switch {
	default:
		v.panes.DrawPictures(&v.canvas)
	case v.over != nil:
		v.over.Draw(v.overlayScreen())
	case v.hints && v.mode != modeInput:
		overlays.DrawHints(v.overlayScreen(), v.paneArea(), v.table)
	case v.welcome && len(v.panes.All()) > 0:
		overlays.DrawWelcome(v.overlayScreen(), v.paneArea())
	}
	v.canvas.Show()
}

// drawRows puts on the terminal what was printed, where nothing else happened.
func (v *viewer) drawRows() {
	v.panes.DrawRows(&v.canvas, v.look(), v.status)
	v.panes.DrawCursor(&v.canvas, v.m.Focus, v.m.Running(v.m.Focus))
	v.drawFooter() // its cursor wins
	v.panes.DrawPictures(&v.canvas)
	v.canvas.Show()
}

// drawBar draws the last row.
func (v *viewer) drawBar() {
	s := bars.State{
		Model: &v.m, Keys: v.keys, Message: v.message, Prefix: v.mode == modePrefix, Mode: v.table, Locked: v.locked,
		Panes: v.inSight(), NoHints: v.o.NoHints, Now: v.o.Now(),
	}
	if p := v.focused(); p != nil && p.Copying().StandsStill() {
		s.CopyMode = p.Copying().Hint(v.keys)
	}
	v.bar.Draw(&v.canvas, v.look(), &s)
}

// inSight is how many sessions can be seen, as panes or in the list beside one.
func (v *viewer) inSight() int {
	if v.m.Side.W > 0 {
		return len(v.m.Shown())
	}
	return len(v.panes.All())
}

// status is what is known of a session for its pane's first row; false: nothing.
func (v *viewer) status(id string) (bars.Status, bool) {
	s := v.m.Session(id)
	if s == nil {
		return bars.Status{}, false
	}
	return bars.Status{
		Session: s, Number: v.m.Number(id), Focused: id == v.m.Focus, Alert: v.m.Alerts[id].Kind,
		SyncKeys: v.m.Tab().Sync, Home: v.o.Home, Now: v.o.Now(),
	}, true
}

// begin clears the terminal and has everything drawn.
func (v *viewer) begin() {
	v.canvas.Clear()
	v.bar.Forget()
	v.side.Forget()
	v.panes.Forget()
	if v.m.Loaded && len(v.panes.All()) == 0 {
		bars.DrawEmpty(&v.canvas, v.keys)
	}
}
