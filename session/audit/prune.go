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

// Keep is how much of a log is kept. Whole segments are dropped, the oldest first, and never the newest.
type Keep struct {
	Age   time.Duration // of records; 0: no limit
	Bytes int64         // of all segments; 0: no limit
}

// Dropped seals what is not kept any more: it stands in a record of the chain, which is on the disk before the first
// segment is removed. All from the first record to To is gone, or was about to be.
type Dropped struct {
	From    uint64    `json:"from" doc:"number of the oldest record of those that were dropped this time"`
	To      uint64    `json:"to" doc:"number of the newest"`
	Hash    string    `json:"hash" doc:"of that record, which the oldest that is kept follows"`
	SHA256  string    `json:"sha256" doc:"of the files that were dropped, one after the other"`
	Bytes   int64     `json:"bytes" doc:"of these files"`
	Until   time.Time `json:"until" doc:"when the oldest record that is kept was written"`
	Damaged int       `json:"damaged,omitempty" doc:"lines among them that were not as they were written, or told of damage"`
}

// How pruning is paced: it is the writer who does it.
const (
	pruneEvery   = time.Hour
	pruneAtOnce  = 4 // segments
	pruneGoesOn  = time.Second
	pruneAtFirst = 10 * time.Second
	// steadySlack is how far the clock may get ahead of the time that passes: it is set by so much when it was a little wrong.
	steadySlack = time.Hour
	// mostIdle is how much of a time counts in which nothing was recorded: a clock that is wrong when a daemon begins looks
	// like such a time.
	mostIdle = 7 * 24 * time.Hour
)

// prune drops what is older or more than is kept. It reports whether there is more to drop.
func (w *writer) prune(keep Keep) (more bool) {
	if keep.Age <= 0 && keep.Bytes <= 0 || !w.try() {
		return false
	}
	drop, until, more, err := w.toDrop(keep)
	if err == nil && len(drop) > 0 {
		err = w.drop(drop, until)
	}
	if err != nil {
		w.o.Log.Error("drop old audit records", "err", err)
		return false
	}
	return more
}

// toDrop are the segments to drop now, and when the oldest record behind them was written.
func (w *writer) toDrop(keep Keep) (drop []segment, until time.Time, more bool, err error) {
	segs, err := segments(w.o.FS, w.o.Dir)
	if err != nil {
		return nil, until, false, err
	}
	var total int64
	sizes := make([]int64, len(segs))
	for i, s := range segs {
		if sizes[i], err = sizeOf(w.o.FS, s.path); err != nil {
			return nil, until, false, err
		}
		total += sizes[i]
	}
	var idle []time.Duration // when it is needed
	oldest := w.steady().Add(-keep.Age)
	for i := 0; i+1 < len(segs); i++ {
		next, ok := firstOf(w.o.FS, segs[i+1])
		if !ok { // what the rest follows cannot be told
			break
		}
		tooMuch, tooOld := keep.Bytes > 0 && total > keep.Bytes, keep.Age > 0 && next.Time.Before(oldest)
		if tooOld && !tooMuch {
			if idle == nil {
				if idle, err = w.idle(segs); err != nil {
					return nil, until, false, err
				}
			}
			if tooOld = next.Time.Before(oldest.Add(-idle[i+1])); !tooOld && !w.told {
				w.told = true
				w.o.Log.Warn("audit records are kept though the clock says that they are too old: nothing was recorded for so long that it may be wrong",
					"record", segs[i].first, "does not count", idle[i+1])
			}
		}
		if !tooMuch && !tooOld {
			break
		}
		if len(drop) == pruneAtOnce {
			return drop, until, true, nil
		}
		drop, until, total = append(drop, segs[i]), next.Time, total-sizes[i]
	}
	return drop, until, false, nil
}

// steady is the time by which records are old: a clock that is set far ahead while we run makes none so.
func (w *writer) steady() time.Time {
	now := w.o.Now().Round(0) // what clocks show is compared, not what they have counted since we began
	if most := w.opened.Round(0).Add(w.o.elapsed() + steadySlack); now.After(most) {
		return most
	}
	return now
}

// idle is how much of the time since each segment begins does not count for its age: what is more than mostIdle between
// two records.
func (w *writer) idle(segs []segment) (since []time.Duration, err error) {
	var before time.Time
	var idle time.Duration
	gap := func(to time.Time) {
		switch d := to.Sub(before); {
		case before.IsZero():
		case d > mostIdle:
			idle += d - mostIdle
		case d < 0: // a clock that was ahead was put right
			idle -= min(idle, -d)
		}
		before = to
	}
	for _, s := range segs {
		first, ok := firstOf(w.o.FS, s)
		last, err := lastTime(w.o.FS, s)
		if err != nil {
			return nil, err
		}
		if ok {
			gap(first.Time)
		}
		since = append(since, idle)
		if !ok || last.IsZero() || last.Sub(first.Time).Abs() > mostIdle {
			_, err = walkSegment(w.o.FS, s, func(l line) bool {
				if l.err == nil && !l.torn {
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
	gap(w.steady())
	for i := range since {
		since[i] = max(0, idle-since[i])
	}
	return since, nil
}

// lastTime is when the last record of a segment was written; zero: that is not plain from its last bytes.
func lastTime(fsys FS, s segment) (time.Time, error) {
	size, err := sizeOf(fsys, s.path)
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
		if err := d.take(w.o.FS, s, sum, &last); err != nil {
			return err
		}
	}
	d.To, d.Hash, d.SHA256 = last.Seq, last.Hash, hex.EncodeToString(sum.Sum(nil))
	err := w.put([]Record{{
		Kind: Drop, Dropped: &d, Time: w.o.Now(),
		Note: fmt.Sprintf("records %d to %d were dropped, as the configuration has it; the next one is of %s", d.From, d.To, until.UTC().Format(time.RFC3339)),
	}})
	if err != nil {
		return err
	}
	if w.sync(); w.unsynced {
		return errors.New("the record that tells of it cannot be synced")
	}
	for _, s := range segs {
		if err := w.o.FS.Remove(s.path); err != nil {
			return err
		}
	}
	return syncDir(w.o.FS, w.o.Dir)
}

// take counts a segment in.
func (d *Dropped) take(fsys FS, s segment, sum hash.Hash, last *Head) error {
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

// firstOf is the first record of a segment, if it is one.
func firstOf(fsys FS, s segment) (r Record, ok bool) {
	_, _ = walkSegment(fsys, s, func(l line) bool {
		r, ok = l.record, l.err == nil && l.record.Seq == s.first
		return false
	})
	return r, ok
}

func sizeOf(fsys FS, path string) (int64, error) {
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
