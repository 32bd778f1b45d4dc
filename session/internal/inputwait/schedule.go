package inputwait

import "time"

// Times of probes, after the newest output or input.
const (
	First  = 20 * time.Millisecond // the question is there, or on its way
	Second = 60 * time.Millisecond // a wait that was found is still there
	steady = 100 * time.Millisecond
	// earlyReadTime: a read without a prompt text that starts within this time after the program's start is published
	// as soon as others.
	earlyReadTime = 3 * time.Second
	// Later probes are a fraction of the silence so far apart.
	part, awaitedPart = 20, 40
	rare, awaitedRare = 10 * time.Second, 500 * time.Millisecond
	// promptInterval is the least interval of probes of a program that was found to wait at a prompt and still does: an
	// answer triggers a probe anyway.
	promptInterval = time.Second
	// surely is the number of probes for a sure result.
	surely = 3
	// confirms is the interval before a result that must last is checked again.
	confirms = 30 * time.Millisecond
)

// Schedule decides when a silent program is probed. The zero value starts with the first probe.
type Schedule struct {
	from  time.Time
	looks int
}

// Restart handles output or input. It returns the time of the first probe.
func (s *Schedule) Restart(now time.Time) time.Time {
	s.from, s.looks = now, 0
	return now.Add(First)
}

// Resume works like Restart for a program that has been silent for a while: probes have the same intervals as before.
func (s *Schedule) Resume(now, silent time.Time) time.Time {
	first := s.Restart(now)
	if silent.Before(now) {
		s.from = silent
	}
	return first
}

// Looks returns the number of probes since the last Restart, without the current one.
func (s *Schedule) Looks() int { return s.looks }

// Next returns the time of the next probe after one at now. doubt: the result must be found again. awaited: a caller
// waits for a prompt.
func (s *Schedule) Next(now time.Time, doubt, awaited bool) time.Time {
	s.looks++
	silence := now.Sub(s.from)
	wait := min(max(steady, silence/part), rare)
	switch {
	case silence < earlyReadTime:
		wait = steady
	case awaited:
		wait = min(max(steady, silence/awaitedPart), awaitedRare)
	}
	if doubt {
		wait = confirms
	}
	if second := s.from.Add(Second); s.looks == 1 && now.Add(wait).After(second) && second.After(now) {
		return second
	}
	return now.Add(wait)
}

// AtStablePrompt adjusts at, the result of Next, for a program at a prompt that several probes found.
func (s *Schedule) AtStablePrompt(now, at time.Time) time.Time {
	if rarely := now.Add(promptInterval); s.looks >= surely && at.Before(rarely) {
		return rarely
	}
	return at
}

// Probes of programs that sleep, or wait at a prompt, are made together with those of other sessions, slightly early:
// waking the process costs more than many of them.
const (
	togetherSoon, togetherLate = 20 * time.Millisecond, 500 * time.Millisecond
	late                       = time.Second // from which on a look is a late one
)

// Together returns a time of a common probe, at or before at.
func Together(now, at time.Time) time.Time {
	step := togetherSoon
	if at.Sub(now) >= late {
		step = togetherLate
	}
	return at.Add(-at.Sub(at.Truncate(step))) // which keeps the monotonic clock
}
