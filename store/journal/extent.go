package journal

import "slices"

// extent is the readable part of a segment.
type extent struct {
	base   uint64
	end    uint64 // offset after it
	size   int64  // size of the tail segment in bytes; a sealed segment's file has its own size
	id     uint32 // id of the tail; other segments contain theirs
	sealed bool
}

// readPos is the position of a record in a segment file and in the journal.
type readPos struct {
	place
	base     uint64
	off, end uint64
}

// hints caches positions at which reads ended, so that the next read need not search.
type hints struct {
	positions [4]readPos
	next      int // index of the next mark to replace
}

// extent returns the segment from which to read off, at or after base. That is the last one with a base below off: if
// off is itself a base, records without output may be at the end of the segment before. It returns false without such a
// segment, with end set.
func (j *Journal) extent(base, off uint64) (extent, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, _ := slices.BinarySearch(j.segments, base)
	before, _ := slices.BinarySearch(j.segments, off)
	i = max(i, before-1)
	switch last := len(j.segments) - 1; {
	case i > last:
		return extent{end: j.end}, false
	case i < last:
		return extent{base: j.segments[i], end: j.segments[i+1], sealed: true}, true
	}
	return extent{base: j.segments[i], end: j.end, size: j.size, id: j.id, sealed: j.size == 0}, true
}

// hint returns a cached position at or before off.
func (j *Journal) hint(id uint32, base, off uint64) (readPos, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range j.hints.positions {
		if m.pos > 0 && m.id == id && m.base == base && m.off < off && off <= m.end {
			return m, true
		}
	}
	return readPos{}, false
}

// remember caches a position.
func (j *Journal) remember(m readPos) {
	if m.pos == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hints.next = (j.hints.next + 1) % len(j.hints.positions)
	j.hints.positions[j.hints.next] = m
}

func (j *Journal) bases() []uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.segments)
}

// awaitReplace waits until no segment file is being replaced.
func (j *Journal) awaitReplace() {
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
}
