package attach

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Action is what a person at an attached terminal asks longterm for, not the session.
type Action uint8

// Actions.
const (
	None Action = iota
	Detach
	Next     // the next session
	Previous // the one before
)

// Chords finds longterm's own keys in what a person types: a control character, then a
// second key. It is a pure machine over the terminal's raw input.
//
// Programs may have switched the terminal to a keyboard protocol that reports keys as
// sequences; the two of them that are spread (CSI u, and xterm's modifyOtherKeys form)
// are known here, so that the keys work whatever runs.
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

// Bind has a key such as `C-\ d` or `C-a d` ask for an action; empty: none does.
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

// CheckKey says what is wrong with a key for Bind.
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

// Feed takes one read of input. It returns what is for the session, what the person asks
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

// Plain says that a read of input is for the session as it is: no key is held back, and none in it begins a
// chord. Feed would return it whole, and be as it was. Reports of keys are left to Feed.
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

// isFirst reports whether a key begins a chord.
func (c *Chords) isFirst(k key) bool {
	for _, b := range c.bound {
		if k.control && !k.noise && k.char == b.first {
			return true
		}
	}
	return false
}

// action is what the second key asks for.
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
	if in[0] != esc || len(in) < 3 || in[1] != '[' {
		return key{bytes: 1, char: in[0]}
	}
	end := bytes.IndexFunc(in[2:min(len(in), 64)], func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if end < 0 {
		return key{bytes: 1, char: in[0]}
	}
	fields := strings.Split(string(in[2:2+end]), ";")
	switch final := in[2+end]; {
	case final == 'u': // kitty keyboard protocol: code[:other codes];modifiers[:event];text
		return reported(3+end, field(fields, 0, 0), field(fields, 1, 0), field(fields, 1, 1))
	case final == '~' && len(fields) == 3 && fields[0] == "27": // xterm, formatOtherKeys 0
		return reported(3+end, field(fields, 2, 0), field(fields, 1, 0), 0)
	}
	return key{bytes: 1, char: in[0]}
}

// field is a number among numbers; 0 when it is not there.
func field(fields []string, i, sub int) int {
	if i >= len(fields) {
		return 0
	}
	parts := strings.Split(fields[i], ":")
	if sub >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[sub])
	return n
}

// Of the kitty keyboard protocol.
const (
	modShift, modCtrl  = 1, 4
	modLocks           = 64 | 128 // Caps Lock, Num Lock
	eventRelease       = 3
	firstModifierKey   = 57441
	lastModifierKey    = 57454
	capsLock, numsLock = 57358, 57360
)

func reported(n, code, mods, event int) key {
	k := key{bytes: n, noise: event == eventRelease || code >= firstModifierKey && code <= lastModifierKey || code >= capsLock && code <= numsLock}
	if mods > 0 {
		mods--
	}
	switch mods &^= modLocks; {
	case code < 0x20 || code > 0x7e:
	case mods == modCtrl && code >= '@':
		k.char, k.control = byte(code)&0x1f, true
	case mods == modShift && code >= 'a' && code <= 'z':
		k.char = byte(code) - 'a' + 'A'
	case mods&^modShift == 0:
		k.char = byte(code)
	}
	return k
}
