package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// TestNextOutput checks that a watcher is notified once: of the next output, of the owner's end, and at once if the
// owner has ended.
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
		t.Errorf("got %v, and %d more", got, len(told))
	}
}

// TestObservation_SeenByLaterWaits checks that a wait uses the newest progress and agent state that were stored before
// it started. Otherwise it would report the end of an ended program instead of its progress.
//
// FAULT: B23
func TestObservation_SeenByLaterWaits(t *testing.T) {
	f := newFixture(t, journal.Options{})
	f.Exited(Exit{Time: time.Now()}, 0)
	f.Closed()
	if w, err := f.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondExit}}}); err != nil || w.Ended {
		t.Fatalf("%+v, %v", w, err)
	}
	for round := range 50 {
		for percent := range 101 {
			f.SetProgress(percent, uint64(round))
			f.SetAgentState(AgentState{State: "working", Confident: true, At: time.Now()})
		}
		f.SetAgentState(AgentState{State: "idle", Confident: true, At: time.Now()})
		w, err := f.Wait(testContext(t), WaitSpec{All: true, Conds: []Cond{{Kind: CondProgress, Percent: 100}, {Kind: CondAgent, Text: "idle"}}})
		if err != nil || w.Ended {
			t.Fatalf("round %d: %+v, %v", round, w, err)
		}
		f.ResetProgress()
		w, err = f.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondProgress, Percent: 1}}})
		if err != nil || !w.Ended {
			t.Fatalf("round %d, another program: %+v, %v", round, w, err)
		}
	}
}

// TestEffects checks that bells, notifications and clipboard writes reach watchers once, bounded, and that notifications
// are reported.
//
// FAULT: H11
func TestEffects(t *testing.T) {
	var notified []string
	f := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{}, func(c *Config) {
		c.OnNotify = func(title, body string) { notified = append(notified, title+"|"+body) }
	})
	_, from := f.Effects(0)
	f.print(f.Session, "\a\x1b]9;one\a\x1b]777;notify;two;2\a\x1b]99;;three\a\x1b]52;c;YQ==\a\x1b]52;c;?\athere")
	waitText(t, f.Session, "there")
	list, next := f.Effects(from)
	var got []vterm.Event
	for _, e := range list {
		got = append(got, vterm.Event{Kind: e.Kind, Name: e.Name, Text: e.Text})
	}
	want := []vterm.Event{
		{Kind: vterm.EventBell}, {Kind: vterm.EventNotify, Text: "one"}, {Kind: vterm.EventNotify, Name: "two", Text: "2"},
		{Kind: vterm.EventNotify, Name: "three"}, {Kind: vterm.EventClipboard, Name: "c", Text: "a"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	f.print(f.Session, strings.Repeat("\a\x1b]9;flood\a", 1000)+"\x1b]52;c;"+strings.Repeat("QUFB", 200<<10)+"\a"+strings.Repeat("\x1b]52;c;Yg==\a", 100)+"end")
	waitText(t, f.Session, "end")
	if list, _ = f.Effects(next); len(list) > maxEffects || list[len(list)-1].Text != "b" {
		t.Errorf("got %d effects, the last %q", len(list), list[len(list)-1].Text)
	}
	var at []string
	if err := f.WithScreen(testContext(t), func(View) { at = slices.Clone(notified) }); err != nil {
		t.Fatal(err)
	}
	if len(at) < 3 || len(at) > 20 || strings.Join(at[:3], " ") != "|one two|2 three|" {
		t.Errorf("got %d notifications: %q", len(at), at)
	}
}
