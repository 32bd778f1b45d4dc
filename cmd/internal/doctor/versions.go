//go:build unix

package doctor

import (
	"fmt"
	"slices"
)

// isOlder says that a released version is older than another one. Of what is no release nothing is said.
func isOlder(version, than string) bool {
	a, ok := numbers(version)
	b, also := numbers(than)
	return ok && also && slices.Compare(a, b) < 0
}

// numbers are those of "v1.2.3".
func numbers(version string) (n []int, ok bool) {
	n = make([]int, 3)
	_, err := fmt.Sscanf(version, "v%d.%d.%d", &n[0], &n[1], &n[2])
	return n, err == nil
}

// differs is what to do about a daemon of another version than this program's.
func differs(ours, daemons string) finding {
	todo := "run `longterm daemon upgrade`; sessions go on"
	if isOlder(ours, daemons) {
		todo = "this one is the older: install " + daemons + " here too, or run the newer one by its path; " +
			"`longterm daemon upgrade` of this one would go back"
	}
	return warn(todo, "this is %s, the daemon runs %s", ours, daemons)
}
