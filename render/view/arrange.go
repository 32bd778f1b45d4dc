package view

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm"
)

// layoutKey is what the arrangement of panes depends on.
type layoutKey struct {
	ids    string
	w, h   int
	loaded bool
}

// arrange places the panes, watching what is new and leaving what is gone.
func (v *viewer) arrange() {
	w, h := v.canvas.screen.Size()
	area, _ := split(w, h)
	ids := v.m.visible()
	if v.m.zoomed && v.m.focus != "" {
		ids = []string{v.m.focus}
	}
	areas := grid(area, len(ids))
	ids = window(ids, v.m.focus, len(areas))
	if key := (layoutKey{strings.Join(ids, "\x00"), w, h, v.m.loaded}); key != v.layout {
		v.layout, v.fresh = key, true
		v.place(ids, areas)
	}
	v.setMouse()
}

func (v *viewer) place(ids []string, areas []rect) {
	old := v.m.panes
	v.m.panes = nil
	for i, id := range ids {
		at := slices.IndexFunc(old, func(p *pane) bool { return p.id == id })
		if at < 0 {
			v.m.panes = append(v.m.panes, v.watch(id, areas[i]))
			continue
		}
		p := old[at]
		old = slices.Delete(old, at, at+1)
		p.place(areas[i])
		p.fit()
		v.m.panes = append(v.m.panes, p)
	}
	for _, p := range old {
		p.stream.Close()
	}
}

// watch opens a pane and a goroutine that hands its frames to the loop.
func (v *viewer) watch(id string, area rect) *pane {
	p := &pane{id: id}
	p.place(area)
	in := p.inner()
	p.cols, p.rows = in.w, in.h
	p.stream = v.src.Watch(v.ctx, id, in.w, in.h)
	frames := p.stream.Frames()
	v.spawn(func() {
		for {
			select {
			case <-v.ctx.Done():
				return
			case f, ok := <-frames:
				if !ok {
					return
				}
				select {
				case v.frames <- paneFrame{p, f}:
				case <-v.ctx.Done():
					return
				}
			}
		}
	})
	return p
}

func (v *viewer) closePanes() {
	for _, p := range v.m.panes {
		p.stream.Close()
	}
}

// setMouse asks the terminal for mere motion of the mouse only while a program wants it.
func (v *viewer) setMouse() {
	flags := tcell.MouseButtonEvents | tcell.MouseDragEvents
	for _, p := range v.m.panes {
		if p.modes.Mouse == vterm.MouseAny {
			flags |= tcell.MouseMotionEvents
		}
	}
	if flags != v.pointer.flags {
		v.pointer.flags = flags
		v.canvas.screen.EnableMouse(flags)
	}
}

// tellFocus tells the programs that gain and lose the focus.
func (v *viewer) tellFocus() {
	want := v.m.focus
	if v.away {
		want = ""
	}
	if want == v.told {
		return
	}
	out, in := false, true
	if p := v.m.pane(v.told); p != nil {
		p.stream.Act(Input{Focus: &out})
	}
	if p := v.m.pane(want); p != nil {
		p.stream.Act(Input{Focus: &in})
	}
	v.told = want
}
