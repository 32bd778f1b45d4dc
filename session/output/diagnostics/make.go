package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// makeErrors separates make's own errors from those that only follow another error: of a program that make ran, or of a
// submake.
type makeErrors struct {
	hasCause bool // a program failed, and make has not reported that yet
	level    int  // level of the newest failed make that its parent has not reported yet; 0: none
}

// makeTargetFailed matches a target whose program failed. It does not match errors that make itself found.
var makeTargetFailed = pattern.Lazy(`^(?:g|mingw32-)?make(?:\[(\d+)\])?: \*\*\* \[.*\] (?:Error \d+|[A-Z].*)$`)

// makeWaits is in the line by which make announces, after a failure, that it waits for its other programs.
const makeWaits = "*** Waiting for unfinished jobs"

// isConsequence reports whether a line of make only repeats or follows a failure that was reported before.
func (m *makeErrors) isConsequence(line string, known bool) bool {
	if strings.Contains(line, makeWaits) {
		return true
	}
	if !strings.Contains(line, "*** [") {
		return false
	}
	match := makeTargetFailed.FindStringSubmatch(line)
	if match == nil {
		return false
	}
	level := number(match[1])
	follows := known && (m.hasCause || m.level > level)
	m.hasCause, m.level = false, level
	return follows
}
