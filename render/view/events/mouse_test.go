package events

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

func TestMouse(t *testing.T) {
	const left, right, up = tcell.ButtonPrimary, tcell.ButtonSecondary, tcell.WheelUp
	for _, c := range []struct {
		name      string
		now, held tcell.ButtonMask
		mods      tcell.ModMask
		want      input.Mouse
	}{
		{"motion", 0, 0, 0, input.Mouse{Action: input.MouseMotion}},
		{"press", left, 0, 0, input.Mouse{Button: input.ButtonLeft, Action: input.MousePress}},
		{"drag", left, left, 0, input.Mouse{Button: input.ButtonLeft, Action: input.MouseMotion}},
		{"release", 0, left, 0, input.Mouse{Button: input.ButtonLeft, Action: input.MouseRelease}},
		{"second button", left | right, left, 0, input.Mouse{Button: input.ButtonRight, Action: input.MousePress}},
		{"wheel", up, 0, 0, input.Mouse{Button: input.ButtonWheelUp, Action: input.MousePress}},
		{"wheel in a drag", up | left, left, 0, input.Mouse{Button: input.ButtonWheelUp, Action: input.MousePress}},
		{"Ctrl", left, 0, tcell.ModCtrl, input.Mouse{Button: input.ButtonLeft, Action: input.MousePress, Mods: input.Ctrl}},
	} {
		if got := Mouse(tcell.NewEventMouse(3, 4, c.now, c.mods), c.held); got != c.want {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
	}
}

func TestPasted(t *testing.T) {
	for want, e := range map[string]*tcell.EventKey{
		"é":  tcell.NewEventKey(tcell.KeyRune, 'é', 0),
		"\r": tcell.NewEventKey(tcell.KeyEnter, 0, 0),
		"\n": tcell.NewEventKey(tcell.KeyCtrlJ, 0, tcell.ModCtrl),
		"\t": tcell.NewEventKey(tcell.KeyTab, 0, 0),
		"":   tcell.NewEventKey(tcell.KeyEscape, 0, 0),
	} {
		if got := PastedText(e); got != want {
			t.Errorf("%s is pasted as %q; want %q", e.Name(), got, want)
		}
	}
}
