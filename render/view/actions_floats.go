package view

import (
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// noFloats is the message on a terminal too small for floating panes.
const noFloats = "too small for floating panes"

func toggleFloats(v *viewer) {
	if !layout.CanFloat(v.paneArea()) && len(v.m.Tab().Floats) == 0 {
		v.message = noFloats
		return
	}
	if !v.m.ToggleFloats() {
		newFloat(v)
	}
}

// newFloat starts a session in a floating pane.
func newFloat(v *viewer) {
	if !layout.CanFloat(v.paneArea()) {
		v.message = noFloats
		return
	}
	t := v.m.Tab()
	create(v, func(id string) { v.m.AddFloat(t, id) })
}

func toggleFloat(v *viewer) {
	switch {
	case !v.m.IsFloating(v.m.Focus) && !layout.CanFloat(v.paneArea()):
		v.message = noFloats
	case !v.m.ToggleFloat():
		v.message = "cannot float: only pane of the tab"
	}
}

func togglePin(v *viewer) {
	switch pinned, ok := v.m.TogglePin(); {
	case !ok:
		v.message = "cannot float: only pane of the tab"
	case pinned:
		v.message = "pinned: visible in all tabs; " + v.keys.Chord("pin") + " unpins it"
	default:
		v.message = "unpinned: hidden with the tab's floating panes"
	}
}

func toggleStack(v *viewer) {
	switch stacked, ok := v.m.ToggleStack(v.paneArea()); {
	case !ok && v.m.IsFloating(v.m.Focus):
		v.message = "pane floats; " + v.keys.Chord("float") + " tiles it"
	case !ok:
		v.message = "cannot stack: only pane of the tab"
	case stacked:
		v.message = "stacked: only the focused pane is open; " + v.keys.Chord("stack") + " unstacks it"
	}
}

// moveFloatAction returns an action that moves the focused floating pane.
func moveFloatAction(dx, dy int) action {
	return always(func(v *viewer) {
		if !v.m.MoveFloat(v.paneArea(), dx*growBy, dy*growBy/2) && !v.m.IsFloating(v.m.Focus) {
			v.message = "pane does not float; " + v.keys.Chord("float") + " floats it"
		}
	})
}

// floatDrag is the floating pane that the mouse moves or resizes. The zero value means no drag.
type floatDrag struct {
	id     string
	x, y   int  // last position of the mouse
	resize bool // resize by the lower right corner
	left   bool // resize by the left edge
	moved  bool
}

// isActive reports whether a drag is in progress.
func (d *floatDrag) isActive() bool { return d.id != "" }

// grabFloat starts to move a floating pane by its title, or to resize it by another edge. It reports whether it did.
func (v *viewer) grabFloat(p *panes.Pane, x, y int) bool {
	if p == nil || v.m.Float(p.ID) == nil || v.m.Zoomed || p.Inner().Contains(x, y) || !layout.CanFloat(v.paneArea()) {
		return false
	}
	a := p.Area
	v.pointer.float = floatDrag{id: p.ID, x: x, y: y, resize: y > a.Y, left: x == a.X}
	return true
}

// clickFloat focuses a floating pane whose border is clicked, and starts a drag. It reports whether it did.
func (v *viewer) clickFloat(p *panes.Pane, x, y int) bool {
	if !v.grabFloat(p, x, y) {
		return false
	}
	v.m.Focus = p.ID
	return true
}

// dragFloat continues the drag until the button is released.
func (v *viewer) dragFloat(x, y int, held bool) {
	d, area := &v.pointer.float, v.paneArea()
	dx, dy := x-d.x, y-d.y
	if f := v.m.Float(d.id); f != nil && (dx != 0 || dy != 0) {
		was := f.Area(area)
		switch a := was; {
		case !d.resize:
			f.Move(area, dx, dy)
		case y < area.Y+area.H: // the edges that were taken
			if d.left {
				a.X, a.W = a.X+dx, a.W-dx
			} else if d.x == was.X+was.W-1 {
				a.W += dx
			}
			if d.y == was.Y+was.H-1 {
				a.H += dy
			}
			if a.W >= layout.FloatMinWidth && a.H >= layout.FloatMinHeight && a.X >= area.X && a.X+a.W <= area.X+area.W && a.Y+a.H <= area.Y+area.H {
				f.Put(a, area)
			}
		}
		now := f.Area(area)
		if !d.resize {
			d.x, d.y = d.x+now.X-was.X, d.y+now.Y-was.Y
		} else {
			if d.left {
				d.x = now.X
			} else if d.x == was.X+was.W-1 {
				d.x = now.X + now.W - 1
			}
			if d.y == was.Y+was.H-1 {
				d.y = now.Y + now.H - 1
			}
		}
		d.moved = d.moved || now != was
	}
	if !held {
		if !d.moved && !d.resize && v.pointer.clicks == 2 { // a double click on the title
			v.m.Zoomed = !v.m.Zoomed
		}
		*d = floatDrag{}
	}
}
