package events

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// TestKeys checks that a key that the user presses reaches the program as it would without a viewer in between.
// FEATURES: R49, R76
func TestKeys(t *testing.T) {
	const none, shift, ctrl, alt = tcell.ModNone, tcell.ModShift, tcell.ModCtrl, tcell.ModAlt
	cases := []struct {
		key   tcell.Key
		r     rune
		mods  tcell.ModMask
		want  string // bytes in the plain modes
		kitty string // bytes with all keys as escapes
	}{
		{tcell.KeyRune, 'a', none, "a", "\x1b[97u"},
		{tcell.KeyRune, 'A', none, "A", "\x1b[97;2u"},
		{tcell.KeyRune, 'é', none, "é", "\x1b[233u"},
		{tcell.KeyRune, '!', none, "!", "\x1b[33u"},
		{tcell.KeyRune, 'x', alt, "\x1bx", "\x1b[120;3u"},
		{tcell.KeyRune, 'X', alt, "\x1bX", "\x1b[120;4u"},
		{tcell.KeyCtrlC, 0, ctrl, "\x03", "\x1b[99;5u"},
		{tcell.KeyRune, 3, none, "\x03", "\x1b[99;5u"},
		{tcell.KeyCtrlC, 0, ctrl | alt, "\x1b\x03", "\x1b[99;7u"},
		{tcell.KeyRune, 'c', ctrl | shift, "\x03", "\x1b[99;6u"},
		{tcell.KeyCtrlSpace, 0, ctrl, "\x00", "\x1b[32;5u"},
		{tcell.KeyRune, ' ', ctrl, "\x00", "\x1b[32;5u"},
		{tcell.KeyCtrlBackslash, 0, ctrl, "\x1c", "\x1b[92;5u"},
		{tcell.KeyCtrlUnderscore, 0, ctrl, "\x1f", "\x1b[95;5u"},
		{tcell.KeyCtrlI, 0, ctrl, "\t", "\x1b[105;5u"},
		{tcell.KeyEnter, 0, none, "\r", "\x1b[13u"},
		{tcell.KeyEnter, 0, alt, "\x1b\r", "\x1b[13;3u"},
		{tcell.KeyEnter, 0, shift, "\r", "\x1b[13;2u"},
		{tcell.KeyTab, 0, none, "\t", "\x1b[9u"},
		{tcell.KeyBacktab, 0, none, "\x1b[Z", "\x1b[9;2u"},
		{tcell.KeyEscape, 0, none, "\x1b", "\x1b[27u"},
		{tcell.KeyBackspace, 0, none, "\x7f", "\x1b[127u"},
		{tcell.KeyBackspace2, 0, alt, "\x1b\x7f", "\x1b[127;3u"},
		{tcell.KeyUp, 0, none, "\x1b[A", "\x1b[A"},
		{tcell.KeyLeft, 0, ctrl, "\x1b[1;5D", "\x1b[1;5D"},
		{tcell.KeyHome, 0, shift | alt, "\x1b[1;4H", "\x1b[1;4H"},
		{tcell.KeyDelete, 0, none, "\x1b[3~", "\x1b[3~"},
		{tcell.KeyPgDn, 0, ctrl, "\x1b[6;5~", "\x1b[6;5~"},
		{tcell.KeyF1, 0, none, "\x1bOP", "\x1b[P"},
		{tcell.KeyF12, 0, shift, "\x1b[24;2~", "\x1b[24;2~"},
		{tcell.KeyF64, 0, none, "", ""},
		{tcell.KeyHelp, 0, none, "", ""},
	}
	for _, c := range cases {
		e := tcell.NewEventKey(c.key, c.r, c.mods)
		k := Key(e)
		if got := input.AppendKey(nil, k, &vterm.Modes{}); k.Code != 0 && string(got) != c.want || k.Code == 0 && c.want != "" {
			t.Errorf("%s: %+v sends %q; want %q", e.Name(), k, got, c.want)
		}
		m := vterm.Modes{Kitty: vterm.KittyDisambiguate | vterm.KittyAllAsEscapes}
		if got := input.AppendKey(nil, k, &m); k.Code != 0 && string(got) != c.kitty {
			t.Errorf("%s: %+v sends %q in the kitty protocol; want %q", e.Name(), k, got, c.kitty)
		}
	}
}
