package view

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// openPlayback opens a playback of the focused session next to it. The playback of a floating pane floats too.
func openPlayback(v *viewer) {
	s := v.m.Session(v.m.Focus)
	if s == nil {
		return
	}
	if v.o.Historian == nil {
		v.message = "session history unavailable"
		return
	}
	id, t := s.ID, v.m.Tab()
	v.runAsync(func(ctx context.Context) func() {
		past, err := v.o.Historian.StartPlayback(ctx, id)
		return func() {
			if err != nil {
				v.message = "history not shown: " + err.Error()
				return
			}
			v.playbacks[past] = true
			v.m.Expect(past)
			if v.m.Tab() == t && !v.m.IsFloating(id) {
				t = v.m.MakeManual(v.paneArea())
				p := v.panes.Get(id)
				t.Tree = t.Tree.Split(id, past, p != nil && p.Area.H*layout.CellAspect > p.Area.W)
			} else {
				v.m.Insert(t, id, past)
			}
			v.m.Focus, v.m.Zoomed = past, false
		}
	})
}

// endPlayback ends a playback session, which only this viewer uses. Its pane closes when it has ended.
func (v *viewer) endPlayback(id string) {
	v.runAsync(func(ctx context.Context) func() {
		err := v.src.Kill(ctx, id)
		return func() {
			if err != nil {
				v.message = "not ended: " + err.Error()
			}
		}
	})
}

// endPlaybacksTime is the timeout for ending playback sessions when the viewer exits.
const endPlaybacksTime = 2 * time.Second

// endPlaybacks ends the remaining playback sessions when the viewer exits.
func (v *viewer) endPlaybacks() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), endPlaybacksTime)
	defer cancel()
	var ending sync.WaitGroup
	for id := range v.playbacks {
		if v.m.Running(id) {
			ending.Go(func() { _ = v.src.Kill(ctx, id) }) // if this fails, the session stays in the list
		}
	}
	ending.Wait()
}
