package input

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// The kitty keyboard protocol: https://sw.kovidgoyal.net/kitty/keyboard-protocol/. Its
// modifier bits are Mods.

// appendKitty encodes a key while any flag of the protocol is set.
func appendKitty(dst []byte, k Key, m *vterm.Modes) []byte {
	all := m.Kitty&vterm.KittyAllAsEscapes != 0
	if k.Action == KeyRelease && m.Kitty&vterm.KittyEventTypes == 0 || !all && modifierKey(k.Code) {
		return dst
	}
	if !all {
		k.Mods &^= lockMods
	}
	row := keyRowOf(k.Code)
	switch {
	case all:
	case row == nil && k.typesText() || row != nil && row.like != 0 && k.Text != "" && k.typesText():
		if k.Action == KeyRelease { // text has no events (spec, "Event types")
			return dst
		}
		return k.appendText(dst)
	case kittyLegacy(&k, m):
		if k.Action == KeyRelease {
			return dst
		}
		return appendLegacyKey(dst, k, &vterm.Modes{
			AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, NewLine: m.NewLine, BackarrowBS: m.BackarrowBS,
		})
	}
	return appendKittyForm(dst, &k, row, m)
}

// kittyLegacy reports whether a key uses its legacy encoding although flags are set. Enter, Tab and Backspace do, so
// that a shell stays usable after a program crashed without resetting the flags.
func kittyLegacy(k *Key, m *vterm.Modes) bool {
	if k.Code == KeyEnter || k.Code == KeyTab || k.Code == KeyBackspace {
		return k.Mods == 0 || k.Action == KeyRelease || m.Kitty&vterm.KittyDisambiguate == 0
	}
	return m.Kitty&vterm.KittyDisambiguate == 0 && !hasKittyEvent(k, m) && !hasKittyAlternates(k, m)
}

func hasKittyEvent(k *Key, m *vterm.Modes) bool {
	return m.Kitty&vterm.KittyEventTypes != 0 && k.Action != KeyPress
}

func hasKittyAlternates(k *Key, m *vterm.Modes) bool {
	return m.Kitty&vterm.KittyAlternateKeys != 0 && keyRowOf(k.Code) == nil &&
		(k.shiftedCode() != 0 || k.baseCode() != 0)
}

// shiftedCode returns the shifted code to report, or 0.
func (k *Key) shiftedCode() rune {
	if k.Mods&Shift == 0 || !utf8.ValidRune(k.Shifted) && k.Shifted != 0 {
		return 0
	}
	if k.Shifted != 0 {
		return k.Shifted
	}
	plain := Key{Code: k.Code, Mods: Shift}
	if c := plain.char(); c != k.Code {
		return c
	}
	return 0
}

// baseCode returns the key's code on the US layout, or 0 if it is the same.
func (k *Key) baseCode() rune {
	if k.Base == k.Code || !utf8.ValidRune(k.Base) {
		return 0
	}
	return k.Base
}

// appendKittyForm appends CSI code : shifted : base ; modifiers : event ; text u without empty parts at the end. Named
// keys have their own final byte.
func appendKittyForm(dst []byte, k *Key, row *keyRow, m *vterm.Modes) []byte {
	num, final := kittyCode(k, row)
	if num < 0 {
		return dst
	}
	event := hasKittyEvent(k, m)
	text := m.Kitty&vterm.KittyAllAsEscapes != 0 && m.Kitty&vterm.KittyAssociatedText != 0 &&
		k.Action != KeyRelease && row == nil && k.typesText()
	second := event || k.Mods != 0
	dst = append(dst, "\x1b["...)
	if num != 1 || second || text {
		dst = strconv.AppendInt(dst, int64(num), 10)
	}
	if hasKittyAlternates(k, m) {
		dst = appendAlternates(dst, k)
	}
	if second || text {
		dst = append(dst, ';')
	}
	if second {
		dst = strconv.AppendInt(dst, int64(k.Mods)+1, 10)
	}
	if event {
		dst = append(dst, ':', '1'+byte(k.Action))
	}
	if text {
		dst = appendCodePoints(dst, k)
	}
	return append(dst, final)
}

// kittyCode returns the number and final byte of a key; the number is -1 if it has none.
func kittyCode(k *Key, row *keyRow) (num int, final byte) {
	switch {
	case row == nil && utf8.ValidRune(k.Code) && (k.Code != 0 || k.typesText()):
		return int(k.Code), 'u' // 0: text of no known key
	case row == nil:
		return -1, 0
	case row.kitty != 0 && row.kittyTilde:
		return row.kitty, '~'
	case row.kitty != 0:
		return row.kitty, 'u'
	case row.final != 0:
		return row.num, row.final
	}
	return -1, 0
}

func appendAlternates(dst []byte, k *Key) []byte {
	dst = append(dst, ':')
	if c := k.shiftedCode(); c != 0 {
		dst = strconv.AppendInt(dst, int64(c), 10)
	}
	if c := k.baseCode(); c != 0 {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(c), 10)
	}
	return dst
}

// appendCodePoints appends the text of a key without control characters, in the form ;97:98.
func appendCodePoints(dst []byte, k *Key) []byte {
	var one [utf8.UTFMax]byte
	text := k.appendText(one[:0])
	sep := byte(';')
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if !unicode.IsControl(r) {
			dst = append(dst, sep)
			dst = strconv.AppendInt(dst, int64(r), 10)
			sep = ':'
		}
	}
	return dst
}
