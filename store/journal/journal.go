package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// DefaultSegmentBytes is the size at which a segment is followed by the next one.
const DefaultSegmentBytes = 64 << 20

// Errors.
var (
	ErrClosed = errors.New("the journal is closed")
	// ErrNewer is returned for a journal written by a later version.
	ErrNewer = errors.New("the journal was made by a newer longterm; upgrade this one")
	// ErrFuture is returned for an offset after the end.
	ErrFuture = errors.New("the offset lies after the journal's end")
)

// Options configure a journal. The zero value of every field means its default.
type Options struct {
	SegmentBytes int64            // DefaultSegmentBytes
	Now          func() time.Time // time.Now
	FS           FS               // the operating system's

	id      func() uint32 // of a new segment
	handles *handles
}

func (o Options) withDefaults() Options {
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = DefaultSegmentBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FS == nil {
		o.FS = osFS{}
	}
	if o.id == nil {
		o.id = rand.Uint32 // seeded by the system: output cannot predict it
	}
	if o.handles == nil {
		o.handles = &processHandles
	}
	return o
}

// Journal is the log of one session. One goroutine appends; any number read.
type Journal struct {
	dir  string
	opt  Options
	tail tail

	mu       sync.Mutex // guards what readers see
	segments []uint64   // bases, ascending; the last one is appended to
	size     int64      // bytes of the last one that hold whole records; 0: it is sealed too
	end      uint64
	hints    hints
	unsynced []uint64 // bases of segments with bytes not synced yet
	newNames bool     // the directory is not synced yet
}

// tail is the writer's end, used with its handle locked.
type tail struct {
	handle
	header          // of the segment appended to; id 0: none yet
	size      int64 // where the next record goes
	off       uint64
	untrimmed bool // bytes of a failed write may lie after size
	closed    bool
}

// Open opens the journal in dir, making the directory if need be, and cuts off what a
// crash left half written at its end. Damage elsewhere is no failure: readers get a
// gap. It holds no descriptor open.
func Open(dir string, o Options) (*Journal, Recovery, error) {
	o = o.withDefaults()
	j := &Journal{dir: dir, opt: o}
	if err := o.FS.MkdirAll(dir, 0o700); err != nil {
		return nil, Recovery{}, fmt.Errorf("open journal: %w", err)
	}
	if err := j.list(); err != nil {
		return nil, Recovery{}, fmt.Errorf("open journal: %w", err)
	}
	rec, err := j.recover()
	if err != nil {
		return nil, rec, fmt.Errorf("open journal %s: %w", dir, err)
	}
	j.size, j.end = j.tail.size, j.tail.off
	return j, rec, nil
}

// list finds the segments.
func (j *Journal) list() error {
	entries, err := j.opt.FS.ReadDir(j.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if base, ok := segmentBase(e.Name()); ok && e.Type().IsRegular() {
			j.segments = append(j.segments, base)
		}
	}
	slices.Sort(j.segments)
	return nil
}

func (j *Journal) path(base uint64) string { return filepath.Join(j.dir, segmentName(base)) }

// End is the offset after the last byte printed.
func (j *Journal) End() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.end
}

// Start is the offset of the oldest byte that may still be kept.
func (j *Journal) Start() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) == 0 {
		return j.end
	}
	return j.segments[0]
}

// DropBefore removes the oldest segments as far as all they hold lies before off. The
// segment appended to stays. Readers inside get a gap.
func (j *Journal) DropBefore(off uint64) error {
	for {
		j.mu.Lock()
		if len(j.segments) < 2 || j.segments[1] > off {
			j.mu.Unlock()
			return nil
		}
		base := j.segments[0]
		j.mu.Unlock()
		if err := j.opt.FS.Remove(j.path(base)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("retire journal segment: %w", err)
		}
		j.mu.Lock()
		if j.segments[0] == base {
			j.segments = slices.Clone(j.segments[1:])
		}
		j.mu.Unlock()
	}
}

// Sync makes everything appended so far survive a power loss. It may be called from
// any goroutine and does not hold up appends.
func (j *Journal) Sync() error {
	j.mu.Lock()
	bases, names := j.unsynced, j.newNames
	j.unsynced, j.newNames = nil, false
	j.mu.Unlock()

	err := j.takeCloseError()
	for _, base := range bases {
		serr := syncPath(j.opt.FS, j.path(base), os.O_RDWR)
		if serr != nil && !errors.Is(serr, os.ErrNotExist) { // retired
			err = errors.Join(err, serr)
			j.markUnsynced(base, false)
		}
	}
	if names {
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
	j.markUnsyncedLocked(base, name)
}

func (j *Journal) markUnsyncedLocked(base uint64, name bool) {
	if name {
		j.newNames = true
	} else if !slices.Contains(j.unsynced, base) {
		j.unsynced = append(j.unsynced, base)
	}
}

func (j *Journal) takeCloseError() error {
	j.tail.mu.Lock()
	defer j.tail.mu.Unlock()
	err := j.tail.err
	j.tail.err = nil
	return err
}

// Close ends appending. Readers may go on.
func (j *Journal) Close() error {
	j.tail.mu.Lock()
	defer j.tail.mu.Unlock()
	j.tail.closed = true
	j.shutLocked()
	if j.tail.err != nil {
		return fmt.Errorf("close journal: %w", j.tail.err)
	}
	return nil
}

// shutLocked closes the descriptor of the segment appended to. tail.mu is held.
func (j *Journal) shutLocked() {
	if j.tail.file != nil {
		j.opt.handles.forget(&j.tail.handle)
		j.tail.closeLocked()
	}
}
