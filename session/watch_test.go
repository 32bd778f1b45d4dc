package session

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/store/journal"
)

// Who asked for the next output is told once: of that, of the owner's end, and at once where the owner is gone already.
func TestNextOutput(t *testing.T) {
	f := newFixture(t, journal.Options{})
	told := make(chan string, 8)
	tell := func(s string) func() { return func() { told <- s } }
	f.print(f.Session, "before")
	waitText(t, f.Session, "before")
	f.NextOutput(tell("output"))
	f.print(f.Session, " more")
	waitText(t, f.Session, "before more")
	f.NextOutput(tell("end"))
	f.Stop()
	f.NextOutput(tell("late"))
	got := map[string]int{}
	for range 3 {
		got[<-told]++
	}
	if len(told) > 0 || got["output"] != 1 || got["end"] != 1 || got["late"] != 1 {
		t.Errorf("%v, and %d more", got, len(told))
	}
}

// A wait sees the newest progress and agent state that were found before it started: else it would report the end of an
// ended program instead of its progress.
//
// FAULT: B23
func TestFoundIsSeenByLaterWaits(t *testing.T) {
	f := newFixture(t, journal.Options{})
	f.Exited(Exit{Time: time.Now()}, 0)
	f.Closed()
	if w, err := f.Wait(testContext(t), WaitFor{Conds: []Cond{{Kind: CondExit}}}); err != nil || w.Ended {
		t.Fatalf("%+v, %v", w, err)
	}
	for round := range 50 {
		for percent := range 101 {
			f.Progressed(percent, uint64(round))
			f.AgentIs(AgentState{State: "working", Sure: true, At: time.Now()})
		}
		f.AgentIs(AgentState{State: "idle", Sure: true, At: time.Now()})
		w, err := f.Wait(testContext(t), WaitFor{All: true, Conds: []Cond{{Kind: CondProgress, Percent: 100}, {Kind: CondAgent, Text: "idle"}}})
		if err != nil || w.Ended {
			t.Fatalf("round %d: %+v, %v", round, w, err)
		}
		f.Progresses()
		w, err = f.Wait(testContext(t), WaitFor{Conds: []Cond{{Kind: CondProgress, Percent: 1}}})
		if err != nil || !w.Ended {
			t.Fatalf("round %d, another program: %+v, %v", round, w, err)
		}
	}
}
