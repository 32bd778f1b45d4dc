package view

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/statusbar"
)

// paneLayout is the arrangement of panes that is on the terminal.
type paneLayout struct {
	places []layout.Place
	w, h   int  // size of the terminal
	footer int  // height of the footer
	loaded bool // sessions were loaded
	framed bool // panes have borders
}

// arrange places the panes. It opens streams for new sessions and closes panes of removed ones.
func (v *viewer) arrange() {
	w, h := v.canvas.Size()
	area, footer := v.areas()
	v.m.Gap = 1
	if v.usesFrames() {
		v.m.Gap = 0
	}
	v.panes.SetBorders(v.usesFrames())
	want := paneLayout{v.m.Arrange(area), w, h, footer.H, v.m.Loaded, v.usesFrames()}
	if !slices.Equal(want.places, v.layout.places) || want.w != v.layout.w || want.h != v.layout.h ||
		want.footer != v.layout.footer || want.loaded != v.layout.loaded || want.framed != v.layout.framed {
		v.layout, v.needsRedraw = want, true
		v.m.Places = want.places
		v.panes.Place(want.places, v.size)
		v.reportUnsent()
	}
	v.panes.Fit(v.size)
	v.setMouse()
}

// reportUnsent shows how much typed input did not reach sessions because their panes closed.
func (v *viewer) reportUnsent() {
	for _, u := range v.panes.Unsent() {
		v.message = fmt.Sprintf("not sent: %s typed into %s", statusbar.Count(u.Bytes, "byte"), canvas.Printable(v.nameOf(u.ID)))
	}
}

// closePanes closes all panes at exit and reports typed input that was not sent.
func (v *viewer) closePanes() {
	v.panes.Close()
	for _, u := range v.panes.Unsent() {
		if v.o.Unsent != nil {
			v.o.Unsent(v.nameOf(u.ID), u.Bytes)
		}
	}
}

// nameOf returns a session's name, or its id if the session was removed.
func (v *viewer) nameOf(id string) string {
	if s := v.m.Session(id); s != nil {
		return s.Name
	}
	return id
}

// usesFrames reports whether panes have borders: as configured, unless the user toggled it.
func (v *viewer) usesFrames() bool { return v.o.Frames != v.framesToggled }

// size returns the size that the viewer requests for a session; 0×0 means no influence on its size.
func (v *viewer) size(id string, in layout.Rect) (cols, rows int) {
	if v.m.ReadOnly || v.ignoresSize[id] {
		return 0, 0
	}
	return in.W, in.H
}

// setMouse enables reports of plain mouse motion only while a program wants them.
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

// reportFocus reports the change of focus to the two programs concerned.
func (v *viewer) reportFocus() {
	want := v.m.Focus
	if v.unfocused {
		want = ""
	}
	if want == v.reported {
		return
	}
	out, in := false, true
	if p := v.panes.Get(v.reported); p != nil {
		p.SendInput(panes.Input{Focus: &out})
	}
	if p := v.panes.Get(want); p != nil {
		p.SendInput(panes.Input{Focus: &in})
	}
	v.reported = want
}
