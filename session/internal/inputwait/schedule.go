package inputwait

import "time"

// Times of probes, after the newest output or input.
const (
	FirstProbe     = 20 * time.Millisecond  // the prompt is printed, or in transit
	SecondProbe    = 60 * time.Millisecond  // the wait found at the first probe still lasts
	steadyInterval = 100 * time.Millisecond // interval of the next probes
	// earlyReadTime: a read without a prompt text that starts within this time after the program's start is published
	// as soon as others.
	earlyReadTime = 3 * time.Second
	// Later intervals are the time since the last output divided by silenceDivisor, at most maxInterval. If a caller waits
	// for a prompt, the other two apply.
	silenceDivisor, awaitedDivisor  = 20, 40
	maxInterval, maxAwaitedInterval = 10 * time.Second, 500 * time.Millisecond
	// promptInterval is the least interval of probes of a program that was found to wait at a prompt and still does: an
	// answer triggers a probe anyway.
	promptInterval = time.Second
	// confidentProbes is the number of probes after which a result is certain.
	confidentProbes = 3
	// confirmInterval is the interval before a result that must last is checked again.
	confirmInterval = 30 * time.Millisecond
)

// Schedule decides when a silent program is probed. The zero value starts with the first probe.
type Schedule struct {
	since  time.Time // time of the last output or input
	probes int       // since then
}

// Restart handles output or input. It returns the time of the first probe.
func (s *Schedule) Restart(now time.Time) time.Time {
	s.since, s.probes = now, 0
	return now.Add(FirstProbe)
}

// Resume works like Restart for a program that was silent before: its probes have the same intervals as earlier.
func (s *Schedule) Resume(now, silent time.Time) time.Time {
	first := s.Restart(now)
	if silent.Before(now) {
		s.since = silent
	}
	return first
}

// Probes returns the number of probes since the last Restart, without the current one.
func (s *Schedule) Probes() int { return s.probes }

// Next returns the time of the next probe after one at now. doubt: the result must be found again. awaited: a caller
// waits for a prompt.
func (s *Schedule) Next(now time.Time, doubt, awaited bool) time.Time {
	s.probes++
	silence := now.Sub(s.since)
	wait := min(max(steadyInterval, silence/silenceDivisor), maxInterval)
	switch {
	case silence < earlyReadTime:
		wait = steadyInterval
	case awaited:
		wait = min(max(steadyInterval, silence/awaitedDivisor), maxAwaitedInterval)
	}
	if doubt {
		wait = confirmInterval
	}
	if second := s.since.Add(SecondProbe); s.probes == 1 && now.Add(wait).After(second) && second.After(now) {
		return second
	}
	return now.Add(wait)
}

// AtStablePrompt adjusts at, the result of Next, for a program at a prompt that several probes found.
func (s *Schedule) AtStablePrompt(now, at time.Time) time.Time {
	if rarely := now.Add(promptInterval); s.probes >= confidentProbes && at.Before(rarely) {
		return rarely
	}
	return at
}

// Probes of programs that sleep, or wait at a prompt, are made together with those of other sessions, slightly early:
// waking the process costs more than many of them.
const (
	commonStep, commonLateStep = 20 * time.Millisecond, 500 * time.Millisecond
	lateProbe                  = time.Second // interval from which a probe is a late one, with larger common steps
)

// CommonTime returns the time of a probe common to all sessions, at or before at.
func CommonTime(now, at time.Time) time.Time {
	step := commonStep
	if at.Sub(now) >= lateProbe {
		step = commonLateStep
	}
	return at.Add(-at.Sub(at.Truncate(step))) // keeps the monotonic clock reading
}
