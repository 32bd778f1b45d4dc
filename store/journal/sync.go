package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// SyncPolicy defines when appended records are synced, so that they survive a loss of power. They always survive the
// death of the process. The journal's owner polls SyncDue and calls Sync.
type SyncPolicy uint8

// Policies.
const (
	SyncEachSecond SyncPolicy = iota // up to about a second of output can be lost
	SyncAlways                       // after each append
	SyncAtExit                       // when the program has ended
	SyncNever
)

// syncInterval is the longest time that appended bytes stay unsynced with SyncEachSecond.
const syncInterval = time.Second

// unsynced describes what a loss of power can undo.
type unsynced struct {
	bases []uint64 // segments with unsynced bytes
	names bool     // the directory has unsynced names
	exit  bool     // an exit record is unsynced
	// inherited is set while it is unknown what an earlier process synced.
	inherited bool
	since     time.Time // time of the oldest unsynced change
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

// Sync makes everything appended so far survive a power loss. It may be called from any goroutine and does not block
// appends.
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

// markUnsynced records that a segment has new bytes, or that the directory has a new name.
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

// takeCloseError returns and clears the error of an asynchronous close.
func (j *Journal) takeCloseError() error {
	j.tail.mu.Lock()
	defer j.tail.mu.Unlock()
	err := j.tail.err
	j.tail.err = nil
	return err
}
