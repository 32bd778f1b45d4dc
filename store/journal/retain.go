package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Retention limits what a journal stores. Zero means no limit. It removes whole segments, never the tail segment, which
// is rolled earlier when a limit is near.
type Retention struct {
	MaxAge   time.Duration // age of the output
	MaxBytes int64         // size on disk
}

const (
	// rollParts is the number of segments into which a size limit is divided.
	rollParts = 4
	// minRollBytes is the smallest segment that retention causes, so that small limits do not make tiny segments.
	minRollBytes = 64 << 10
)

// Retired describes what Retain removed.
type Retired struct {
	From, To uint64 // range of offsets
	Bytes    int64  // bytes on disk
}

// Retain removes the oldest segments that exceed the limits. Readers inside them get a gap.
func (j *Journal) Retain(now time.Time, r Retention) (Retired, error) {
	before := j.Start()
	size, err := j.Size()
	if err != nil {
		return Retired{}, err
	}
	keep := before
	if r.MaxAge > 0 {
		if keep, err = j.firstYoungerThan(now.Add(-r.MaxAge)); err != nil {
			return Retired{}, err
		}
	}
	if r.MaxBytes > 0 && size > r.MaxBytes {
		fits, err := j.oldestToKeep(size - r.MaxBytes)
		if err != nil {
			return Retired{}, err
		}
		keep = max(keep, fits)
	}
	if err := j.DropBefore(keep); err != nil {
		return Retired{}, err
	}
	j.rollIfNear(now, r)
	after, err := j.Size()
	return Retired{From: before, To: j.Start(), Bytes: max(size-after, 0)}, err
}

// firstYoungerThan returns the base of the first segment with output not older than t.
func (j *Journal) firstYoungerThan(t time.Time) (uint64, error) {
	keep := j.Start()
	for _, base := range j.bases() {
		h, ok, err := j.header(base)
		if err != nil {
			return 0, err
		}
		if !ok || h.created == 0 { // damaged: use the next segment's time
			continue
		}
		if h.created > t.UnixNano() {
			break
		}
		keep = base
	}
	return keep, nil
}

// header reads a segment's header. It returns false if the header is damaged or the segment was removed.
func (j *Journal) header(base uint64) (header, bool, error) {
	f, size, err := j.openSegment(base)
	if errors.Is(err, os.ErrNotExist) {
		return header{}, false, nil
	}
	if err != nil {
		return header{}, false, err
	}
	defer func() { _ = f.Close() }() // was only read
	s := scanner{window: window{file: f, limit: size}}
	defer s.free()
	intact, err := s.readHeader(base)
	if errors.Is(err, ErrNewer) {
		return header{}, false, nil
	}
	return s.header, intact, err
}

// oldestToKeep returns the base of the oldest segment that must be kept so that at least this many bytes remain.
func (j *Journal) oldestToKeep(bytes int64) (uint64, error) {
	sizes, err := j.sizes()
	if err != nil {
		return 0, err
	}
	keep := j.Start()
	for _, base := range j.bases() {
		keep = base
		if bytes <= 0 {
			break
		}
		bytes -= sizes[segmentName(base)]
	}
	return keep, nil
}

// rollIfNear makes the next append start a segment if the last one holds a large part of r's limit, as segments are
// removed as a whole.
func (j *Journal) rollIfNear(now time.Time, r Retention) {
	t := &j.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	old := r.MaxAge > 0 && now.Sub(time.Unix(0, t.created)) >= r.MaxAge/rollParts
	large := r.MaxBytes > 0 && t.size >= max(r.MaxBytes/rollParts, minRollBytes)
	t.startNew = t.id != 0 && (old || large)
}

// DropBefore removes the oldest segments whose content lies completely before off. The tail segment stays. Readers
// inside get a gap.
func (j *Journal) DropBefore(off uint64) error {
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	for {
		base, ok := j.oldestBefore(off)
		if !ok {
			return nil
		}
		if err := j.opt.FS.Remove(j.path(base)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("retire journal segment: %w", err)
		}
		j.mu.Lock()
		j.segments = slices.Clone(j.segments[1:])
		j.sealedBytesKnown = false
		j.mu.Unlock()
	}
}

// oldestBefore returns the oldest segment if it ends at or before off.
func (j *Journal) oldestBefore(off uint64) (base uint64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) < 2 || j.segments[1] > off {
		return 0, false
	}
	return j.segments[0], true
}

// Size returns the bytes on disk. It lists the directory once and caches the result until segments are removed or
// rewritten.
func (j *Journal) Size() (int64, error) {
	j.mu.Lock()
	size, known := j.sealedBytes+j.size, j.sealedBytesKnown
	j.mu.Unlock()
	if known {
		return size, nil
	}
	return j.measureSize()
}

func (j *Journal) measureSize() (int64, error) {
	j.filesMu.Lock() // excludes removals and replacements
	defer j.filesMu.Unlock()
	last := j.tailName()
	sizes, err := j.sizes()
	if err != nil {
		return 0, err
	}
	var others int64
	for name, n := range sizes {
		if name != last {
			others += n
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lastLocked() == last { // the tail segment is still the same
		j.sealedBytes, j.sealedBytesKnown = others, true
	}
	return others + j.size, nil
}

// tailName returns the file name of the tail segment.
func (j *Journal) tailName() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lastLocked()
}

func (j *Journal) lastLocked() string {
	if j.size == 0 {
		return ""
	}
	return segmentName(j.segments[len(j.segments)-1])
}

// sizes returns the sizes of the directory's files.
func (j *Journal) sizes() (map[string]int64, error) {
	entries, err := j.opt.FS.ReadDir(j.dir)
	if err != nil {
		return nil, fmt.Errorf("size of journal: %w", err)
	}
	sizes := make(map[string]int64, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since
		case err != nil:
			return nil, fmt.Errorf("size of journal: %w", err)
		case info.Mode().IsRegular():
			sizes[e.Name()] = info.Size()
		}
	}
	return sizes, nil
}
