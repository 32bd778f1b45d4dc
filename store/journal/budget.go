package journal

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"
)

// Usage is what a journal takes, for Plan.
type Usage struct {
	Dir   string
	Bytes int64     // on disk
	Last  time.Time // when it was written to last
	Live  bool      // its session goes on
}

// Measure tells what the journal in dir takes by listing it. Live is the caller's to
// say.
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

// Budget is what all journals together may take. Zero: no limit.
type Budget struct {
	MaxBytes   int64         // of all
	MaxDead    int           // journals of sessions that are over
	MaxDeadAge time.Duration // since they were written to last
}

// MinLiveBytes is what Plan leaves to a session that goes on.
const MinLiveBytes = 1 << 20

// Drop is something to remove: a journal as a whole, or all of one but Keep bytes, which
// is for Journal.Retain.
type Drop struct {
	Dir  string
	Keep int64 // 0: nothing
	Why  string
}

// Plan decides what to remove so that all journals fit the budget. Of sessions that are
// over the oldest goes first, and as a whole; only when there are none left, those that
// go on are cut, the largest first, to an equal size.
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
		drops = append(drops, level(live, b.MaxBytes)...)
	}
	return drops
}

func total(all []Usage) (bytes int64) {
	for _, u := range all {
		bytes += u.Bytes
	}
	return bytes
}

// level cuts the largest to one size, so that all take at most so many bytes.
func level(all []Usage, bytes int64) (drops []Drop) {
	slices.SortFunc(all, func(a, b Usage) int { return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Dir, b.Dir)) })
	for i, u := range all {
		share := bytes / int64(len(all)-i) // of each that is left
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
