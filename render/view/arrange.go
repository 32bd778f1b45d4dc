package view

import (
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm"
)

// placed is an arrangement of panes on the terminal.
type placed struct {
	places []layout.Place
	w, h   int
	footer int
	loaded bool
}

// arrange places the panes, watching what is new and leaving what is gone.
func (v *viewer) arrange() {
	w, h := v.canvas.Size()
	area, footer := v.areas()
	want := placed{v.m.Arrange(area), w, h, footer.H, v.m.Loaded}
	if !slices.Equal(want.places, v.layout.places) || want.w != v.layout.w || want.h != v.layout.h ||
		want.footer != v.layout.footer || want.loaded != v.layout.loaded {
		v.layout, v.fresh = want, true
		v.place(want.places)
	}
	for _, p := range v.panes {
		p.fit(v.say(p.id, p.inner()))
	}
	v.setMouse()
}

// say is the size that the viewer wants for a session; 0×0: it has no say.
func (v *viewer) say(id string, in layout.Rect) (cols, rows int) {
	if v.m.ReadOnly || v.mute[id] {
		return 0, 0
	}
	return in.W, in.H
}

func (v *viewer) place(places []layout.Place) {
	old := v.panes
	v.m.Places = places
	v.panes = nil
	for _, pl := range places {
		at := slices.IndexFunc(old, func(p *pane) bool { return p.id == pl.Session })
		if at < 0 {
			in := (&pane{area: pl.Area}).inner()
			cols, rows := v.say(pl.Session, in)
			v.panes = append(v.panes, v.watch(pl.Session, pl.Area, cols, rows))
			continue
		}
		p := old[at]
		old = slices.Delete(old, at, at+1)
		p.place(pl.Area)
		v.panes = append(v.panes, p)
	}
	for _, p := range old {
		p.stream.Close()
	}
	v.layoutTime()
}

// layoutTime notes when panes were placed: until sessions have followed, a screen of
// another size is nothing to tell of.
func (v *viewer) layoutTime() {
	now := v.o.Now()
	for _, p := range v.panes {
		p.placedAt = now
	}
}

// followTime is how long a session may take to get its pane's size.
const followTime = time.Second

// outgrown reports that the session's screen has a size that the pane did not ask for,
// for longer than it takes to follow.
func (p *pane) outgrown(now time.Time) bool {
	in := p.inner()
	return p.screen.Cols > 0 && (p.screen.Cols != in.W || p.screen.Rows != in.H) && now.Sub(p.placedAt) >= followTime
}

// watch opens a pane and a goroutine that hands its frames to the loop.
func (v *viewer) watch(id string, area layout.Rect, cols, rows int) *pane {
	p := &pane{id: id, cols: cols, rows: rows}
	p.place(area)
	p.stream = v.src.Watch(v.ctx, id, cols, rows)
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
	for _, p := range v.panes {
		p.stream.Close()
	}
	v.stopPreview()
}

// setMouse asks the terminal for mere motion of the mouse only while a program wants it.
func (v *viewer) setMouse() {
	if v.o.NoMouse {
		if v.pointer.flags != 0 {
			v.pointer.flags = 0
			v.o.Screen.DisableMouse()
		}
		return
	}
	flags := tcell.MouseButtonEvents | tcell.MouseDragEvents
	for _, p := range v.panes {
		if p.modes.Mouse == vterm.MouseAny {
			flags |= tcell.MouseMotionEvents
		}
	}
	if flags != v.pointer.flags {
		v.pointer.flags = flags
		v.o.Screen.EnableMouse(flags)
	}
}

// tellFocus tells the programs that gain and lose the focus.
func (v *viewer) tellFocus() {
	want := v.m.Focus
	if v.away {
		want = ""
	}
	if want == v.told {
		return
	}
	out, in := false, true
	if p := v.pane(v.told); p != nil {
		p.stream.Act(Input{Focus: &out})
	}
	if p := v.pane(want); p != nil {
		p.stream.Act(Input{Focus: &in})
	}
	v.told = want
}
