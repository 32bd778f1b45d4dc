//go:build unix

package doctor

import (
	"fmt"
	"slices"
)

// isOlder reports whether a released version is older than another one. It is false unless both are releases.
func isOlder(version, than string) bool {
	a, ok := numbers(version)
	b, also := numbers(than)
	return ok && also && slices.Compare(a, b) < 0
}

// numbers returns the three numbers of a version such as "v1.2.3".
func numbers(version string) (n []int, ok bool) {
	n = make([]int, 3)
	_, err := fmt.Sscanf(version, "v%d.%d.%d", &n[0], &n[1], &n[2])
	return n, err == nil
}

// differs returns the finding for a daemon of another version than this program.
func differs(ours, daemons string) finding {
	todo := "run `longterm daemon upgrade`; sessions keep running"
	if isOlder(ours, daemons) {
		todo = "this program is older: install " + daemons + " here too, or run the newer one by its path; " +
			"`longterm daemon upgrade` would downgrade the daemon"
	}
	return warn(todo, "this program is %s, the daemon runs %s", ours, daemons)
}
