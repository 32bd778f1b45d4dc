package view

import (
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// pointer is the state of the mouse.
type pointer struct {
	held  tcell.ButtonMask // buttons that are down
	grab  string           // session on whose screen the buttons were pressed, if its program handles the mouse
	flags tcell.MouseFlags // reports that the terminal currently sends

	border  border          // being dragged
	float   floatDrag       // being dragged
	text    panes.Selection // being selected
	clicks  int             // number of successive clicks at the same place
	clicked time.Time
	x, y    int // of the last click
}

// mouse focuses clicked panes, moves borders, selects text and forwards events to programs that enabled the mouse. A
// drag belongs to the place where it started.
func (v *viewer) mouse(e *tcell.EventMouse) {
	held := v.pointer.held
	v.pointer.held = e.Buttons() &^ events.Wheels
	pressed := held == 0 && v.pointer.held != 0
	if v.mouseTaken(e, held, pressed) {
		return
	}
	x, y := e.Position()
	if pressed || e.Buttons()&events.Wheels != 0 {
		v.message = ""
	}
	if pressed {
		v.endWelcome()
		v.pointer.click(v.o.Now(), x, y)
		if p := v.panes.At(x, y); v.clickFloat(p, x, y) {
			return
		}
		if v.clickBar(x, y) || v.clickSide(x, y) || v.clickFooter(e, x, y) || v.m.Float(v.m.SessionAt(x, y)) == nil && v.pointer.border.grab(&v.m, v.paneArea(), x, y) {
			return
		}
	}
	p := v.panes.At(x, y)
	if pressed && p != nil {
		v.m.Focus = p.ID
		if y == p.Area.Y && p.Area.H > 1 && v.pointer.clicks == 2 { // its title
			v.m.Zoomed = !v.m.Zoomed
		}
	}
	if held != 0 {
		p = v.panes.Get(v.pointer.grab)
	}
	if !v.forward(p, e, held, pressed) && p != nil && p.Inner().Contains(x, y) {
		v.ownMouse(p, e, pressed, x, y)
	}
}

// mouseTaken passes a mouse event to an overlay, the prefix, or a drag, and reports whether one handled it.
func (v *viewer) mouseTaken(e *tcell.EventMouse, held tcell.ButtonMask, pressed bool) bool {
	x, y := e.Position()
	switch {
	case v.overlay != nil:
		v.overlayDone(v.overlay.Mouse(e, held))
		v.pointer.grab = ""
	case v.mode != modeInput:
		if pressed {
			v.endPrefix()
		}
		v.pointer.grab = ""
	case v.pointer.border.isActive():
		stacked := v.pointer.border.drag(&v.m, x, y, v.pointer.held != 0)
		if stacked && v.pointer.held == 0 && v.pointer.clicks == 2 { // a double click on a title
			v.m.Zoomed = true
		}
	case v.pointer.float.isActive():
		v.dragFloat(x, y, v.pointer.held != 0)
	case v.pointer.text.IsActive():
		v.pointer.text.Drag(x, y, v.pointer.held != 0)
	default:
		return false
	}
	return true
}

// forward sends a program the mouse events that it requested.
func (v *viewer) forward(p *panes.Pane, e *tcell.EventMouse, held tcell.ButtonMask, pressed bool) bool {
	ev := events.Mouse(e, held)
	over := p != nil && p.Copying() == nil && e.Modifiers()&tcell.ModAlt == 0 && p.Locate(&ev, e, held != 0)
	wanted := over && v.m.Running(p.ID) && !v.m.ReadOnly && len(input.AppendMouse(nil, ev, p.Modes())) > 0
	if pressed {
		v.pointer.grab = ""
		if wanted {
			v.pointer.grab = p.ID
		}
	}
	if wanted {
		p.SendInput(panes.Input{Mouse: &ev})
	}
	return wanted || over && p.Modes().Mouse != vterm.MouseOff
}

// wheelRows is the number of rows that a wheel step scrolls.
const wheelRows = 3

// ownMouse handles the mouse where no program uses it.
func (v *viewer) ownMouse(p *panes.Pane, e *tcell.EventMouse, pressed bool, x, y int) {
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		v.wheel(p, -1)
	case b&tcell.WheelDown != 0:
		v.wheel(p, 1)
	case pressed && b&tcell.ButtonPrimary != 0:
		v.pointer.text.Begin(p, v.pointer.clicks, e.Modifiers()&tcell.ModAlt != 0, x, y)
	}
}

// wheel scrolls back, or moves a full-screen program's cursor as terminals do.
func (v *viewer) wheel(p *panes.Pane, by int) {
	if !p.Modes().AltScreen || p.Copying() != nil {
		p.Scroll(by * wheelRows)
		return
	}
	k := input.Key{Code: input.KeyUp}
	if by > 0 {
		k.Code = input.KeyDown
	}
	for range wheelRows {
		if v.m.Running(p.ID) && !v.m.ReadOnly {
			p.SendInput(panes.Input{Key: &k})
		}
	}
}

// clickTime is the longest time between two clicks of a double click.
const clickTime = 400 * time.Millisecond

// click counts successive clicks at the same place.
func (c *pointer) click(now time.Time, x, y int) {
	if c.x != x || c.y != y || now.Sub(c.clicked) > clickTime {
		c.clicks = 0
	}
	c.clicks, c.clicked, c.x, c.y = c.clicks%3+1, now, x, y
}

func (v *viewer) clickBar(x, y int) bool {
	w, h := v.canvas.Size()
	_, bar := statusbar.Split(w, h)
	if !bar.Contains(x, y) {
		return false
	}
	if tab, ok := v.bar.Tab(x); ok {
		v.m.Show(tab)
		return true
	}
	if v.m.NextAlert() != "" && x > w/2 {
		goToAlert(v)
		return true
	}
	openPalette(v)
	return true
}

// clickSide focuses the clicked session of the side list.
func (v *viewer) clickSide(x, y int) bool {
	id := v.side.At(x, y)
	if id != "" {
		v.m.Focus = id
	}
	return id != ""
}

func (v *viewer) clickFooter(e *tcell.EventMouse, x, y int) bool {
	_, at := v.areas()
	return at.H > 0 && at.Contains(x, y) && v.footerInput(FooterInput{Mouse: e, X: x - at.X, Y: y - at.Y})
}
