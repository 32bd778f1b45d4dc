package inputwait

import "time"

// Times of looks, after the newest output or input.
const (
	First  = 20 * time.Millisecond // the question is there, or on its way
	Second = 60 * time.Millisecond // a wait that was found is still there
	steady = 100 * time.Millisecond
	// early is for how long a read that begins without a word is told as soon as any other.
	early = 3 * time.Second
	// Later on looks are as far apart as a part of the silence so far.
	part, awaitedPart = 20, 40
	rare, awaitedRare = 10 * time.Second, 500 * time.Millisecond
	// askedRare is how often a program is looked at, at most, that was found to ask and still to do so: what answers
	// it tells.
	askedRare = time.Second
	// surely is how many looks it takes to be sure of that.
	surely = 3
	// confirms is how soon a look is repeated that found something that has to last.
	confirms = 30 * time.Millisecond
)

// Schedule decides when a program that has fallen silent is looked at. The zero value begins with the first look.
type Schedule struct {
	from  time.Time
	looks int
}

// Restart begins anew: something was printed or typed. It returns when to look first.
func (s *Schedule) Restart(now time.Time) time.Time {
	s.from, s.looks = now, 0
	return now.Add(First)
}

// Resume is Restart of what has been silent for a while: looks are as far apart as they were before.
func (s *Schedule) Resume(now, silent time.Time) time.Time {
	first := s.Restart(now)
	if silent.Before(now) {
		s.from = silent
	}
	return first
}

// Looks is the number of looks since the last Restart, without the present one.
func (s *Schedule) Looks() int { return s.looks }

// Next returns when to look again after a look at now. doubt: what was found has to be found again;
// awaited: a caller waits for the program to ask.
func (s *Schedule) Next(now time.Time, doubt, awaited bool) time.Time {
	s.looks++
	silence := now.Sub(s.from)
	wait := min(max(steady, silence/part), rare)
	switch {
	case silence < early:
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

// Asked is Next of a program that asks, as several looks found; at is what Next returned.
func (s *Schedule) Asked(now, at time.Time) time.Time {
	if rarely := now.Add(askedRare); s.looks >= surely && at.Before(rarely) {
		return rarely
	}
	return at
}

// Looks at programs that sleep, or that ask, are made together with those of other sessions, a little sooner than it
// would be time for: to wake the process takes more than many of them.
const (
	togetherSoon, togetherLate = 20 * time.Millisecond, 500 * time.Millisecond
	late                       = time.Second // from which on a look is a late one
)

// Together is when to look, at a time that other sessions have, too.
func Together(now, at time.Time) time.Time {
	step := togetherSoon
	if at.Sub(now) >= late {
		step = togetherLate
	}
	return at.Add(-at.Sub(at.Truncate(step))) // which keeps the monotonic clock
}
