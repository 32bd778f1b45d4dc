//go:build unix

package events

import (
	"testing"
)

// TestResume checks that a returning listener gets the events that it missed, once and in order, as long as they are
// kept; otherwise it gets a notice of the loss.
//
// FEATURES: R21 R86
func TestResume(t *testing.T) {
	var b Bus
	b.StartAfter(1000)
	if l, seq := b.ListenWithSeq(); seq != 1000 || len(l.C) != 0 {
		t.Errorf("the newest before any is %d", seq)
	}
	for range 5 * keptEvents {
		b.Publish("state", nil)
	}
	newest := uint64(1000 + 5*keptEvents)
	for _, c := range []struct {
		after  uint64
		missed int
	}{
		{newest, 0}, {newest - 1, 1}, {newest - keptEvents, keptEvents},
	} {
		l, missed, seq := b.Resume(c.after)
		if len(missed) != c.missed || seq != newest {
			t.Errorf("after %d: %d missed, newest %d", c.after, len(missed), seq)
		}
		for i := range missed {
			if missed[i].Seq != c.after+1+uint64(i) {
				t.Fatalf("after %d: the event %d is number %d", c.after, i, missed[i].Seq)
			}
		}
		b.Unsubscribe(l)
	}
	// Only this daemon's lost events are counted.
	for after, lost := range map[uint64]uint64{newest - 2*keptEvents: 2 * keptEvents, 1000: 5 * keptEvents, 999: 0, 0: 0, newest + 1: 0} {
		l, missed, seq := b.Resume(after)
		if len(missed) != 1 || missed[0].Kind != "lost" || missed[0].Lost != lost || missed[0].Seq != newest || seq != newest {
			t.Errorf("after %d: %+v, want %d lost", after, missed, lost)
		}
		b.Unsubscribe(l)
	}
	l, _, _ := b.Resume(newest)
	b.Publish("state", nil)
	if e := <-l.C; e.Seq != newest+1 {
		t.Errorf("the next one is %d", e.Seq)
	}
}

// TestResumeAtTheBeginning checks that a bus without earlier events repeats none.
func TestResumeAtTheBeginning(t *testing.T) {
	var b Bus
	b.StartAfter(7)
	if _, missed, seq := b.Resume(7); len(missed) != 0 || seq != 7 {
		t.Errorf("%d, %d", len(missed), seq)
	}
	b.Publish("state", nil)
	if _, missed, _ := b.Resume(7); len(missed) != 1 || missed[0].Kind != "state" {
		t.Errorf("%+v", missed)
	}
	if _, missed, _ := b.Resume(6); len(missed) != 1 || missed[0].Kind != "lost" || missed[0].Lost != 0 {
		t.Errorf("%+v", missed)
	}
}
