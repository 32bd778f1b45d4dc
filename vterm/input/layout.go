package input

import (
	"unicode/utf8"
)

// layouts pairs the letters of keyboard layouts with the US keys at the same places. They serve terminals that do not
// report the base layout key (kitty keyboard protocol, "Report alternate keys").
var layouts = [...]struct{ letters, us string }{
	{"йцукенгшщзхъфывапролджэячсмитьбюё", "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"}, // Russian
	{"іїєґў", "s]'\\o"}, // Ukrainian, Belarusian
	{"ςερτυθιοπασδφγηξκλζχψωβνμ", "wertyuiopasdfghjklzxcvbnm"},               // Greek
	{"קראטוןםפשדגכעיחלךףזסבהנמצתץ", "ertyuiopasdfghjkl;zxcvbnm,."},           // Hebrew
	{"ضصثقفغعهخحجدشسيبلاتنمكطئءؤرىةوزظ", "qwertyuiop[]asdfghjkl;'zxcvnm,./"}, // Arabic
}

// usKey returns the US key at the place of a letter of another script, or 0 if it is unknown.
func usKey(letter rune) rune {
	for i := range layouts {
		at := 0
		for _, r := range layouts[i].letters {
			if r == letter {
				return rune(layouts[i].us[at])
			}
			at++
		}
	}
	return 0
}

// US returns the key that the US layout has at the same place, for commands bound to Latin letters. It uses the
// terminal's report, else the table of layouts. It returns false for keys of the Latin script.
func (k Key) US() (Key, bool) {
	k = normalKey(k)
	if k.Code < utf8.RuneSelf || keyRowOf(k.Code) != nil {
		return k, false
	}
	base := k.Base
	if base <= 0 || base >= utf8.RuneSelf {
		base = usKey(k.Code)
	}
	if base == 0 {
		return k, false
	}
	us := Key{Code: base, Mods: k.Mods, Action: k.Action}
	if us.typesText() {
		us.Code, us.Mods = us.char(), us.Mods&lockMods
	}
	return us, true
}

// Is reports whether a key is the one that a command is bound to, on any layout. It ignores locks.
func (k Key) Is(bound Key) bool {
	us, ok := k.US()
	return k.sameKey(bound) || ok && us.sameKey(bound)
}

func (k Key) sameKey(bound Key) bool {
	return k.Code == bound.Code && k.Mods&^lockMods == bound.Mods&^lockMods
}
