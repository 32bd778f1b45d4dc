package progress

import (
	"slices"
	"time"
)

// A rate is estimated from at least this time and share of a task.
const (
	minRateTime  = time.Second
	minRateShare = 0.02
	// recentShare is the share of a task that its recent rate covers.
	recentShare = 0.25
)

// remainingTime returns how long the task still takes at its rate so far: the mean of the overall and the recent rate.
func (t *task) remainingTime(now time.Time) (time.Duration, bool) {
	elapsed, done := t.updated.Sub(t.started), t.fraction-t.startFraction
	if elapsed < minRateTime || done < minRateShare || t.fraction >= 1 {
		return 0, false
	}
	rate := done / elapsed.Seconds()
	for _, p := range t.points {
		if since, part := t.updated.Sub(p.at), t.fraction-p.fraction; part <= done*recentShare && part > 0 && since > 0 {
			rate = (rate + part/since.Seconds()) / 2
			break
		}
	}
	remaining := time.Duration((1 - t.fraction) / rate * float64(time.Second))
	return max(remaining-now.Sub(t.updated), 0), true
}

// maxEarlier bounds the earlier runs that Median uses, the newest ones.
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
		byRate, rated = t.remainingTime(now)
	}
	past := usual > 0 && elapsed < usual+usual/2
	remaining := max(usual-elapsed, 0)
	switch {
	case rated && past:
		w := t.fraction
		if tasks > 1 {
			w /= 4
		}
		return time.Duration(w*float64(byRate) + (1-w)*float64(remaining)), true
	case rated:
		return byRate, true
	case past:
		return remaining, true
	}
	return 0, false
}
