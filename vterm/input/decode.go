package input

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// DecodeKey returns the key of a control sequence that a terminal sent: ESC [ or ESC O up to the final byte. It
// supports the kitty keyboard protocol, both forms of xterm's modifyOtherKeys, and the function keys and keypad of
// keyTable. It returns false for other sequences.
func DecodeKey(seq []byte) (Key, bool) {
	if len(seq) < 3 || seq[0] != 0x1b {
		return Key{}, false
	}
	body, final := string(seq[2:len(seq)-1]), seq[len(seq)-1]
	if seq[1] == 'O' {
		return decodeSS3(body, final)
	}
	if seq[1] != '[' || strings.Trim(body, "0123456789;:") != "" {
		return Key{}, false
	}
	f := keyFields(body)
	switch {
	case final == 'u' && body != "":
		return decodeKitty(&f)
	case final == '~' && f.number(0, 0) == 27 && f.number(2, 0) > 0:
		k := normalKey(Key{Code: rune(f.number(2, 0))})
		k.Mods |= modsOf(f.number(1, 0))
		return k, utf8.ValidRune(rune(f.number(2, 0)))
	case final == 'Z':
		return Key{Code: KeyTab, Mods: Shift}, true
	}
	for i := range keyTable {
		row := &keyTable[i]
		if row.final != final || row.like != 0 || final == '~' && f.number(0, 0) != row.num && !isTilde(row, f.number(0, 0)) || final != '~' && f.number(0, 0) > 1 {
			continue
		}
		return Key{Code: KeyNone + rune(i), Mods: modsOf(f.number(1, 0)), Action: actionOf(f.number(1, 1))}, true
	}
	return decodeTilde(&f, final)
}

// tildeKeys maps numbers in CSI number ~ to keys, for numbers that keyTable lacks: those of the VT220, the Linux console
// and the kitty protocol.
var tildeKeys = map[int]rune{
	1: KeyHome, 4: KeyEnd, 7: KeyHome, 8: KeyEnd, 11: KeyF1, 12: KeyF1 + 1, 13: KeyF1 + 2, 14: KeyF1 + 3, 29: KeyF1 + 15, 57427: KeyKPBegin,
}

func isTilde(row *keyRow, number int) bool {
	return tildeKeys[number] != 0 && keyRowOf(tildeKeys[number]) == row
}

func decodeTilde(f *numbers, final byte) (Key, bool) {
	code, ok := tildeKeys[f.number(0, 0)]
	return Key{Code: code, Mods: modsOf(f.number(1, 0)), Action: actionOf(f.number(1, 1))}, ok && final == '~'
}

// decodeSS3 returns a key in application mode: a cursor key, one of the first function keys, or a keypad key.
func decodeSS3(body string, final byte) (Key, bool) {
	mods, err := strconv.Atoi(body)
	if body != "" && err != nil {
		return Key{}, false
	}
	for i := range keyTable {
		row := &keyTable[i]
		if row.pad == final || row.final == final && (row.cursor || row.pf) {
			return Key{Code: KeyNone + rune(i), Mods: modsOf(mods)}, true
		}
	}
	return Key{}, false
}

// decodeKitty returns the key of CSI code : shifted : base ; modifiers : event ; text u.
func decodeKitty(f *numbers) (Key, bool) {
	code := f.number(0, 0)
	k := Key{Code: rune(code), Shifted: rune(f.number(0, 1)), Base: rune(f.number(0, 2)), Mods: modsOf(f.number(1, 0)), Action: actionOf(f.number(1, 1))}
	for i := range f.subs(2) {
		if r := f.number(2, i); r >= ' ' && utf8.ValidRune(rune(r)) {
			k.Text += string(rune(r))
		}
	}
	for i := range keyTable {
		if row := &keyTable[i]; row.kitty == code && !row.kittyTilde && code != 0 {
			k.Code, k.Shifted, k.Base = KeyNone+rune(i), 0, 0
			return k, true
		}
	}
	if code == 57427 {
		k.Code = KeyKPBegin
		return k, true
	}
	if code < ' ' && k.Text == "" || !utf8.ValidRune(k.Code) || code >= firstFunctional && code <= lastFunctional {
		return Key{}, false
	}
	return k, true
}

// firstFunctional and lastFunctional delimit the private Unicode area of functional keys (kitty keyboard protocol).
const firstFunctional, lastFunctional = 57344, 63743

// modsOf returns the modifiers of a parameter, which is one more than their bits.
func modsOf(parameter int) Mods {
	if parameter < 1 || parameter > 256 {
		return 0
	}
	return Mods(parameter - 1)
}

func actionOf(event int) KeyAction {
	if event < 1 || event > 3 {
		return KeyPress
	}
	return KeyAction(event - 1)
}

// numbers holds the parameters of a control sequence, each with its sub-parameters.
type numbers [][]string

func keyFields(body string) (f numbers) {
	for part := range strings.SplitSeq(body, ";") {
		f = append(f, strings.Split(part, ":"))
	}
	return f
}

// subs returns how many sub-parameters a parameter has, 0 if it is missing.
func (f numbers) subs(i int) int {
	if i >= len(f) {
		return 0
	}
	return len(f[i])
}

// number returns a sub-parameter, 0 if it is missing.
func (f numbers) number(i, sub int) int {
	if sub >= f.subs(i) {
		return 0
	}
	n, _ := strconv.Atoi(f[i][sub])
	return n
}

// IsModifier reports whether a key is a modifier or a lock by itself.
func (k Key) IsModifier() bool { return modifierKey(k.Code) }

// Plain returns the key of the main keyboard that a key of the keypad equals: a digit, or another key.
func (k Key) Plain() Key {
	row := keyRowOf(k.Code)
	if row == nil || row.like == 0 {
		return k
	}
	k.Code, k.Shifted, k.Base = row.like, 0, 0
	if keyRowOf(k.Code) == nil && k.typesText() {
		k.Text, k.Mods = string(row.like), 0
	}
	return k
}
