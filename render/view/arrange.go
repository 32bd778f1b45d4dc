package view

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// placed is an arrangement of panes on the terminal.
type placed struct {
	places []layout.Place
	w, h   int
	footer int
	loaded bool
	framed bool
}

// arrange places the panes, watching what is new and leaving what is gone.
func (v *viewer) arrange() {
	w, h := v.canvas.Size()
	area, footer := v.areas()
	v.m.Gap = 1
	if v.framed() {
		v.m.Gap = 0
	}
	v.panes.Frames(v.framed())
	want := placed{v.m.Arrange(area), w, h, footer.H, v.m.Loaded, v.framed()}
	if !slices.Equal(want.places, v.layout.places) || want.w != v.layout.w || want.h != v.layout.h ||
		want.footer != v.layout.footer || want.loaded != v.layout.loaded || want.framed != v.layout.framed {
		v.layout, v.fresh = want, true
		v.m.Places = want.places
		v.panes.Place(want.places, v.size)
		v.sayUnsent()
	}
	v.panes.Fit(v.size)
	v.setMouse()
}

// sayUnsent says what was typed into sessions whose panes went, and did not reach them.
func (v *viewer) sayUnsent() {
	for _, u := range v.panes.Unsent() {
		v.message = fmt.Sprintf("not sent: %s typed into %s", bars.Count(u.Bytes, "byte"), canvas.Printable(v.nameOf(u.ID)))
	}
}

// closePanes closes all panes at the end, and tells what did not reach their sessions.
func (v *viewer) closePanes() {
	v.panes.Close()
	for _, u := range v.panes.Unsent() {
		if v.o.Unsent != nil {
			v.o.Unsent(v.nameOf(u.ID), u.Bytes)
		}
	}
}

// nameOf is a session's name, or its id where it is gone.
func (v *viewer) nameOf(id string) string {
	if s := v.m.Session(id); s != nil {
		return s.Name
	}
	return id
}

// framed reports whether panes have borders: as the person wants it, unless it was turned here.
func (v *viewer) framed() bool { return v.o.Frames != v.unframed }

// size is the size that the viewer wants for a session; 0×0: it has no say.
func (v *viewer) size(id string, in layout.Rect) (cols, rows int) {
	if v.m.ReadOnly || v.mute[id] {
		return 0, 0
	}
	return in.W, in.H
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
	if v.panes.WantMotion() {
		flags |= tcell.MouseMotionEvents
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
	if want == v.reported {
		return
	}
	out, in := false, true
	if p := v.panes.Get(v.reported); p != nil {
		p.Act(panes.Input{Focus: &out})
	}
	if p := v.panes.Get(want); p != nil {
		p.Act(panes.Input{Focus: &in})
	}
	v.reported = want
}
