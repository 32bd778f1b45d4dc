package view

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// openPast shows the focused session as it was, beside it as it is; what floats keeps its place, and the past one floats, too.
func openPast(v *viewer) {
	s := v.m.Session(v.m.Focus)
	if s == nil {
		return
	}
	if v.o.Historian == nil {
		v.message = "the past of sessions is not kept here"
		return
	}
	id, t := s.ID, v.m.Tab()
	v.beside(func(ctx context.Context) func() {
		past, err := v.o.Historian.Past(ctx, id)
		return func() {
			if err != nil {
				v.message = "its past is not shown: " + err.Error()
				return
			}
			v.pasts[past] = true
			v.m.Expect(past)
			if v.m.Tab() == t && !v.m.Floats(id) {
				t = v.m.Manual(v.paneArea())
				p := v.panes.Get(id)
				t.Tree = t.Tree.Split(id, past, p != nil && p.Area.H*layout.CellAspect > p.Area.W)
			} else {
				v.m.Insert(t, id, past)
			}
			v.m.Focus, v.m.Zoomed = past, false
		}
	})
}

// endPast ends a session that shows the past of another one: nobody else knows of it. Its pane goes when it has ended.
func (v *viewer) endPast(id string) {
	v.beside(func(ctx context.Context) func() {
		err := v.src.Kill(ctx, id)
		return func() {
			if err != nil {
				v.message = "it goes on: " + err.Error()
			}
		}
	})
}

// pastsTime is how long the viewer takes at its end for the past sessions that it shows.
const pastsTime = 2 * time.Second

// endPasts ends those that are left when the person leaves.
func (v *viewer) endPasts() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), pastsTime)
	defer cancel()
	var ending sync.WaitGroup
	for id := range v.pasts {
		if v.m.Running(id) {
			ending.Go(func() { _ = v.src.Kill(ctx, id) }) // it is in the list of sessions, where it goes on
		}
	}
	ending.Wait()
}
