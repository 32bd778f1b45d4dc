package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// makeErrors tells make's errors of its own from what only follows from an error: that of
// the program it ran, and that of another make below it.
type makeErrors struct {
	cause bool // a program's error that no make has answered for yet
	level int  // of the newest error of a make that the one above has not answered for; 0: none
}

// makeFailed is a target whose program failed, and not a fault that make itself found.
var makeFailed = pattern.Lazy(`^(?:g|mingw32-)?make(?:\[(\d+)\])?: \*\*\* \[.*\] (?:Error \d+|[A-Z].*)$`)

// follows reports if a line of make's only says that something failed which was told before.
func (m *makeErrors) follows(line string, known bool) bool {
	if !strings.Contains(line, "*** [") {
		return false
	}
	match := makeFailed.FindStringSubmatch(line)
	if match == nil {
		return false
	}
	level := number(match[1])
	follows := known && (m.cause || m.level > level)
	m.cause, m.level = false, level
	return follows
}
