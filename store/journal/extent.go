package journal

import "slices"

// extent is how far a segment can be read.
type extent struct {
	base   uint64
	end    uint64 // offset after it
	size   int64  // bytes; of a sealed one its file tells
	id     uint32 // of one that is not sealed; of others their files tell
	sealed bool
}

// mark is where a record lies.
type mark struct {
	place
	base     uint64
	off, end uint64
}

// hints remember where reads left off, so that the next one need not search.
type hints struct {
	marks [4]mark
	turn  int
}

// extent is the segment to begin with when reading from off, but none before base. That
// is the last one with a base less than off: where off is a base itself, records
// without output may stand at the end of the segment before. False: there is none; the
// end is told all the same.
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

func (j *Journal) hint(id uint32, base, off uint64) (mark, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, m := range j.hints.marks {
		if m.pos > 0 && m.id == id && m.base == base && m.off < off && off <= m.end {
			return m, true
		}
	}
	return mark{}, false
}

func (j *Journal) remember(m mark) {
	if m.pos == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hints.turn = (j.hints.turn + 1) % len(j.hints.marks)
	j.hints.marks[j.hints.turn] = m
}

func (j *Journal) bases() []uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.segments)
}

// awaitNames waits until no segment's file is being exchanged.
func (j *Journal) awaitNames() {
	j.names.Lock()
	defer j.names.Unlock()
}
