package inputwait

import (
	"slices"
	"testing"
	"time"
)

// A program that asks late, and without a word, is looked at in time; one that never asks costs
// next to nothing.
//
// FAULT: E10
// FEATURES: R42
func TestSchedule(t *testing.T) {
	for _, awaited := range []bool{false, true} {
		var s Schedule
		begin := time.Unix(0, 0)
		now := s.Restart(begin)
		looks := []time.Duration{now.Sub(begin)}
		for now.Sub(begin) < time.Hour {
			next := s.Next(now, false, awaited)
			if gap := next.Sub(now); gap <= 0 || now.Sub(begin) < 5*time.Second && gap > 250*time.Millisecond || awaited && gap > awaitedRare {
				t.Fatalf("awaited %v: after %v comes %v", awaited, now.Sub(begin), gap)
			}
			now = next
			looks = append(looks, now.Sub(begin))
		}
		if looks[0] != First || looks[1] != Second {
			t.Errorf("begins with %v", looks[:2])
		}
		if most := 2 * int(time.Hour/rare); !awaited && len(looks) > most {
			t.Errorf("%d looks in an hour", len(looks))
		}
	}
}

// A program that was found to ask is looked at rarely once that is sure, as what answers it tells; by and by as rarely
// as others.
//
// FEATURES: R42 R90
func TestPrompt_ProbedRarelyOnceCertain(t *testing.T) {
	var s Schedule
	begin := time.Unix(0, 0)
	now := s.Restart(begin)
	var gaps []time.Duration
	for now.Sub(begin) < 10*time.Minute {
		next := s.AtStablePrompt(now, s.Next(now, false, false))
		gaps = append(gaps, next.Sub(now))
		now = next
	}
	if want := []time.Duration{Second - First, steady, promptInterval, promptInterval}; !slices.Equal(gaps[:4], want) {
		t.Errorf("begins with %v, want %v", gaps[:4], want)
	}
	if last := gaps[len(gaps)-1]; last != rare {
		t.Errorf("ends with %v", last)
	}
}

func TestDoubtIsSettledSoon(t *testing.T) {
	var s Schedule
	now := s.Restart(time.Unix(0, 0)).Add(time.Minute)
	s.Next(now, false, false)
	if d := s.Next(now, true, false).Sub(now); d != confirms {
		t.Errorf("after %v", d)
	}
	if n := s.Looks(); n != 2 {
		t.Errorf("%d looks", n)
	}
	if s.Restart(now); s.Looks() != 0 {
		t.Error("it goes on counting")
	}
}

// Who looks anew at what has been silent for long, as the next daemon does at thousands, does not look as often as at what has
// just fallen silent.
//
// FEATURES: R42 R90
func TestResumedSilence(t *testing.T) {
	for silent, most := range map[time.Duration]int{time.Hour: 2, time.Minute: 3, 0: 45} {
		var s Schedule
		begin := time.Unix(1e6, 0)
		now, looks := s.Resume(begin, begin.Add(-silent)), 0
		if now.Sub(begin) != First {
			t.Errorf("%v: first after %v", silent, now.Sub(begin))
		}
		for ; now.Sub(begin) < 5*time.Second; now = s.Next(now, false, false) {
			looks++
		}
		if looks > most {
			t.Errorf("%v: %d looks in the first five seconds", silent, looks)
		}
	}
	var s Schedule
	now := s.Resume(time.Unix(1e6, 0), time.Unix(1e6-3600, 0))
	if d := s.Next(now, true, false).Sub(now); d != confirms {
		t.Errorf("what was found is confirmed after %v", d)
	}
}
