package inputqueue

import (
	"errors"
	"time"
	"unicode/utf8"
)

// ErrUserTyping is returned for input of other callers while the user has a partial line.
var ErrUserTyping = errors.New("the user is typing a line here")

// partialLineTime is how long a line counts as unfinished in a program that is not known to have a line editor.
const partialLineTime = 30 * time.Second

// PartialLine tracks whether the user has typed an unfinished line. It follows the keys, as the program's own line
// cannot be read. The zero value is an empty line.
type PartialLine struct {
	keys int       // characters of the line, less deleted ones
	at   time.Time // time of the last key
}

// NoteTyped records bytes of a user's terminal: keys, pastes, mouse reports.
func (b *PartialLine) NoteTyped(p []byte, now time.Time) {
	for i := 0; i < len(p); {
		n := 1
		switch c := p[i]; {
		case c == '\r', c == '\n', c == 3, c == 4, c == 21: // Enter, C-c, C-d, C-u
			b.keys = 0
		case c == 8, c == 0x7f:
			b.keys = max(0, b.keys-1)
		case c == 0x1b:
			n = escapeLength(p[i:])
		case c >= ' ':
			_, n = utf8.DecodeRune(p[i:])
			b.keys, b.at = b.keys+1, now
		}
		i += n
	}
}

// escapeLength returns the length of an escape sequence: ESC [ … final, ESC O x, ESC x, or ESC alone.
func escapeLength(p []byte) int {
	if len(p) < 2 {
		return len(p)
	}
	switch p[1] {
	case 'O':
		return min(3, len(p))
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e && (i > 2 || p[i] != '[') {
				if p[i] == 'M' && i == 2 { // an old mouse report has three more bytes
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

// Clear clears the line: a command started, or another author ended the line.
func (b *PartialLine) Clear() { b.keys = 0 }

// IsUnfinished reports whether the user has an unfinished line. edited means that the program keeps it until it is
// ended, as the line editors of shells and agents do.
func (b *PartialLine) IsUnfinished(now time.Time, edited bool) bool {
	return b.keys > 0 && (edited || now.Sub(b.at) < partialLineTime)
}
