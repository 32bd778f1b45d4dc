package attach

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Action is what a user at an attached terminal asks longterm for, not the session.
type Action uint8

// Actions.
const (
	None Action = iota
	Detach
	Next     // the next session
	Previous // the one before
)

// Chords detects longterm's key chords in user input: a control character, then a second key. It is a pure machine over
// the terminal's raw input.
//
// Programs may have switched the terminal to a keyboard protocol that reports keys as sequences. Chords knows the two
// common ones (CSI u, and xterm's modifyOtherKeys form), so that chords work in any program.
type Chords struct {
	bound []chord
	armed []byte // what was typed since a first key, and may turn out to be for the session
	first byte   // of it
}

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

// Feed takes one read of input. It returns what is for the session, what the user asks
// for, and with that what was typed behind it. The first key is held back until the next
// key shows what it was meant for; typed twice it reaches the session once.
func (c *Chords) Feed(in []byte) (out []byte, do Action, rest []byte) {
	for len(in) > 0 {
		k := readKey(in)
		raw := in[:k.bytes]
		in = in[k.bytes:]
		switch {
		case c.armed == nil && c.isFirst(k):
			c.armed, c.first = append([]byte{}, raw...), k.char
		case c.armed == nil:
			out = append(out, raw...)
		case k.noise: // the first key is let go, or Shift is pressed
			c.armed = append(c.armed, raw...)
		default:
			held := c.armed
			c.armed = nil
			if do := c.action(k); do != None {
				return out, do, in
			}
			out = append(out, held...)
			if !k.control || k.char != c.first {
				out = append(out, raw...)
			}
		}
	}
	return out, None, nil
}

// Plain reports whether input goes to the session unchanged: no key is held back, and none starts a chord. Feed would
// return it whole. Key reports are left to Feed.
func (c *Chords) Plain(in []byte) bool {
	if c.armed != nil {
		return false
	}
	for _, b := range in {
		if b == esc || b < 0x20 && c.isFirst(key{char: b, control: true}) {
			return false
		}
	}
	return true
}

// isFirst reports whether a key starts a chord.
func (c *Chords) isFirst(k key) bool {
	for _, b := range c.bound {
		if k.control && !k.noise && k.char == b.first {
			return true
		}
	}
	return false
}

// action returns the action of the second key.
func (c *Chords) action(k key) Action {
	for _, b := range c.bound {
		if b.first == c.first && !k.control && k.char == b.second {
			return b.action
		}
	}
	return None
}

// key is one key of the input, as far as it matters here.
type key struct {
	bytes   int
	char    byte // the character; with control the control character; 0: any other key
	control bool
	noise   bool // a key let go, or a modifier by itself
}

// readKey reads the key at the beginning of the input. What it does not know is passed
// byte by byte.
func readKey(in []byte) key {
	if in[0] < 0x20 && in[0] != esc {
		return key{bytes: 1, char: in[0], control: true}
	}
	if in[0] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(in)
		return key{bytes: n, char: usChar(input.Key{Code: r})}
	}
	if in[0] != esc || len(in) < 3 || in[1] != '[' {
		return key{bytes: 1, char: in[0]}
	}
	end := bytes.IndexFunc(in[2:min(len(in), 64)], func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if end < 0 {
		return key{bytes: 1, char: in[0]}
	}
	n := 3 + end
	if final := in[n-1]; final != 'u' && (final != '~' || !bytes.HasPrefix(in[2:], []byte("27;"))) {
		return key{bytes: 1, char: in[0]}
	}
	if k, ok := input.DecodeKey(in[:n]); ok { // kitty keyboard protocol, or xterm's formatOtherKeys 0
		return chordKey(n, k)
	}
	return key{bytes: n}
}

// usChar returns the ASCII character of a key, or of its place on the US layout; 0 for other characters.
func usChar(k input.Key) byte {
	if us, ok := k.US(); ok {
		k = us
	}
	if k.Code < ' ' || k.Code > '~' {
		return 0
	}
	return byte(k.Code)
}

// chordKey returns r, which takes n bytes of input, as a key of a chord.
func chordKey(n int, r input.Key) key {
	k := key{bytes: n, noise: r.Action == input.KeyRelease || r.IsModifier()}
	r.Mods &^= input.CapsLock | input.NumLock
	char := usChar(r)
	switch mods := r.Mods; {
	case char == 0:
	case mods == input.Ctrl && char >= '@':
		k.char, k.control = char&0x1f, true
	case mods == input.Shift && char >= 'a' && char <= 'z':
		k.char = char - 'a' + 'A'
	case mods&^input.Shift == 0:
		k.char = char
	}
	return k
}
