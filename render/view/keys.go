package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm"
)

// namedKeys are tcell's keys that have a name of their own.
var namedKeys = map[tcell.Key]rune{
	tcell.KeyUp: vterm.KeyUp, tcell.KeyDown: vterm.KeyDown, tcell.KeyLeft: vterm.KeyLeft, tcell.KeyRight: vterm.KeyRight,
	tcell.KeyHome: vterm.KeyHome, tcell.KeyEnd: vterm.KeyEnd, tcell.KeyInsert: vterm.KeyInsert, tcell.KeyDelete: vterm.KeyDelete,
	tcell.KeyPgUp: vterm.KeyPageUp, tcell.KeyPgDn: vterm.KeyPageDown, tcell.KeyEnter: vterm.KeyEnter, tcell.KeyTab: vterm.KeyTab,
	tcell.KeyBacktab: vterm.KeyTab, tcell.KeyBackspace: vterm.KeyBackspace, tcell.KeyBackspace2: vterm.KeyBackspace,
	tcell.KeyEscape: vterm.KeyEscape, tcell.KeyPause: vterm.KeyPause, tcell.KeyPrint: vterm.KeyPrintScreen,
	tcell.KeyCenter: vterm.KeyKPBegin, tcell.KeyMenu: vterm.KeyMenu,
}

// keyOf is a tcell key as the session's terminal understands it; Code 0 when there is no
// such key. The person's terminal may report Ctrl with a character in three ways (as a
// control character, in the kitty protocol, as modifyOtherKeys): all give the same Key.
func keyOf(e *tcell.EventKey) vterm.Key {
	key, mods := e.Key(), modsOf(e.Modifiers())
	if code, ok := namedKeys[key]; ok {
		if key == tcell.KeyBacktab {
			mods |= vterm.Shift
		}
		return vterm.Key{Code: code, Mods: mods}
	}
	switch {
	case key == tcell.KeyRune:
		return runeKey(e.Rune(), mods)
	case key == tcell.KeyCtrlSpace || key == tcell.KeyNUL:
		return vterm.Key{Code: ' ', Mods: mods | vterm.Ctrl}
	case key > tcell.KeyCtrlSpace && key <= tcell.KeyCtrlUnderscore: // 65 to 95: '@' + the control character
		return controlKey(rune(key), mods)
	case key > 0 && key < ' ':
		return controlKey(rune(key)+'@', mods)
	case key >= tcell.KeyF1 && key <= tcell.KeyF35:
		return vterm.Key{Code: vterm.KeyF1 + rune(key-tcell.KeyF1), Mods: mods}
	}
	return vterm.Key{}
}

func runeKey(r rune, mods vterm.Mods) vterm.Key {
	if r == '`' && mods&vterm.Ctrl != 0 && mods&vterm.Alt != 0 {
		r = ' ' // what tcell makes of ESC NUL
	}
	k := vterm.Key{Code: r, Mods: mods}
	if mods&^vterm.Shift == 0 {
		k.Text, k.Mods = string(r), 0 // Shift is in the character
	}
	return k
}

// controlKey is Ctrl with the key of a control character, given as '@' and up.
func controlKey(r rune, mods vterm.Mods) vterm.Key {
	if r >= 'A' && r <= 'Z' {
		r += 'a' - 'A'
	}
	return vterm.Key{Code: r, Mods: mods | vterm.Ctrl}
}

var modifiers = []struct {
	tcell tcell.ModMask
	vterm vterm.Mods
	name  string
}{
	{tcell.ModCtrl, vterm.Ctrl, "Ctrl-"}, {tcell.ModAlt, vterm.Alt, "Alt-"}, {tcell.ModShift, vterm.Shift, "Shift-"},
	{tcell.ModMeta, vterm.Meta, "Meta-"}, {tcell.ModHyper, vterm.Hyper, "Hyper-"},
}

func modsOf(m tcell.ModMask) vterm.Mods {
	var out vterm.Mods
	for _, row := range modifiers {
		if m&row.tcell != 0 {
			out |= row.vterm
		}
	}
	return out
}
