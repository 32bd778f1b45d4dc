package session

import (
	"testing"

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
