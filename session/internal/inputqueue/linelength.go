package inputqueue

import (
	"errors"
	"fmt"
)

// MaxLine bounds a line in line mode (ICANON), in bytes without its end: N_TTY_BUF_SIZE less one. Linux drops the rest of a
// longer line without an error.
const MaxLine = 4095

// ErrLongLine is returned for input with a line that the terminal would cut.
var ErrLongLine = errors.New("line too long for line mode")

// LineLength counts the bytes of the line that a terminal in line mode holds until its end is typed. The zero value is an empty
// line. It ignores keys that erase words, so the count is an upper bound.
type LineLength int

// Type counts bytes typed in line mode. It returns the length of the longest line, ended or not.
func (l *LineLength) Type(data []byte) (longest int) {
	n := int(*l)
	for _, c := range data {
		switch c {
		case '\r', '\n', 'C' - '@', 'D' - '@', 'U' - '@', 'Z' - '@', '\\' - '@': // ends the line, or discards it
			n = 0
		case 0x7f:
			n = max(0, n-1)
		default:
			n++
		}
		longest = max(longest, n)
	}
	*l = LineLength(n)
	return longest
}

// Check returns ErrLongLine if the terminal would cut a line of data, which the caller is about to type.
func (l LineLength) Check(data []byte) error {
	before := int(l)
	if before+len(data) <= MaxLine {
		return nil
	}
	longest := l.Type(data)
	switch {
	case longest <= MaxLine:
		return nil
	case before > 0:
		return fmt.Errorf("%w: %d bytes, %d of them typed before (limit %d); nothing was typed", ErrLongLine, longest, before, MaxLine)
	}
	return fmt.Errorf("%w: %d bytes (limit %d); nothing was typed", ErrLongLine, longest, MaxLine)
}
