package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// SyncPolicy says when what was appended is made to survive a loss of power. It always
// survives the death of the process. A journal syncs nothing by itself: its owner asks
// SyncDue and calls Sync.
type SyncPolicy uint8

// Policies.
const (
	SyncEachSecond SyncPolicy = iota // a second of output, and what comes meanwhile, can be lost
	SyncAlways                       // each append
	SyncAtExit                       // when the program has ended
	SyncNever
)

// syncInterval is how long appended bytes stay unsynced with SyncEachSecond.
const syncInterval = time.Second

// unsynced is what a loss of power can undo.
type unsynced struct {
	bases []uint64 // segments with bytes not synced yet
	names bool     // the directory is not synced yet
	exit  bool     // an exit record is among it
	// inherited: it is not known what the one who had the journal open before synced.
	inherited bool
	since     time.Time
}

// SyncDue reports whether Sync should be called now: by the policy, if there is
// anything to sync. An exit is due at once.
func (j *Journal) SyncDue(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	u := &j.unsynced
	if len(u.bases) == 0 && !u.names {
		return false
	}
	switch j.opt.Sync {
	case SyncNever:
		return false
	case SyncAlways:
		return true
	case SyncAtExit:
		return u.exit
	}
	waited := now.Sub(u.since)
	return u.exit || waited >= syncInterval || waited < 0 // the clock was set back
}

// Sync makes everything appended so far survive a power loss. It may be called from
// any goroutine and does not hold up appends.
func (j *Journal) Sync() error {
	j.mu.Lock()
	was := j.unsynced
	j.unsynced = unsynced{}
	if was.inherited {
		was.bases, was.names = slices.Clone(j.segments), true
	}
	j.mu.Unlock()

	err := j.takeCloseError()
	for _, base := range was.bases {
		serr := syncPath(j.opt.FS, j.path(base), os.O_RDWR)
		if serr != nil && !errors.Is(serr, os.ErrNotExist) { // retired
			err = errors.Join(err, serr)
			j.markUnsynced(base, false)
		}
	}
	if was.names {
		if serr := syncDir(j.opt.FS, j.dir); serr != nil {
			err = errors.Join(err, serr)
			j.markUnsynced(0, true)
		}
	}
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// markUnsynced notes that a segment has new bytes, or that the directory has a new
// name.
func (j *Journal) markUnsynced(base uint64, name bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.markUnsyncedLocked(base, name, j.opt.Now())
}

func (j *Journal) markUnsyncedLocked(base uint64, name bool, now time.Time) {
	u := &j.unsynced
	if len(u.bases) == 0 && !u.names {
		u.since = now
	}
	if name {
		u.names = true
	} else if !slices.Contains(u.bases, base) {
		u.bases = append(u.bases, base)
	}
}

func (j *Journal) takeCloseError() error {
	j.tail.mu.Lock()
	defer j.tail.mu.Unlock()
	err := j.tail.err
	j.tail.err = nil
	return err
}
