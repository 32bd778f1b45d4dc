package view

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// glances caches the last lines of sessions for the overview. Visible ones are refreshed while it is open.
type glances struct {
	panel    *overlays.List          // nil: closed
	lines    map[string]model.Glance // summaries by session id
	fetching bool                    // a request is in progress
}

// openOverview opens the list of sessions by urgency, each with its last line.
func openOverview(v *viewer) {
	l := &overlays.List{
		Title: "Overview", Wide: true, Preview: true, Hint: "Enter jumps there  Ctrl-R answers  Ctrl-O details", Empty: "no running sessions",
		Items: func() []overlays.Item {
			return overlays.Overview(&v.m, v.look(), v.o.Home, v.o.Now(), v.glances.lines, v.m.GoTo)
		},
	}
	l.OnKey = func(k input.Key, it *overlays.Item) (overlays.Result, bool) {
		if it == nil || k.Mods&input.Ctrl == 0 || k.Code != 'r' && k.Code != 'o' {
			return overlays.Result{}, false
		}
		id := it.Session
		do := func() { answerIn(v, id, l) }
		if k.Code == 'o' {
			do = func() { showDetails(v, id) }
		}
		return overlays.Result{Close: true, Then: do}, true
	}
	v.glances.panel = l
	if v.glances.lines == nil {
		v.glances.lines = map[string]model.Glance{}
	}
	v.open(l)
	v.fetchGlances()
}

// maxGlances limits the sessions that are read at a time.
const maxGlances = 60

// fetchGlances reads the last lines of the visible sessions.
func (v *viewer) fetchGlances() {
	if v.glances.panel == nil || v.overlay != overlays.Overlay(v.glances.panel) || v.glances.fetching || v.o.Inspector == nil {
		return
	}
	ids := v.glances.panel.VisibleSessions(maxGlances)
	v.glances.fetching = true
	v.runAsync(func(ctx context.Context) func() {
		got := map[string]model.Glance{}
		for _, id := range ids {
			if g, err := v.o.Inspector.Glance(ctx, id); err == nil { // an ended session's may be gone
				got[id] = g
			}
		}
		return func() {
			v.glances.fetching = false
			for id, g := range got {
				v.glances.lines[id] = g
			}
		}
	})
}
