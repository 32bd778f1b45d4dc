package journal

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"
)

// Usage is the disk usage of a journal, for Plan.
type Usage struct {
	Dir   string
	Bytes int64     // on disk
	Last  time.Time // time of the last write
	Live  bool      // its session has not ended
}

// Measure lists dir and returns the disk usage of its journal. The caller sets Live.
func Measure(dir string) (Usage, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Usage{}, fmt.Errorf("measure journal: %w", err)
	}
	u := Usage{Dir: dir}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // removed since, or none of ours
		}
		u.Bytes += info.Size()
		if _, ok := segmentBase(e.Name()); ok && info.ModTime().After(u.Last) {
			u.Last = info.ModTime()
		}
	}
	return u, nil
}

// Budget limits all journals together. Zero means no limit.
type Budget struct {
	MaxBytes   int64         // size of all journals
	MaxDead    int           // number of journals of ended sessions
	MaxDeadAge time.Duration // age of journals of ended sessions, since their last write
}

// MinLiveBytes is the smallest size to which Plan reduces a live session's journal.
const MinLiveBytes = 1 << 20

// Drop is a decision of Plan: to remove a journal, or to reduce it to Keep bytes by Journal.Retain.
type Drop struct {
	Dir  string
	Keep int64  // bytes to keep; 0: remove the journal
	Why  string // reason for the log
}

// Plan decides what to remove so that all journals fit the budget. It first removes whole journals of ended sessions,
// oldest first. If that is not enough, it cuts the largest live journals to an equal size.
func Plan(now time.Time, all []Usage, b Budget) []Drop {
	var drops []Drop
	var dead, live []Usage
	for _, u := range all {
		switch {
		case u.Live:
			live = append(live, u)
		case b.MaxDeadAge > 0 && now.Sub(u.Last) > b.MaxDeadAge:
			drops = append(drops, Drop{Dir: u.Dir, Why: "age"})
		default:
			dead = append(dead, u)
		}
	}
	slices.SortFunc(dead, func(a, b Usage) int { return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.Dir, b.Dir)) })
	for b.MaxDead > 0 && len(dead) > b.MaxDead {
		drops = append(drops, Drop{Dir: dead[0].Dir, Why: "count"})
		dead = dead[1:]
	}
	if b.MaxBytes <= 0 {
		return drops
	}
	over := total(dead) + total(live) - b.MaxBytes
	for over > 0 && len(dead) > 0 {
		drops = append(drops, Drop{Dir: dead[0].Dir, Why: "size"})
		over -= dead[0].Bytes
		dead = dead[1:]
	}
	if over > 0 {
		drops = append(drops, levelLargest(live, b.MaxBytes)...)
	}
	return drops
}

// total returns the size of all journals.
func total(all []Usage) (bytes int64) {
	for _, u := range all {
		bytes += u.Bytes
	}
	return bytes
}

// levelLargest reduces the largest journals to one common size, so that all together fit in bytes.
func levelLargest(all []Usage, bytes int64) (drops []Drop) {
	slices.SortFunc(all, func(a, b Usage) int { return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Dir, b.Dir)) })
	for i, u := range all {
		share := bytes / int64(len(all)-i) // for each journal not yet counted
		if u.Bytes <= share {
			bytes -= u.Bytes
			continue
		}
		keep := max(share, MinLiveBytes)
		for _, u := range all[i:] {
			if u.Bytes > keep {
				drops = append(drops, Drop{Dir: u.Dir, Keep: keep, Why: "size"})
			}
		}
		return drops
	}
	return drops
}
