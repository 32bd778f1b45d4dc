package canvas

import (
	"bytes"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// keyTap decodes keys before tcell's reader, which loses modifiers, events and functional keys. It replaces each
// decoded key by a carrier character (events.Carry). Text, the mouse, paste marks and the terminal's answers pass
// unchanged.
type keyTap struct {
	held    []byte    // incomplete sequence or character
	ready   []byte    // decoded input for the screen
	text    bool      // inside a string (OSC, DCS, APC)
	paste   bool      // between the marks of a paste
	escaped time.Time // time at which the screen received an Escape at the end of a read
}

const (
	// maxKeySequence exceeds the length of any key's sequence, in bytes.
	maxKeySequence = 96
	// escapeTime is how long the screen waits for more after an Escape.
	escapeTime = 50 * time.Millisecond
)

// feed decodes p, which is valid UTF-8 except for an incomplete character at its end.
func (t *keyTap) feed(p []byte, now time.Time) {
	b := append(t.held, p...)
	t.held = nil
	late := now.Sub(t.escaped) >= escapeTime
	if t.escaped = (time.Time{}); !late && len(b) > 0 {
		if n := t.sequence(append([]byte{esc}, b...), true); n > 0 {
			b = b[n-1:]
		}
	}
	for len(b) > 0 {
		switch {
		case t.text:
			b = t.passText(b)
		case b[0] == esc && len(b) == 1:
			t.ready = append(t.ready, esc)
			t.escaped, b = now, nil
		case b[0] == esc:
			n := t.sequence(b, false)
			if n == 0 {
				t.held, b = b, nil
			}
			b = b[n:]
		case b[0] < utf8.RuneSelf:
			t.ready = append(t.ready, b[0])
			b = b[1:]
		case !utf8.FullRune(b):
			t.held, b = b, nil
		default:
			r, n := utf8.DecodeRune(b)
			if events.IsCarrier(r) {
				r = events.Carry(input.Key{Code: r, Text: string(r)})
			}
			t.ready = utf8.AppendRune(t.ready, r)
			b = b[n:]
		}
	}
}

const esc = 0x1b

// passText passes a control string to the screen, up to its end or the end of b.
func (t *keyTap) passText(b []byte) (rest []byte) {
	n := len(b)
	if at := bytes.IndexAny(b, "\x07\x1b"); at >= 0 {
		t.text, n = false, at
		if b[at] == 0x07 {
			n++
		}
	}
	t.ready = append(t.ready, b[:n]...)
	return b[n:]
}

// sequence handles a sequence that starts with an Escape and returns its length, or 0 if it is incomplete. passed means
// that the screen has the Escape already.
func (t *keyTap) sequence(b []byte, passed bool) (n int) {
	raw := b
	if passed {
		raw = b[1:]
	}
	pass := func(n int) int {
		t.ready = append(t.ready, raw[:n-len(b)+len(raw)]...)
		return n
	}
	switch c := b[1]; {
	case c == '[' || c == 'O':
		n = sequenceEnd(b)
		if n == 0 && len(b) < maxKeySequence {
			if passed { // the next read has no Escape before it
				t.held, t.escaped = b[1:], time.Now()
				return len(b)
			}
			return 0
		}
		if n == 0 {
			return pass(len(b))
		}
		return t.control(b[:n], pass)
	case bytes.IndexByte([]byte("]P_^X"), c) >= 0:
		t.text = true
		return pass(2)
	case c == esc:
		if n := sequenceEnd(b[1:]); !passed && len(b) > 2 && (b[2] == '[' || b[2] == 'O') && n > 0 {
			if k, ok := input.DecodeKey(b[1 : 1+n]); ok && !t.paste { // Alt, of terminals that send it as an Escape
				k.Mods |= input.Alt
				t.carry(k)
				return 1 + n
			}
		}
		return pass(1)
	case c < utf8.RuneSelf:
		return pass(2)
	case !utf8.FullRune(b[1:]):
		return 0
	default:
		r, size := utf8.DecodeRune(b[1:])
		t.carry(input.Key{Code: r, Mods: input.Alt})
		return 1 + size
	}
}

// sequenceEnd returns the length of a control sequence, or of a key of application mode; 0 if it is incomplete.
func sequenceEnd(b []byte) int {
	for i := 2; i < len(b); i++ {
		if b[i] < 0x20 || b[i] > 0x3f {
			if b[i] < 0x20 || b[i] > 0x7e { // it was interrupted
				return i
			}
			return i + 1
		}
	}
	return 0
}

// control handles a control sequence.
func (t *keyTap) control(seq []byte, pass func(int) int) int {
	if len(seq) < 3 { // interrupted at once
		return pass(len(seq))
	}
	body, final := seq[2:len(seq)-1], seq[len(seq)-1]
	if final == '~' && string(body) == "200" {
		t.paste = true
	}
	if final == '~' && string(body) == "201" {
		t.paste = false
	}
	k, ok := input.DecodeKey(seq)
	switch {
	case t.paste:
		return pass(len(seq))
	case ok:
		t.carry(k)
	case final == 'u' && len(body) > 0 && body[0] >= '0' && body[0] <= '9': // an unknown key is dropped: the screen would type its sequence
	default:
		return pass(len(seq))
	}
	return len(seq)
}

// carry passes a key to the screen, with the text that it types.
func (t *keyTap) carry(k input.Key) {
	if k.Text == "" && k.Mods&^(input.Shift|input.CapsLock|input.NumLock) == 0 && k.Code < input.KeyNone {
		k.Text = string(input.AppendKey(nil, k, &vterm.Modes{}))
	}
	t.ready = utf8.AppendRune(t.ready, events.Carry(k))
}

// read fills p with decoded input. from reads the terminal.
func (t *keyTap) read(p []byte, from func([]byte) (int, error)) (int, error) {
	for len(t.ready) == 0 {
		n, err := from(p)
		if n <= 0 || err != nil {
			return n, err
		}
		t.feed(p[:n], time.Now())
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}
