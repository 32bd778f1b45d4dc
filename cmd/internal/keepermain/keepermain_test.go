//go:build unix

package keepermain

import (
	"strings"
	"testing"
)

// TestParse checks that the command lines of programs that need a keeper are parsed, and that others are rejected with
// the reason.
func TestParse(t *testing.T) {
	l, err := Parse(strings.Fields("--socket /s --lock /l --key main --daemon --daemon-runs --ready-fd 3 --handoff-fd 9"))
	want := Line{Socket: "/s", Lock: "/l", Key: "main", Daemon: true, DaemonRuns: true, ready: 3, handoff: 9}
	if err != nil || l != want {
		t.Errorf("%+v, %v", l, err)
	}
	for args, says := range map[string]string{
		"--socket /s":                           "needs --socket and --lock",
		"--socket /s --lock":                    `"--lock" is no part`,
		"--socket /s --lock /l --verbose":       `"--verbose" is no part`,
		"--socket /s --lock /l stray":           `"stray" is no part`,
		"--socket /s --lock /l --ready-fd x":    "open descriptor",
		"--socket /s --lock /l --ready-fd 2":    "open descriptor",
		"--socket /s --lock /l --handoff-fd -7": "open descriptor",
	} {
		if _, err := Parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
