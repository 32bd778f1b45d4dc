package inputwait

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
)

// What is printed while a thread stays in one and the same read was printed by others; what comes
// right after the read began may have been on its way.
//
// FAULT: E2
// FEATURES: R42
func TestOutputBesideARead(t *testing.T) {
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
		if got := w.sees(c.r, c.off, now); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// A program that reads while nothing stands before the cursor may have asked already: its
// question is on its way. It is looked at again.
//
// FEATURES: R42
func TestQuestionOnItsWay(t *testing.T) {
	now := time.Now()
	a := Machine{blank: true}
	if a.counts(now) {
		t.Error("at the first look")
	}
	a.Next(now, false, false)
	if !a.counts(now) {
		t.Error("not at the second one")
	}
	a.wait = readWait{tid: 1, since: now}
	if a.counts(now) {
		t.Error("of a wait that has just begun")
	}
	if !a.counts(now.Add(blankLasts)) {
		t.Error("not when it lasts")
	}
	if a.own = true; a.counts(now.Add(blankLasts)) || !a.counts(now.Add(blankShellLasts)) {
		t.Error("of the shell, whose marks may be on their way, as soon as of a program")
	}
	if a.behind = true; a.counts(now.Add(blankLasts)) {
		t.Error("behind a relay as soon as of a program")
	}
	a = Machine{}
	if !a.counts(now) {
		t.Error("not when the question is there")
	}
	if a.pending = true; a.counts(now) {
		t.Error("with output on its way")
	}
}

// What was typed ends the wait that was there: the same one is no question.
//
// FAULT: E7
// FEATURES: R42
func TestAnswerThatWasNotReadYet(t *testing.T) {
	now := time.Now()
	r := inputdetect.Result{TID: 3, WaitCount: 5}
	w := spentWait{tid: 3, waits: 5, until: now.Add(spentFor)}
	if !w.same(&inputdetect.Result{TID: 1, WaitCount: 9, Relayed: []inputdetect.RelayedTTY{{Probe: r}}}, now) || !w.same(&r, now) {
		t.Error("the program has not run since")
	}
	if w.same(&r, now.Add(spentFor)) {
		t.Error("it was no end of a line")
	}
	if r.WaitCount++; w.same(&r, now) {
		t.Error("it waits anew")
	}
}
