package inputwait

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
)

// TestReadWait_OutputOfOthers checks that output during a thread's read counts as printed by other processes. Output
// right after the start of the read may have been in transit.
//
// FAULT: E2
// FEATURES: R42
func TestReadWait_OutputOfOthers(t *testing.T) {
	reads := func(waits int64) *inputdetect.Result {
		return &inputdetect.Result{State: inputdetect.Reading, PID: 1, TID: 2, WaitCount: waits}
	}
	var w readWait
	now := time.Unix(0, 0)
	for _, c := range []struct {
		what  string
		r     *inputdetect.Result
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
		if got := w.update(c.r, c.off, now); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// TestBlankWait_MustLast checks that a read without text before the cursor is probed again: the prompt may be in
// transit.
//
// FEATURES: R42
func TestBlankWait_MustLast(t *testing.T) {
	now := time.Now()
	a := Machine{blank: true}
	if a.isCredible(now) {
		t.Error("credible at the first probe")
	}
	a.Next(now, false, false)
	if !a.isCredible(now) {
		t.Error("not credible at the second probe")
	}
	a.wait = readWait{tid: 1, since: now}
	if a.isCredible(now) {
		t.Error("credible for a new wait")
	}
	if !a.isCredible(now.Add(blankConfirmTime)) {
		t.Error("not credible after the time limit")
	}
	if a.isOwnProgram = true; a.isCredible(now.Add(blankConfirmTime)) || !a.isCredible(now.Add(blankShellConfirmTime)) {
		t.Error("the shell's wait is credible too early")
	}
	if a.relayWaits = true; a.isCredible(now.Add(blankConfirmTime)) {
		t.Error("a relay's wait is credible too early")
	}
	a = Machine{}
	if !a.isCredible(now) {
		t.Error("not credible with a prompt text")
	}
	if a.outputPending = true; a.isCredible(now) {
		t.Error("credible with output in transit")
	}
}

// TestSpentWait checks that a wait during which input arrived is no prompt.
//
// FAULT: E7
// FEATURES: R42
func TestSpentWait(t *testing.T) {
	now := time.Now()
	r := inputdetect.Result{TID: 3, WaitCount: 5}
	w := answeredWait{tid: 3, waits: 5, until: now.Add(maxInputReadTime)}
	if !w.isSame(&inputdetect.Result{TID: 1, WaitCount: 9, Relayed: []inputdetect.RelayedTTY{{Probe: r}}}, now) || !w.isSame(&r, now) {
		t.Error("the same wait does not count as spent")
	}
	if w.isSame(&r, now.Add(maxInputReadTime)) {
		t.Error("spent after the time limit")
	}
	if r.WaitCount++; w.isSame(&r, now) {
		t.Error("a new wait counts as spent")
	}
}
