package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
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
	Now          func() time.Time // time.Now; by any goroutine
	FS           FS               // the operating system's
	Plain        bool             // compress nothing while appending
	Sync         SyncPolicy       // SyncEachSecond

	id      func() uint32 // returns the id of a new segment; for tests
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

	compacting sync.Mutex // one compaction at a time
	filesMu    sync.Mutex // held while segments' files are replaced or removed

	mu       sync.Mutex // guards what readers see
	segments []uint64   // bases, ascending; the last one is appended to
	size     int64      // bytes of the last segment that hold whole records; 0: it is sealed too
	id       uint32     // of the last one
	end      uint64     // offset after the last output
	hints    hints
	unsynced unsynced

	sealedBytes      int64 // size of all segments but the tail, in bytes
	sealedBytesKnown bool  // others was computed
}

// tail is the writer's end, used with its handle locked.
type tail struct {
	handle
	header           // header of the tail segment; id 0: no segment yet
	size      int64  // file position of the next record
	off       uint64 // offset of the next record
	dims      dims   // the terminal's size at the end
	dimsRead  bool   // dims is known
	startNew  bool   // the next append starts a new segment
	untrimmed bool   // bytes of a failed write may follow size
	closed    bool
}

// Open opens the journal in dir, which it creates if needed, and removes a partial record that a crash left at the end.
// Damage elsewhere is not an error: readers get a gap. It keeps no descriptor open.
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
	j.size, j.id, j.end = j.tail.size, j.tail.id, j.tail.off
	j.unsynced.inherited = len(j.segments) > 0
	return j, rec, nil
}

// list finds the segment files.
func (j *Journal) list() error {
	entries, err := j.opt.FS.ReadDir(j.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tempSuffix) { // of a compaction; the segment is there
			_ = j.opt.FS.Remove(filepath.Join(j.dir, e.Name()))
		}
		if base, ok := segmentBase(e.Name()); ok && e.Type().IsRegular() {
			j.segments = append(j.segments, base)
		}
	}
	slices.Sort(j.segments)
	return nil
}

func (j *Journal) path(base uint64) string { return filepath.Join(j.dir, segmentName(base)) }

// End returns the offset after the last byte of output.
func (j *Journal) End() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.end
}

// Start returns the offset of the oldest byte that may still be stored.
func (j *Journal) Start() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) == 0 {
		return j.end
	}
	return j.segments[0]
}

// Close ends appending. Existing readers stay usable.
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

// shutLocked closes the tail segment's descriptor. The caller holds tail.mu.
func (j *Journal) shutLocked() {
	if j.tail.file != nil {
		j.opt.handles.forget(&j.tail.handle)
		j.tail.closeLocked()
	}
}
