package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"time"
)

// Retention is the limit of a log. Whole segments are dropped, the oldest first, but never the newest.
type Retention struct {
	Age   time.Duration // of records; 0: no limit
	Bytes int64         // of all segments; 0: no limit
}

// Dropped is the proof of removed records. Its record is on disk before the first segment is removed. All records up to
// To are removed, or were about to be.
type Dropped struct {
	From    uint64    `json:"from" doc:"number of the oldest record of those that were dropped this time"`
	To      uint64    `json:"to" doc:"number of the newest"`
	Hash    string    `json:"hash" doc:"of that record, which the oldest that is kept follows"`
	SHA256  string    `json:"sha256" doc:"of the files that were dropped, one after the other"`
	Bytes   int64     `json:"bytes" doc:"of these files"`
	Until   time.Time `json:"until" doc:"when the oldest record that is kept was written"`
	Damaged int       `json:"damaged,omitempty" doc:"lines among them that were altered, or reported damage"`
}

// Intervals and bounds of pruning, which runs on the writer's goroutine.
const (
	pruneInterval      = time.Hour
	maxPruneSegments   = 4 // segments
	pruneContinueDelay = time.Second
	defaultFirstPrune  = 10 * time.Second
	// clockSlack is how far the clock may get ahead of elapsed time, as by small corrections.
	clockSlack = time.Hour
	// maxIdleGap bounds the counted time without records: a wrong clock at a daemon's start looks like such a time.
	maxIdleGap = 7 * 24 * time.Hour
)

// prune drops segments beyond the limits. It reports whether there are more to drop.
func (w *writer) prune(keep Retention) (more bool) {
	if keep.Age <= 0 && keep.Bytes <= 0 || !w.prepare() {
		return false
	}
	drop, until, more, err := w.segmentsToDrop(keep)
	if err == nil && len(drop) > 0 {
		err = w.drop(drop, until)
	}
	if err != nil {
		w.options.Log.Error("drop old audit records", "err", err)
		return false
	}
	return more
}

// segmentsToDrop returns the segments to drop now, and when the oldest remaining record was written.
func (w *writer) segmentsToDrop(keep Retention) (drop []segment, until time.Time, more bool, err error) {
	segs, err := segments(w.options.FS, w.options.Dir)
	if err != nil {
		return nil, until, false, err
	}
	var total int64
	sizes := make([]int64, len(segs))
	for i, s := range segs {
		if sizes[i], err = fileSize(w.options.FS, s.path); err != nil {
			return nil, until, false, err
		}
		total += sizes[i]
	}
	var idle []time.Duration // computed if needed
	oldest := w.steadyTime().Add(-keep.Age)
	for i := 0; i+1 < len(segs); i++ {
		next, ok := firstRecord(w.options.FS, segs[i+1])
		if !ok { // the link to the remaining records is unknown
			break
		}
		tooMuch, tooOld := keep.Bytes > 0 && total > keep.Bytes, keep.Age > 0 && next.Time.Before(oldest)
		if tooOld && !tooMuch {
			if idle == nil {
				if idle, err = w.idleTimes(segs); err != nil {
					return nil, until, false, err
				}
			}
			if tooOld = next.Time.Before(oldest.Add(-idle[i+1])); !tooOld && !w.clockWarned {
				w.clockWarned = true
				w.options.Log.Warn("audit records are kept although too old by the clock: the clock may be wrong after so long without records",
					"record", segs[i].first, "does not count", idle[i+1])
			}
		}
		if !tooMuch && !tooOld {
			break
		}
		if len(drop) == maxPruneSegments {
			return drop, until, true, nil
		}
		drop, until, total = append(drop, segs[i]), next.Time, total-sizes[i]
	}
	return drop, until, false, nil
}

// steadyTime returns the time by which records age: setting the clock far ahead ages none.
func (w *writer) steadyTime() time.Time {
	now := w.options.Now().Round(0) // without the monotonic clock
	if most := w.opened.Round(0).Add(w.options.elapsed() + clockSlack); now.After(most) {
		return most
	}
	return now
}

// idleTimes returns, per segment, the time since its start that does not count for its age: gaps beyond maxIdleGap.
func (w *writer) idleTimes(segs []segment) (since []time.Duration, err error) {
	var before time.Time
	var idle time.Duration
	gap := func(to time.Time) {
		switch d := to.Sub(before); {
		case before.IsZero():
		case d > maxIdleGap:
			idle += d - maxIdleGap
		case d < 0: // a clock that was ahead was corrected
			idle -= min(idle, -d)
		}
		before = to
	}
	for _, s := range segs {
		first, ok := firstRecord(w.options.FS, s)
		last, err := lastTime(w.options.FS, s)
		if err != nil {
			return nil, err
		}
		if ok {
			gap(first.Time)
		}
		since = append(since, idle)
		if !ok || last.IsZero() || last.Sub(first.Time).Abs() > maxIdleGap {
			_, err = walkSegment(w.options.FS, s, func(l line) bool {
				if l.err == nil && !l.isTorn {
					gap(l.record.Time)
				}
				return true
			})
			if err != nil {
				return nil, err
			}
		} else {
			before = last
		}
	}
	gap(w.steadyTime())
	for i := range since {
		since[i] = max(0, idle-since[i])
	}
	return since, nil
}

// lastTime returns when the last record of a segment was written, or zero if its last bytes do not show it.
func lastTime(fsys FS, s segment) (time.Time, error) {
	size, err := fileSize(fsys, s.path)
	if err != nil {
		return time.Time{}, err
	}
	f, err := fsys.OpenFile(s.path, 0, 0)
	if err != nil {
		return time.Time{}, err
	}
	b := make([]byte, min(size, 64<<10))
	_, err = f.ReadAt(b, size-int64(len(b)))
	if err = errors.Join(err, f.Close()); err != nil {
		return time.Time{}, err
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	r, err := decode(b[bytes.LastIndexByte(b, '\n')+1:])
	if err != nil {
		return time.Time{}, nil
	}
	return r.Time, nil
}

// drop seals segments in a record and removes them.
func (w *writer) drop(segs []segment, until time.Time) error {
	d := Dropped{From: segs[0].first, Until: until}
	sum, last := sha256.New(), Head{}
	for _, s := range segs {
		if err := d.addSegment(w.options.FS, s, sum, &last); err != nil {
			return err
		}
	}
	d.To, d.Hash, d.SHA256 = last.Seq, last.Hash, hex.EncodeToString(sum.Sum(nil))
	err := w.appendRecords([]Record{{
		Kind: Drop, Dropped: &d, Time: w.options.Now(),
		Note: fmt.Sprintf("records %d to %d were dropped, as the configuration has it; the next one is of %s", d.From, d.To, until.UTC().Format(time.RFC3339)),
	}})
	if err != nil {
		return err
	}
	if w.sync(); w.syncFailed {
		return errors.New("the drop record cannot be synced")
	}
	for _, s := range segs {
		if err := w.options.FS.Remove(s.path); err != nil {
			return err
		}
	}
	return syncDir(w.options.FS, w.options.Dir)
}

// addSegment adds a segment to the proof.
func (d *Dropped) addSegment(fsys FS, s segment, sum hash.Hash, last *Head) error {
	b, err := readFile(fsys, s.path)
	if err != nil {
		return err
	}
	_, _ = sum.Write(b) // never fails
	d.Bytes += int64(len(b))
	for line := range bytes.Lines(b) {
		r, err := decode(bytes.TrimSuffix(line, []byte("\n")))
		follows := last.Seq == 0 || r.Seq == last.Seq+1 && r.Prev == last.Hash
		if err != nil || !follows || r.Kind == Damage || r.Kind == Missing || r.Dropped != nil && r.Dropped.Damaged > 0 {
			d.Damaged++
		}
		if err == nil {
			*last = Head{r.Seq, r.Hash}
		}
	}
	return nil
}

// firstRecord returns the first record of a segment, if valid.
func firstRecord(fsys FS, s segment) (r Record, ok bool) {
	_, _ = walkSegment(fsys, s, func(l line) bool {
		r, ok = l.record, l.err == nil && l.record.Seq == s.first
		return false
	})
	return r, ok
}

// fileSize returns the size of a file.
func fileSize(fsys FS, path string) (int64, error) {
	f, err := fsys.OpenFile(path, 0, 0)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}
