package typing

import (
	"errors"
	"time"
	"unicode/utf8"
)

// ErrBegun is returned for input of others while a line is unfinished that a person has begun.
var ErrBegun = errors.New("a person has begun a line here")

// begunFor is how long a person counts as being in the middle of a line in a program that has no line of
// its own to edit, as far as is known.
const begunFor = 30 * time.Second

// Begun tells whether a person is in the middle of a line: by the keys, as the program's own line is not
// seen. The zero value has seen none.
type Begun struct {
	keys int // characters since the line was begun, less those that were rubbed out
	at   time.Time
}

// Typed takes what a person's terminal sent: keys, pastes, reports of a mouse.
func (b *Begun) Typed(p []byte, now time.Time) {
	for i := 0; i < len(p); {
		n := 1
		switch c := p[i]; {
		case c == '\r', c == '\n', c == 3, c == 4, c == 21: // Enter, C-c, C-d, C-u
			b.keys = 0
		case c == 8, c == 0x7f:
			b.keys = max(0, b.keys-1)
		case c == 0x1b:
			n = sequence(p[i:])
		case c >= ' ':
			_, n = utf8.DecodeRune(p[i:])
			b.keys, b.at = b.keys+1, now
		}
		i += n
	}
}

// sequence is how long an escape sequence is: ESC [ … final, ESC O x, ESC x, or ESC alone.
func sequence(p []byte) int {
	if len(p) < 2 {
		return len(p)
	}
	switch p[1] {
	case 'O':
		return min(3, len(p))
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e && (i > 2 || p[i] != '[') {
				if p[i] == 'M' && i == 2 { // an old mouse report has three bytes more
					return min(6, len(p))
				}
				return i + 1
			}
		}
		return len(p)
	case 0x1b:
		return 1
	}
	return 2
}

// Ends says that the line is over: a command began, or somebody else ended it.
func (b *Begun) Ends() { b.keys = 0 }

// Line says that a line is unfinished. edited says that the program keeps a line for as long as it is
// not ended: an editor of lines, as shells and agents have.
func (b *Begun) Line(now time.Time, edited bool) bool {
	return b.keys > 0 && (edited || now.Sub(b.at) < begunFor)
}
