package input

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// The encoding of xterm without the kitty protocol: xterm ctlseqs, "Special Keyboard
// Keys" and "Alt and Meta Keys", and xterm's input.c where that is silent. xterm's
// modifier Meta is Key's Meta; Super and Hyper are not known to it.

// legacyParam returns the modifier parameter, 0 without modifiers.
func legacyParam(mods Mods) int {
	bits := int(mods & (Shift | Alt | Ctrl))
	if mods&Meta != 0 {
		bits |= 8
	}
	if bits == 0 {
		return 0
	}
	return 1 + bits
}

func appendLegacyKey(dst []byte, k Key, m *vterm.Modes) []byte {
	row := keyRowOf(k.Code)
	switch {
	case row == nil:
		return appendLegacyText(dst, &k, m)
	case row.like != 0:
		return appendKeypad(dst, row, k, m)
	case k.Code == KeyEnter || k.Code == KeyTab || k.Code == KeyBackspace || k.Code == KeyEscape:
		return appendControlKey(dst, &k, m)
	}
	return appendFunctionKey(dst, row, k.Mods, m)
}

func appendFunctionKey(dst []byte, row *keyRow, mods Mods, m *vterm.Modes) []byte {
	param := legacyParam(mods)
	switch {
	case row.final == 0:
		return dst
	case param == 0 && (row.pf || row.cursor && m.AppCursor):
		return append(dst, 0x1b, 'O', row.final)
	}
	return appendCSI(dst, row.num, param, row.final)
}

// appendKeypad encodes a keypad key. Num Lock overrides application mode, as in xterm.
func appendKeypad(dst []byte, row *keyRow, k Key, m *vterm.Modes) []byte {
	if !m.AppKeypad || row.pad == 0 || k.Mods&NumLock != 0 {
		k.Code = row.like
		return appendLegacyKey(dst, k, m)
	}
	dst = append(dst, 0x1b, 'O')
	if param := legacyParam(k.Mods); param != 0 {
		return appendNumbers(dst, row.pad, param)
	}
	return append(dst, row.pad)
}

// appendControlKey encodes the keys that are C0 controls. Alt adds an ESC before them.
func appendControlKey(dst []byte, k *Key, m *vterm.Modes) []byte {
	if otherControlKey(k, m) {
		return appendOtherKey(dst, controlOf(k, m), k.Mods, m)
	}
	if k.Mods&(Alt|Meta) != 0 {
		dst = append(dst, 0x1b)
	}
	switch {
	case k.Code == KeyTab && k.Mods&Shift != 0:
		return append(dst, "\x1b[Z"...)
	case k.Code == KeyEnter && m.NewLine:
		return append(dst, "\r\n"...)
	}
	return append(dst, byte(controlOf(k, m)))
}

func controlOf(k *Key, m *vterm.Modes) rune {
	switch k.Code {
	case KeyEnter:
		return '\r'
	case KeyTab:
		return '\t'
	case KeyEscape:
		return 0x1b
	}
	if m.BackarrowBS != (k.Mods&Ctrl != 0) { // DECBKM and Ctrl each swap the two
		return '\b'
	}
	return 0x7f
}

// appendLegacyText encodes a printing key. Alt adds an ESC before it. With Super or Hyper it appends nothing, because
// the character alone would have another effect.
func appendLegacyText(dst []byte, k *Key, m *vterm.Modes) []byte {
	if k.typesText() && !otherTextKey(k, m) {
		return k.appendText(dst)
	}
	if k.Mods&(Super|Hyper) != 0 || k.Code == 0 {
		return dst
	}
	if otherTextKey(k, m) {
		return appendOtherKey(dst, k.char(), k.Mods, m)
	}
	was := len(dst)
	if k.Mods&(Alt|Meta) != 0 {
		dst = append(dst, 0x1b)
	}
	if c, ok := k.ctrl(); ok && k.Mods&Ctrl != 0 {
		return append(dst, c)
	}
	if k.Mods&Ctrl != 0 && k.char() >= utf8.RuneSelf { // typing the bare character would do something else
		return dst[:was]
	}
	return appendKeyRune(dst, k.char())
}

// ctrl returns the control character of a printing key with Ctrl. A key that is not ASCII uses the US key at its place,
// so that Ctrl-С interrupts on a Cyrillic keyboard too.
func (k *Key) ctrl() (byte, bool) {
	if c := k.char(); c < utf8.RuneSelf {
		return ctrlOf(c)
	}
	us, _ := k.US()
	return ctrlOf(us.Code)
}

// ctrlOf implements table 3-5 of the VT100 User Guide, with X's additions (xterm's input.c, IsControlAlias).
func ctrlOf(r rune) (byte, bool) {
	switch {
	case r >= '@' && r <= '_', r >= 'a' && r <= '~':
		return byte(r) & 0x1f, true
	case r == ' ' || r == '2' || r == '`':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '/':
		return 0x1f, true
	case r == '8' || r == '?':
		return 0x7f, true
	}
	return 0, false
}

// otherTextKey reports whether modifyOtherKeys encodes a printing key (xterm manual, "modifyOtherKeys"). Level 1
// encodes keys for which Ctrl yields no control character, level 2 all keys with Ctrl or Alt. Unlike xterm, level 2
// does not encode text typed with Shift alone: no program needs it, and some show it as garbage.
func otherTextKey(k *Key, m *vterm.Modes) bool {
	switch {
	case m.ModifyOtherKeys == 0 || k.Code <= 0 || k.Mods&(Super|Hyper) != 0:
		return false
	case m.ModifyOtherKeys == 1:
		_, control := k.ctrl()
		return k.Mods&Ctrl != 0 && !control
	}
	return k.Mods&(Ctrl|Alt|Meta) != 0 || k.Mods&Shift != 0 && k.Code == ' '
}

// otherControlKey reports whether Enter, Tab, Backspace or Escape is sent in the modifyOtherKeys form (xterm's input.c,
// ModifyOtherKeys).
func otherControlKey(k *Key, m *vterm.Modes) bool {
	mods := k.Mods & (Shift | Alt | Ctrl | Meta)
	if m.ModifyOtherKeys == 0 || mods == 0 || k.Code == KeyTab && mods == Shift {
		return false
	}
	if m.ModifyOtherKeys == 1 {
		return (k.Code == KeyEnter || k.Code == KeyTab) && mods&(Alt|Meta) == 0
	}
	switch k.Code {
	case KeyBackspace:
		return mods != Ctrl
	case KeyEscape:
		return mods != Shift
	}
	return true
}

// appendOtherKey appends CSI 27 ; modifiers ; code ~, or CSI code ; modifiers u if m.FormatOtherKeys is set.
func appendOtherKey(dst []byte, code rune, mods Mods, m *vterm.Modes) []byte {
	param := legacyParam(mods)
	if m.FormatOtherKeys == 1 {
		return appendCSI(dst, int(code), param, 'u')
	}
	return appendNumbers(append(dst, "\x1b["...), '~', 27, param, int(code))
}
