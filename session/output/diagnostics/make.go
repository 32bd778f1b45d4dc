package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// makeErrors separates make's own errors from those that only follow from another error: of the program it ran, or of a
// make below it.
type makeErrors struct {
	cause bool // a program's error that no make has answered for yet
	level int  // of the newest error of a make that the one above has not answered for; 0: none
}

// makeFailed is a target whose program failed, and not a fault that make itself found.
var makeFailed = pattern.Lazy(`^(?:g|mingw32-)?make(?:\[(\d+)\])?: \*\*\* \[.*\] (?:Error \d+|[A-Z].*)$`)

// follows reports whether a line of make only repeats a failure that was reported before.
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
