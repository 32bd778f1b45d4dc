//go:build unix

package session

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
)

// What is printed while a thread stays in one and the same read was printed by others; what comes
// right after the read began may have been on its way.
//
// FAULT: E2
// FEATURES: R42
func TestOutputBesideARead(t *testing.T) {
	reads := func(waits int64) *evidence.Result {
		return &evidence.Result{State: evidence.Reading, PID: 1, TID: 2, Waits: waits}
	}
	var w readWait
	now := time.Unix(0, 0)
	for _, c := range []struct {
		what  string
		r     *evidence.Result
		off   uint64
		after time.Duration
		want  bool
	}{
		{"the read is seen", reads(5), 10, 0, false},
		{"its question arrives", reads(5), 20, 50 * time.Millisecond, false},
		{"silence", reads(5), 20, time.Second, false},
		{"others print", reads(5), 30, time.Second, true},
		{"silence again", reads(5), 30, time.Second, true},
		{"another read", reads(6), 40, time.Second, false},
		{"nothing is known", reads(-1), 50, time.Second, false},
		{"a third", reads(8), 60, time.Second, false},
	} {
		now = now.Add(c.after)
		if got := w.sees(c.r, c.off, now); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
