package input

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

const lockMods = CapsLock | NumLock

// textMods are the modifiers under which a key still types text.
const textMods = Shift | lockMods

// AppendKey appends the bytes of a key under modes m, or nothing if the key has no encoding. Text is ignored with Ctrl,
// Alt, Super, Hyper or Meta.
func AppendKey(dst []byte, k Key, m *vterm.Modes) []byte {
	k = normalKey(k)
	if m.Kitty&vterm.KittyFlagsAll != 0 {
		return appendKitty(dst, k, m)
	}
	if k.Action == KeyRelease {
		return dst
	}
	return appendLegacyKey(dst, k, m)
}

// typesText reports whether a printing key types text under its modifiers.
func (k *Key) typesText() bool { return k.Mods&^textMods == 0 }

// appendText appends the text of a key that types text.
func (k *Key) appendText(dst []byte) []byte {
	if k.Text != "" {
		return append(dst, k.Text...)
	}
	return appendKeyRune(dst, k.char())
}

func appendKeyRune(dst []byte, r rune) []byte {
	if !utf8.ValidRune(r) {
		return dst
	}
	return utf8.AppendRune(dst, r)
}

const (
	usUnshifted = "`1234567890-=[]\\;',./"
	usShifted   = "~!@#$%^&*()_+{}|:\"<>?"
)

// char returns the character of a printing key with Shift and Caps Lock applied. The effect of Shift on keys other than
// letters is taken from Shifted, or from the US layout.
func (k *Key) char() rune {
	upper := unicode.ToUpper(k.Code)
	switch {
	case k.Mods&CapsLock != 0 && upper != k.Code:
		if k.Mods&Shift == 0 {
			return upper
		}
		return k.Code
	case k.Mods&Shift == 0:
		return k.Code
	case k.Shifted != 0:
		return k.Shifted
	case upper != k.Code:
		return upper
	}
	if i := strings.IndexRune(usUnshifted, k.Code); i >= 0 && k.Code != utf8.RuneError {
		return rune(usShifted[i])
	}
	return k.Code
}

// appendCSI appends CSI num ; param final. It omits a param of 0, and then also a num of 1, which only fills the place
// before param.
func appendCSI(dst []byte, num, param int, final byte) []byte {
	dst = append(dst, "\x1b["...)
	switch {
	case param != 0:
		return appendNumbers(dst, final, num, param)
	case num != 1:
		return appendNumbers(dst, final, num)
	}
	return append(dst, final)
}

// appendNumbers appends numbers with ; between them, and a final byte.
func appendNumbers(dst []byte, final byte, numbers ...int) []byte {
	for i, n := range numbers {
		if i > 0 {
			dst = append(dst, ';')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, final)
}

// AppendFocus appends the report of a focus change (mode 1004).
func AppendFocus(dst []byte, in bool, m *vterm.Modes) []byte {
	switch {
	case !m.FocusEvents:
		return dst
	case in:
		return append(dst, "\x1b[I"...)
	default:
		return append(dst, "\x1b[O"...)
	}
}
