//go:build unix

package main

import (
	"runtime"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// A program that asks says so to whoever looks, without having printed anything, and after another
// daemon took over, though it prints no more.
//
// FEATURES: R42
func TestWhoAsksIsSeenAtOnceAndAfterARestart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to see who reads")
	}
	i := newInstance(t)
	i.run("new", "-n", "silent", "--", "cat")
	i.run("new", "-n", "asks", "--", "bash", "--norc")
	if _, errOut, code := i.try("exec", "--on-input", "return", "asks", "read -p 'Name: ' x"); code != api.RefusedNeedsInput {
		t.Fatalf("%d %s", code, errOut)
	}
	seen := func(when string) {
		t.Helper()
		for _, name := range []string{"silent", "asks"} {
			eventually(t, name+" waits for input "+when, func() bool {
				n := i.info(name).Needs
				return n != nil && n.Kind == "text"
			})
		}
		if _, errOut, code := i.try("exec", "asks", "true"); code != api.RefusedNeedsInput {
			t.Errorf("a line %s: %d %s", when, code, errOut)
		}
	}
	seen("from the beginning")
	i.run("daemon", "restart")
	seen("after a restart")
}
