package events

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

var mouseButtons = []struct {
	mask  tcell.ButtonMask
	code  input.Button
	wheel bool
}{
	{tcell.WheelUp, input.ButtonWheelUp, true},
	{tcell.WheelDown, input.ButtonWheelDown, true},
	{tcell.WheelLeft, input.ButtonWheelLeft, true},
	{tcell.WheelRight, input.ButtonWheelRight, true},
	{tcell.ButtonPrimary, input.ButtonLeft, false},
	{tcell.ButtonMiddle, input.ButtonMiddle, false},
	{tcell.ButtonSecondary, input.ButtonRight, false},
	{tcell.Button4, input.ButtonBack, false},
	{tcell.Button5, input.ButtonForward, false},
}

// Wheels is the set of wheel buttons, which are never held.
const Wheels = tcell.WheelUp | tcell.WheelDown | tcell.WheelLeft | tcell.WheelRight

// Mouse converts a mouse event, given the previously pressed buttons.
func Mouse(e *tcell.EventMouse, held tcell.ButtonMask) input.Mouse {
	now := e.Buttons()
	m := input.Mouse{Mods: modsOf(e.Modifiers()), Action: input.MouseMotion}
	for _, b := range mouseButtons {
		is, was := now&b.mask != 0, held&b.mask != 0
		switch {
		case is && (b.wheel || !was):
			m.Button, m.Action = b.code, input.MousePress
			return m
		case was && !is:
			m.Button, m.Action = b.code, input.MouseRelease
			return m
		case is:
			m.Button = b.code
		}
	}
	return m
}
