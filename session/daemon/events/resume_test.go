//go:build unix

package events

import (
	"testing"
)

// Who comes again is told what it missed, once and in order, as long as that is kept; else it is told that it is not.
//
// FEATURES: R21 R86
func TestResume(t *testing.T) {
	var b Bus
	b.From(1000)
	if l, seq := b.Begin(); seq != 1000 || len(l.C) != 0 {
		t.Errorf("the newest before any is %d", seq)
	}
	for range 5 * keep {
		b.Publish("state", nil)
	}
	newest := uint64(1000 + 5*keep)
	for _, c := range []struct {
		after  uint64
		missed int
		whole  bool
	}{
		{newest, 0, true}, {newest - 1, 1, true}, {newest - keep, keep, true},
		{newest - 2*keep, 0, false}, {1000, 0, false}, {999, 0, false}, {0, 0, false}, {newest + 1, 0, false},
	} {
		l, missed, seq, whole := b.Resume(c.after)
		if len(missed) != c.missed || whole != c.whole || seq != newest {
			t.Errorf("after %d: %d missed, %v, newest %d", c.after, len(missed), whole, seq)
		}
		for i := range missed {
			if missed[i].Seq != c.after+1+uint64(i) {
				t.Fatalf("after %d: the event %d is number %d", c.after, i, missed[i].Seq)
			}
		}
		b.Leave(l)
	}
	l, _, _, _ := b.Resume(newest)
	b.Publish("state", nil)
	if e := <-l.C; e.Seq != newest+1 {
		t.Errorf("the next one is %d", e.Seq)
	}
}

// A bus of which nothing was told before has nothing to tell again.
func TestResumeAtTheBeginning(t *testing.T) {
	var b Bus
	b.From(7)
	if _, missed, seq, whole := b.Resume(7); len(missed) != 0 || seq != 7 || !whole {
		t.Errorf("%d, %d, %v", len(missed), seq, whole)
	}
	b.Publish("state", nil)
	if _, missed, _, whole := b.Resume(7); len(missed) != 1 || !whole {
		t.Errorf("%d, %v", len(missed), whole)
	}
	if _, missed, _, whole := b.Resume(6); len(missed) != 0 || whole {
		t.Errorf("%d, %v", len(missed), whole)
	}
}
