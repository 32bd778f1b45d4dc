package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm"
)

// pointer is the state of the mouse.
type pointer struct {
	held  tcell.ButtonMask // buttons that are down
	grab  string           // the session on whose screen they went down
	flags tcell.MouseFlags // what the terminal was asked to report
}

var mouseButtons = []struct {
	mask  tcell.ButtonMask
	code  vterm.MouseButtonCode
	wheel bool
}{
	{tcell.WheelUp, vterm.ButtonWheelUp, true},
	{tcell.WheelDown, vterm.ButtonWheelDown, true},
	{tcell.WheelLeft, vterm.ButtonWheelLeft, true},
	{tcell.WheelRight, vterm.ButtonWheelRight, true},
	{tcell.ButtonPrimary, vterm.ButtonLeft, false},
	{tcell.ButtonMiddle, vterm.ButtonMiddle, false},
	{tcell.ButtonSecondary, vterm.ButtonRight, false},
	{tcell.Button4, vterm.ButtonBack, false},
	{tcell.Button5, vterm.ButtonForward, false},
}

const wheels = tcell.WheelUp | tcell.WheelDown | tcell.WheelLeft | tcell.WheelRight

// mouse focuses what is clicked and hands to a program what it asked for. A drag belongs
// to the session it began on, wherever it goes.
func (v *viewer) mouse(e *tcell.EventMouse) {
	held := v.pointer.held
	v.pointer.held = e.Buttons() &^ wheels
	if v.m.mode != modeInput {
		v.pointer.grab = ""
		return
	}
	p := v.m.at(e.Position())
	pressed := held == 0 && v.pointer.held != 0
	if pressed && p != nil {
		v.m.focus = p.id
	}
	if held != 0 {
		p = v.m.pane(v.pointer.grab)
	}
	ev := mouseOf(e, held)
	over := p != nil && ev.place(p, e, held != 0)
	if pressed {
		v.pointer.grab = ""
		if over {
			v.pointer.grab = p.id
		}
	}
	if over && v.m.running(p.id) && len(vterm.AppendMouse(nil, ev.Mouse, &p.modes)) > 0 {
		p.stream.Act(Input{Mouse: &ev.Mouse})
	}
}

type mouseEvent struct{ vterm.Mouse }

// mouseOf says what happened, given the buttons that were down before.
func mouseOf(e *tcell.EventMouse, held tcell.ButtonMask) mouseEvent {
	now := e.Buttons()
	m := mouseEvent{vterm.Mouse{Mods: modsOf(e.Modifiers()), Action: vterm.MouseMotion}}
	for _, b := range mouseButtons {
		is, was := now&b.mask != 0, held&b.mask != 0
		switch {
		case is && (b.wheel || !was):
			m.Button, m.Action = b.code, vterm.MousePress
			return m
		case was && !is:
			m.Button, m.Action = b.code, vterm.MouseRelease
			return m
		case is:
			m.Button = b.code
		}
	}
	return m
}

// place sets the position on the session's screen: for a drag the nearest one, wherever
// the mouse is; otherwise false when it is not on the screen.
func (m *mouseEvent) place(p *pane, e *tcell.EventMouse, drag bool) bool {
	x, y := e.Position()
	in := p.inner()
	m.Col, m.Row = x-in.x, y-in.y+p.top
	cols, rows := min(in.w, p.screen.Cols), min(in.h+p.top, p.screen.Rows)
	if drag {
		m.Col, m.Row = min(max(m.Col, 0), cols-1), min(max(m.Row, p.top), rows-1)
	}
	return m.Col >= 0 && m.Col < cols && m.Row >= p.top && m.Row < rows
}
