package inputqueue

import (
	"errors"
	"strings"
	"testing"
)

// FAULT: G6
func TestLineLength_Check(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for _, c := range []struct {
		name, before, data string
		fits               bool
	}{
		{"the limit", "", long + "\r", true},
		{"one more", "", long + "x\r", false},
		{"one more, no end", "", long + "x", false},
		{"several lines", "", long + "\n" + long + "\n", true},
		{"the second line", "", "a\n" + long + "x\n", false},
		{"typed in two parts", long[:3000], long[:2000], false},
		{"after a line's end", long[:3000] + "\r", long[:2000], true},
		{"after Ctrl-U", long[:3000] + "\x15", long[:2000], true},
		{"after Ctrl-C", long[:3000] + "\x03", long[:2000], true},
		{"after an erased character", long + "\x7f", "y", true},
	} {
		var l LineLength
		l.Type([]byte(c.before))
		held := l
		if err := l.Check([]byte(c.data)); errors.Is(err, ErrLongLine) == c.fits || l != held {
			t.Errorf("%s: %v, %d bytes held back", c.name, err, l)
		}
	}
}
