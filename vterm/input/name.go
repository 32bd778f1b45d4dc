package input

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyMods lists the modifiers in the order in which they are written, with the names that are accepted before a - or +.
// M is Alt in tmux and vim; D is Super in vim.
var keyMods = [...]struct {
	mod   Mods
	short string   // as written
	names []string // lower case
}{
	{Ctrl, "C-", []string{"c", "ctrl", "control", "ctl"}},
	{Alt, "M-", []string{"m", "a", "alt", "opt", "option"}},
	{Shift, "S-", []string{"s", "shift"}},
	{Super, "D-", []string{"d", "super", "cmd", "command", "win"}},
	{Hyper, "Hyper-", []string{"h", "hyper"}},
	{Meta, "Meta-", []string{"meta"}},
}

// String returns the key's name in tmux's notation: C-c, M-x, S-Up, BSpace, F5. ParseKey accepts it. It omits action,
// locks, text and alternates.
func (k Key) String() string {
	k = normalKey(k)
	if implied, r := k.impliedShift(); implied {
		k.Mods &^= Shift
		k.Code = r
	}
	var b strings.Builder
	for _, m := range keyMods {
		if k.Mods&m.mod != 0 {
			b.WriteString(m.short)
		}
	}
	b.WriteString(codeName(k.Code))
	return b.String()
}

// impliedShift reports whether Shift is written as a capital letter: M-A, but C-S-a, because tmux and vim read C-A as
// C-a.
func (k *Key) impliedShift() (bool, rune) {
	upper := unicode.ToUpper(k.Code)
	return k.Mods&(Shift|Ctrl) == Shift && upper != k.Code && unicode.ToLower(upper) == k.Code, upper
}

func codeName(code rune) string {
	switch row := keyRowOf(code); {
	case row != nil:
		name, _, _ := strings.Cut(row.names, " ")
		return name
	case code == ' ':
		return "Space"
	case utf8.ValidRune(code):
		return string(code)
	}
	return "None"
}

// ParseKey parses the name of one key: tmux's (C-c, M-x, S-Tab, BSpace, NPage, ^C), vim's (<C-c>, <CR>, <lt>), and
// words (Ctrl+C, ctrl-c, Alt+F4). Names and modifiers may be in any case. The case of single characters counts, except
// with Ctrl. The error is a *KeyError.
func ParseKey(s string) (Key, error) {
	name := s
	if len(s) > 2 && s[0] == '<' && s[len(s)-1] == '>' {
		name = s[1 : len(s)-1]
	}
	var mods Mods
	for {
		mod, rest, ok := cutMod(name)
		if !ok {
			break
		}
		mods, name = mods|mod, rest
	}
	if len(name) > 1 && name[0] == '^' {
		mods, name = mods|Ctrl, name[1:]
	}
	k, ok := baseKey(name)
	if !ok {
		return Key{}, &KeyError{Name: s, Near: nearKeys(name)}
	}
	if mods&Ctrl != 0 && keyRowOf(k.Code) == nil {
		k.Mods &^= Shift // C-A is C-a
	}
	k.Mods |= mods
	return k, nil
}

// cutMod removes a modifier and its - or + from the start of a name.
func cutMod(s string) (mod Mods, rest string, ok bool) {
	i := strings.IndexAny(s, "-+")
	if i <= 0 || i == len(s)-1 {
		return 0, s, false
	}
	word := s[:i]
	for _, m := range keyMods {
		for _, name := range m.names {
			if strings.EqualFold(word, name) {
				return m.mod, s[i+1:], true
			}
		}
	}
	return 0, s, false
}

// baseKey returns the key of a name without modifiers.
func baseKey(name string) (Key, bool) {
	r, n := utf8.DecodeRuneInString(name)
	switch {
	case n == 0 || r == utf8.RuneError && n == 1:
		return Key{}, false
	case n == len(name):
		return runeKey(r), true
	}
	k, ok := keysByName()[strings.ToLower(name)]
	return k, ok
}

// runeKey returns the key that types a character.
func runeKey(r rune) Key {
	if r == ' ' {
		return Key{Code: KeySpace}
	}
	k := normalKey(Key{Code: r})
	if k.Code == ' ' { // NUL
		k.Code = KeySpace
	}
	return k
}

// ParseKeys parses text with keys in angle brackets: hello<Enter>. A < that starts no bracket (before a blank, or
// without a >) is a plain <; any other is written <lt>.
//
// A text that consists of key names separated by blanks is parsed as these keys: names with a modifier, such as C-c or
// Ctrl+Up, and names with a capital first letter, such as Down or Enter. Other verbs accept names in this form.
func ParseKeys(s string) ([]Key, error) {
	if keys := namedKeys(s); len(keys) > 0 {
		return keys, nil
	}
	var keys []Key
	for len(s) > 0 {
		if name := bracketPrefix(s); name != "" {
			k, err := ParseKey(name)
			if err != nil {
				return nil, err
			}
			keys = append(keys, k)
			s = s[len(name):]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			return nil, &KeyError{Name: s[:1]}
		}
		if r == '\r' && len(s) > 1 && s[1] == '\n' {
			n = 2
		}
		keys = append(keys, runeKey(r))
		s = s[n:]
	}
	return keys, nil
}

// namedKeys parses names of keys with blanks between them. It returns nil for another text.
func namedKeys(s string) (keys []Key) {
	for name := range strings.FieldsSeq(s) {
		_, _, modified := cutMod(name)
		first, n := utf8.DecodeRuneInString(name)
		if name[0] == '<' || !modified && (!unicode.IsUpper(first) || n == len(name)) {
			return nil
		}
		k, err := ParseKey(name)
		if err != nil {
			return nil
		}
		keys = append(keys, k)
	}
	return keys
}

// bracketPrefix returns the <…> at the start of s, or "". <C->> is valid.
func bracketPrefix(s string) string {
	const longest = 64
	if len(s) < 3 || s[0] != '<' {
		return ""
	}
	for i := 1; i < len(s) && i < longest; i++ {
		switch b := s[i]; {
		case b <= ' ' || b == '<' && i == 1:
			return ""
		case b == '>' && i == 1:
			return ""
		case b == '>' && i+1 < len(s) && s[i+1] == '>' && (s[i-1] == '-' || s[i-1] == '+'):
			return s[:i+2]
		case b == '>':
			return s[:i+1]
		}
	}
	return ""
}
