package events

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

// namedKeys maps tcell's named keys.
var namedKeys = map[tcell.Key]rune{
	tcell.KeyUp: input.KeyUp, tcell.KeyDown: input.KeyDown, tcell.KeyLeft: input.KeyLeft, tcell.KeyRight: input.KeyRight,
	tcell.KeyHome: input.KeyHome, tcell.KeyEnd: input.KeyEnd, tcell.KeyInsert: input.KeyInsert, tcell.KeyDelete: input.KeyDelete,
	tcell.KeyPgUp: input.KeyPageUp, tcell.KeyPgDn: input.KeyPageDown, tcell.KeyEnter: input.KeyEnter, tcell.KeyTab: input.KeyTab,
	tcell.KeyBacktab: input.KeyTab, tcell.KeyBackspace: input.KeyBackspace, tcell.KeyBackspace2: input.KeyBackspace,
	tcell.KeyEscape: input.KeyEscape, tcell.KeyPause: input.KeyPause, tcell.KeyPrint: input.KeyPrintScreen,
	tcell.KeyCenter: input.KeyKPBegin, tcell.KeyMenu: input.KeyMenu,
}

// Key converts a tcell key for the session's terminal; Code is 0 for unsupported keys. The user's terminal may report
// Ctrl with a character in three ways (as a control character, in the kitty protocol, as modifyOtherKeys): all give the
// same Key.
func Key(e *tcell.EventKey) input.Key {
	key, mods := e.Key(), modsOf(e.Modifiers())
	if k, ok := keyOf(e.Rune()); ok && key == tcell.KeyRune {
		k.Mods |= mods // Alt, where it came as an Escape before
		return k
	}
	if code, ok := namedKeys[key]; ok {
		if key == tcell.KeyBacktab {
			mods |= input.Shift
		}
		return input.Key{Code: code, Mods: mods}
	}
	switch {
	case key == tcell.KeyRune:
		return runeKey(e.Rune(), mods)
	case key == tcell.KeyCtrlSpace || key == tcell.KeyNUL:
		return input.Key{Code: ' ', Mods: mods | input.Ctrl}
	case key > tcell.KeyCtrlSpace && key <= tcell.KeyCtrlUnderscore: // 65 to 95: '@' + the control character
		return controlKey(rune(key), mods)
	case key > 0 && key < ' ':
		return controlKey(rune(key)+'@', mods)
	case key >= tcell.KeyF1 && key <= tcell.KeyF35:
		return input.Key{Code: input.KeyF1 + rune(key-tcell.KeyF1), Mods: mods}
	}
	return input.Key{}
}

func runeKey(r rune, mods input.Mods) input.Key {
	if r == '`' && mods&input.Ctrl != 0 && mods&input.Alt != 0 {
		r = ' ' // what tcell makes of ESC NUL
	}
	k := input.Key{Code: r, Mods: mods}
	if mods&^input.Shift == 0 {
		k.Text, k.Mods = string(r), 0 // Shift is in the character
	}
	return k
}

// controlKey returns Ctrl with the key of a control character, given as '@' and up.
func controlKey(r rune, mods input.Mods) input.Key {
	if r >= 'A' && r <= 'Z' {
		r += 'a' - 'A'
	}
	return input.Key{Code: r, Mods: mods | input.Ctrl}
}

var modifiers = []struct {
	tcell tcell.ModMask
	vterm input.Mods
}{
	{tcell.ModCtrl, input.Ctrl}, {tcell.ModAlt, input.Alt}, {tcell.ModShift, input.Shift},
	{tcell.ModMeta, input.Meta}, {tcell.ModHyper, input.Hyper},
}

func modsOf(m tcell.ModMask) input.Mods {
	var out input.Mods
	for _, row := range modifiers {
		if m&row.tcell != 0 {
			out |= row.vterm
		}
	}
	return out
}

// PastedText returns the text of a key within a paste, or "". It drops control characters other than those handled here.
func PastedText(e *tcell.EventKey) string {
	switch e.Key() {
	case tcell.KeyRune:
		if k, ok := keyOf(e.Rune()); ok {
			return k.Text
		}
		return string(e.Rune())
	case tcell.KeyEnter, tcell.KeyCtrlM:
		return "\r"
	case tcell.KeyCtrlJ, tcell.KeyLF:
		return "\n"
	case tcell.KeyTab, tcell.KeyCtrlI:
		return "\t"
	}
	return ""
}
