package progress

import (
	"slices"
	"time"
)

// Bounds of rate estimates.
const (
	rateTime  = time.Second
	rateShare = 0.02
	// recentShare is how much of a task its recent rate is taken from.
	recentShare = 0.25
)

// remaining returns how long the task still takes at its rate so far: the mean of the overall and the recent rate.
func (t *task) remaining(now time.Time) (time.Duration, bool) {
	took, done := t.last.Sub(t.began), t.fraction-t.from
	if took < rateTime || done < rateShare || t.fraction >= 1 {
		return 0, false
	}
	rate := done / took.Seconds()
	for _, p := range t.points {
		if since, part := t.last.Sub(p.at), t.fraction-p.fraction; part <= done*recentShare && part > 0 && since > 0 {
			rate = (rate + part/since.Seconds()) / 2
			break
		}
	}
	left := time.Duration((1 - t.fraction) / rate * float64(time.Second))
	return max(left-now.Sub(t.last), 0), true
}

// maxEarlier bounds the earlier runs that count: the newest.
const maxEarlier = 9

// Median returns the usual duration of earlier runs, newest first, or 0 without any. A single outlier does not affect
// it.
func Median(earlier []time.Duration) time.Duration {
	d := slices.Clone(earlier[:min(len(earlier), maxEarlier)])
	slices.Sort(d)
	switch n := len(d); {
	case n == 0:
		return 0
	case n%2 == 1:
		return d[n/2]
	default:
		return (d[n/2-1] + d[n/2]) / 2
	}
}

// eta estimates the remaining time: from earlier runs at first, and increasingly from the rate as the task proceeds.
// One of several tasks contributes little.
func eta(t *task, tasks int, usual, elapsed time.Duration, now time.Time) (time.Duration, bool) {
	byRate, rated := time.Duration(0), false
	if t != nil {
		byRate, rated = t.remaining(now)
	}
	past := usual > 0 && elapsed < usual+usual/2
	left := max(usual-elapsed, 0)
	switch {
	case rated && past:
		w := t.fraction
		if tasks > 1 {
			w /= 4
		}
		return time.Duration(w*float64(byRate) + (1-w)*float64(left)), true
	case rated:
		return byRate, true
	case past:
		return left, true
	}
	return 0, false
}
