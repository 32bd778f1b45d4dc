package inputwait

import (
	"slices"
	"testing"
	"time"
)

// TestSchedule checks that a late prompt without text is found in time, and that a program without prompts costs few
// probes.
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
			if gap := next.Sub(now); gap <= 0 || now.Sub(begin) < 5*time.Second && gap > 250*time.Millisecond || awaited && gap > maxAwaitedInterval {
				t.Fatalf("awaited %v: after %v follows %v", awaited, now.Sub(begin), gap)
			}
			now = next
			looks = append(looks, now.Sub(begin))
		}
		if looks[0] != FirstProbe || looks[1] != SecondProbe {
			t.Errorf("starts with %v", looks[:2])
		}
		if most := 2 * int(time.Hour/maxInterval); !awaited && len(looks) > most {
			t.Errorf("got %d probes in an hour", len(looks))
		}
	}
}

// TestPrompt_ProbedRarelyOnceCertain checks that a certain prompt is probed rarely, as an answer triggers a probe.
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
	if want := []time.Duration{SecondProbe - FirstProbe, steadyInterval, promptInterval, promptInterval}; !slices.Equal(gaps[:4], want) {
		t.Errorf("starts with %v, want %v", gaps[:4], want)
	}
	if last := gaps[len(gaps)-1]; last != maxInterval {
		t.Errorf("ends with %v", last)
	}
}

func TestSchedule_ConfirmsSoon(t *testing.T) {
	var s Schedule
	now := s.Restart(time.Unix(0, 0)).Add(time.Minute)
	s.Next(now, false, false)
	if d := s.Next(now, true, false).Sub(now); d != confirmInterval {
		t.Errorf("next probe after %v, want the confirm interval", d)
	}
	if n := s.Probes(); n != 2 {
		t.Errorf("got %d probes", n)
	}
	if s.Restart(now); s.Probes() != 0 {
		t.Error("probes not reset by Restart")
	}
}

// TestSchedule_Resume checks that a long-silent program is probed rarely after a restart of the daemon, which may have
// thousands of them.
//
// FEATURES: R42 R90
func TestSchedule_Resume(t *testing.T) {
	for silent, most := range map[time.Duration]int{time.Hour: 2, time.Minute: 3, 0: 45} {
		var s Schedule
		begin := time.Unix(1e6, 0)
		now, looks := s.Resume(begin, begin.Add(-silent)), 0
		if now.Sub(begin) != FirstProbe {
			t.Errorf("%v: first after %v", silent, now.Sub(begin))
		}
		for ; now.Sub(begin) < 5*time.Second; now = s.Next(now, false, false) {
			looks++
		}
		if looks > most {
			t.Errorf("%v: got %d probes in the first five seconds", silent, looks)
		}
	}
	var s Schedule
	now := s.Resume(time.Unix(1e6, 0), time.Unix(1e6-3600, 0))
	if d := s.Next(now, true, false).Sub(now); d != confirmInterval {
		t.Errorf("confirmed after %v", d)
	}
}
