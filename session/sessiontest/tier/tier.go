// Package tier sorts tests into two tiers and finds the programs that they need.
//
// The default tier is what `go test ./...` runs: it passes within minutes on a machine with Go, git and bash. The full tier
// also runs the tests that call tier.Full(t) first: crash matrices, real programs in breadth, fleets, browsers. It runs when
// the environment variable LONGTERM_TESTS is "full", as in CI.
package tier

import (
	"os"
	"os/exec"
	"testing"
)

// variable is the environment variable that selects the tier.
const variable = "LONGTERM_TESTS"

// IsFull reports whether the full tier runs.
func IsFull() bool { return os.Getenv(variable) == "full" }

// Times returns how often a random test repeats: few times in the default tier, all in the full one.
func Times(few, all int) int {
	if IsFull() {
		return all
	}
	return few
}

// Full puts t into the full tier: it skips t in the default tier.
func Full(t testing.TB) {
	t.Helper()
	if !IsFull() {
		t.Skip("full tier only: set " + variable + "=full")
	}
}

// Need skips t and names the first of the programs that is not in PATH.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		Path(t, program)
	}
}

// Path returns the path of a program. It skips t and names the program if it is not in PATH.
func Path(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(program + " is not installed")
	}
	return path
}
