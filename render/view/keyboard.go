package view

import (
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/vterm"
)

// setKeyboard sets which events the terminal reports: those that the modes of the focused session have, and always the place of
// keys on the US layout.
func (v *viewer) setKeyboard() {
	if v.problems.opening { // another program has the terminal
		return
	}
	want := uint8(vterm.KittyDisambiguate | vterm.KittyAlternateKeys)
	if p := v.focused(); p != nil && v.m.Running(p.ID) {
		want |= p.Terminal().Kitty & vterm.KittyEventTypes
		if p.Terminal().Kitty&vterm.KittyAllAsEscapes != 0 {
			want |= vterm.KittyAllAsEscapes | vterm.KittyAssociatedText
		}
	}
	if want != v.keyboard && canvas.SetKeyboard(v.o.Screen, want) {
		v.keyboard = want
	}
}
