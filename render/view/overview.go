package view

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// glances are the last lines of sessions, as the overview shows them. Those that are in sight are fetched anew while
// it is open.
type glances struct {
	panel *overlays.List // nil: closed
	by    map[string]model.Glance
	asked bool
}

// openOverview lists the sessions by how much they want a person, each with its last line.
func openOverview(v *viewer) {
	l := &overlays.List{
		Title: "Overview", Wide: true, Preview: true, Hint: "Enter goes there  Ctrl-R answers  Ctrl-O details", Empty: "no session runs here",
		Items: func() []overlays.Item {
			return overlays.Overview(&v.m, v.look(), v.o.Home, v.o.Now(), v.glances.by, v.m.GoTo)
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
		return overlays.Result{Close: true, Do: do}, true
	}
	v.glances.panel = l
	if v.glances.by == nil {
		v.glances.by = map[string]model.Glance{}
	}
	v.open(l)
	v.fetchGlances()
}

// maxGlances bounds the sessions that are looked at in one go.
const maxGlances = 60

// fetchGlances looks at the sessions that the overview shows.
func (v *viewer) fetchGlances() {
	if v.glances.panel == nil || v.over != overlays.Overlay(v.glances.panel) || v.glances.asked || v.o.Inspector == nil {
		return
	}
	ids := v.glances.panel.InSight(maxGlances)
	v.glances.asked = true
	v.beside(func(ctx context.Context) func() {
		got := map[string]model.Glance{}
		for _, id := range ids {
			if g, err := v.o.Inspector.Glance(ctx, id); err == nil { // an ended session's may be gone
				got[id] = g
			}
		}
		return func() {
			v.glances.asked = false
			for id, g := range got {
				v.glances.by[id] = g
			}
		}
	})
}
