package attach

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Action is a user's request to longterm at an attached terminal.
type Action uint8

// Actions.
const (
	None Action = iota
	Detach
	Next     // the next session
	Previous // the previous session
)

// Chords detects longterm's key chords in user input: a control character, then a second key. It is a pure state machine over
// the terminal's raw input.
//
// Programs may have switched the terminal to a keyboard protocol that reports keys as sequences. Chords knows the two
// common ones (CSI u, and xterm's modifyOtherKeys form), so that chords work in any program.
type Chords struct {
	bound []chord
	held  []byte // input since a first key, which may belong to the session
	first byte   // control character of that key
}

// chord is a bound chord.
type chord struct {
	first  byte // control character, 1 to 31
	second byte
	action Action
}

// Default keys.
const (
	DefaultDetachKey   = `C-\ d`
	DefaultNextKey     = `C-\ n`
	DefaultPreviousKey = `C-\ p`
)

// Bind binds a chord such as `C-\ d` or `C-a d` to an action; empty: none.
func (c *Chords) Bind(key string, action Action) error {
	if key == "" {
		return nil
	}
	b, err := parseChord(key)
	if err != nil {
		return err
	}
	for _, other := range c.bound {
		if other.first == b.first && other.second == b.second {
			return fmt.Errorf("key %q is bound twice; choose another in [attach] of the configuration", key)
		}
	}
	b.action = action
	c.bound = append(c.bound, b)
	return nil
}

// CheckKey returns the error of an invalid key for Bind.
func CheckKey(key string) error { return new(Chords).Bind(key, Detach) }

// parseChord parses a chord.
func parseChord(key string) (chord, error) {
	f := strings.Fields(key)
	if len(f) == 2 && len(f[0]) == 3 && strings.EqualFold(f[0][:2], "c-") && len(f[1]) == 1 && f[1][0] > ' ' && f[1][0] < 0x7f {
		c := strings.ToUpper(f[0][2:])[0]
		if c >= '@' && c <= '_' && c != '[' {
			return chord{first: c & 0x1f, second: f[1][0]}, nil
		}
	}
	return chord{}, fmt.Errorf("key %q: give a control key and a letter, as in `%s`; not C-[, which is Escape", key, DefaultDetachKey)
}

// Feed processes one read of input. It returns the input for the session, the user's action, and the input after it. The first
// key is held back until the next key decides its meaning; typed twice it reaches the session once.
func (c *Chords) Feed(in []byte) (out []byte, do Action, rest []byte) {
	for len(in) > 0 {
		k := readKey(in)
		raw := in[:k.size]
		in = in[k.size:]
		switch {
		case c.held == nil && c.isFirst(k):
			c.held, c.first = append([]byte{}, raw...), k.char
		case c.held == nil:
			out = append(out, raw...)
		case k.isIgnored: // the first key is released, or a modifier is pressed
			c.held = append(c.held, raw...)
		default:
			held := c.held
			c.held = nil
			if do := c.action(k); do != None {
				return out, do, in
			}
			out = append(out, held...)
			if !k.isControl || k.char != c.first {
				out = append(out, raw...)
			}
		}
	}
	return out, None, nil
}

// IsPlain reports whether input goes to the session unchanged: no key is held back, and none starts a chord. Feed would
// return it whole. It returns false for key reports.
func (c *Chords) IsPlain(in []byte) bool {
	if c.held != nil {
		return false
	}
	for _, b := range in {
		if b == esc || b < 0x20 && c.isFirst(key{char: b, isControl: true}) {
			return false
		}
	}
	return true
}

// isFirst reports whether a key starts a chord.
func (c *Chords) isFirst(k key) bool {
	for _, b := range c.bound {
		if k.isControl && !k.isIgnored && k.char == b.first {
			return true
		}
	}
	return false
}

// action returns the action of the second key.
func (c *Chords) action(k key) Action {
	for _, b := range c.bound {
		if b.first == c.first && !k.isControl && k.char == b.second {
			return b.action
		}
	}
	return None
}

// key is one key of the input.
type key struct {
	size      int
	char      byte // the character; if isControl, the control character; 0: any other key
	isControl bool
	isIgnored bool // a key release, or a modifier by itself
}

// readKey reads the key at the start of the input. Unknown input is read byte by byte.
func readKey(in []byte) key {
	if in[0] < 0x20 && in[0] != esc {
		return key{size: 1, char: in[0], isControl: true}
	}
	if in[0] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(in)
		return key{size: n, char: usChar(input.Key{Code: r})}
	}
	if in[0] != esc || len(in) < 3 || in[1] != '[' {
		return key{size: 1, char: in[0]}
	}
	end := bytes.IndexFunc(in[2:min(len(in), 64)], func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if end < 0 {
		return key{size: 1, char: in[0]}
	}
	n := 3 + end
	if final := in[n-1]; final != 'u' && (final != '~' || !bytes.HasPrefix(in[2:], []byte("27;"))) {
		return key{size: 1, char: in[0]}
	}
	if k, ok := input.DecodeKey(in[:n]); ok { // kitty keyboard protocol, or xterm's formatOtherKeys 0
		return chordKey(n, k)
	}
	return key{size: n}
}

// usChar returns the ASCII character of a key, or of its position on the US layout; 0 for other characters.
func usChar(k input.Key) byte {
	if us, ok := k.US(); ok {
		k = us
	}
	if k.Code < ' ' || k.Code > '~' {
		return 0
	}
	return byte(k.Code)
}

// chordKey converts r, which takes n bytes of input.
func chordKey(n int, r input.Key) key {
	k := key{size: n, isIgnored: r.Action == input.KeyRelease || r.IsModifier()}
	r.Mods &^= input.CapsLock | input.NumLock
	char := usChar(r)
	switch mods := r.Mods; {
	case char == 0:
	case mods == input.Ctrl && char >= '@':
		k.char, k.isControl = char&0x1f, true
	case mods == input.Shift && char >= 'a' && char <= 'z':
		k.char = char - 'a' + 'A'
	case mods&^input.Shift == 0:
		k.char = char
	}
	return k
}
