package attach

import (
	"fmt"
	"strings"
)

// Detacher finds the detach key in what a person types: a control character, then a
// second key. It is a pure machine over the terminal's raw input.
//
// Programs may have switched the terminal to a keyboard protocol that reports keys as
// sequences; the two of them that are spread (CSI u, and xterm's modifyOtherKeys form)
// are known here, so that the key works whatever runs.
type Detacher struct {
	first  byte // control character, 1 to 31
	second byte
	armed  []byte // the bytes of the first key, once it was typed
}

// DefaultDetachKey is Ctrl-\ then d.
const DefaultDetachKey = `C-\ d`

// NewDetacher reads a detach key such as `C-\ d`, `C-a d`; empty: none.
func NewDetacher(key string) (*Detacher, error) {
	if key == "" {
		return &Detacher{}, nil
	}
	f := strings.Fields(key)
	if len(f) == 2 && len(f[0]) == 3 && strings.EqualFold(f[0][:2], "c-") && len(f[1]) == 1 && f[1][0] > ' ' && f[1][0] < 0x7f {
		c := strings.ToUpper(f[0][2:])[0]
		if c >= '@' && c <= '_' && c != '[' {
			return &Detacher{first: c & 0x1f, second: f[1][0]}, nil
		}
	}
	return nil, fmt.Errorf(`detach key %q: give a control key and a letter, as in %q; not C-[, which is Escape`, key, DefaultDetachKey)
}

// Feed takes one read of input. It returns what is for the session and whether the
// person wants to leave. The first key is held back until the next key shows what it
// was meant for; typed twice it reaches the session once.
func (d *Detacher) Feed(in []byte) (out []byte, detach bool) {
	for len(in) > 0 {
		if d.first == 0 {
			return append(out, in...), false
		}
		if d.armed != nil {
			held := d.armed
			if n := matchKey(in, d.second, 0); n > 0 {
				return out, true
			}
			d.armed = nil
			if n := matchKey(in, d.first|0x60, d.first); n > 0 { // typed twice
				out = append(out, held...)
				in = in[n:]
				continue
			}
			out = append(out, held...)
			continue
		}
		at, n := d.find(in)
		out = append(out, in[:at]...)
		if n > 0 {
			d.armed = append([]byte{}, in[at:at+n]...)
		}
		in = in[at+n:]
	}
	return out, false
}

// find looks for the first key: its place and length, or the end and 0.
func (d *Detacher) find(in []byte) (at, n int) {
	for i := range in {
		if n := matchKey(in[i:], d.first|0x60, d.first); n > 0 {
			return i, n
		}
	}
	return len(in), 0
}

// matchKey reports how many bytes at the start of in are the given key: its control
// character (if any), or plain character when control is 0, or either as a sequence.
func matchKey(in []byte, char, control byte) int {
	raw, mod := char, ""
	if control != 0 {
		raw, mod = control, ";5"
	}
	if in[0] == raw {
		return 1
	}
	for _, code := range keyCodes(char, control) {
		for _, form := range []string{
			fmt.Sprintf("\x1b[%d%su", code, mod),           // kitty keyboard protocol
			fmt.Sprintf("\x1b[27%s;%d~", orOne(mod), code), // xterm, formatOtherKeys 0
		} {
			if strings.HasPrefix(string(in[:min(len(in), 16)]), form) {
				return len(form)
			}
		}
	}
	return 0
}

func orOne(mod string) string {
	if mod == "" {
		return ";1"
	}
	return mod
}

// keyCodes are the code points a key is reported by: Ctrl-\ is 92, Ctrl-A is 97.
func keyCodes(char, control byte) []byte {
	if control == 0 {
		return []byte{char}
	}
	return []byte{control | 0x40, control | 0x60}
}
