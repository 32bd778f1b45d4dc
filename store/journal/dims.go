package journal

import (
	"errors"
	"fmt"
	"io"
)

// SizeAt returns the terminal's size in cells when the byte at off was printed, by the last resize at or before off. It
// returns 0, 0 if the journal does not record it.
func (j *Journal) SizeAt(off uint64) (cols, rows int, err error) {
	if end := j.End(); off > end {
		return 0, 0, fmt.Errorf("%w: %d, the end is %d", ErrFuture, off, end)
	}
	d, err := j.dimsAt(off, off+1)
	if err != nil {
		return 0, 0, fmt.Errorf("terminal size at %d: %w", off, err)
	}
	return int(d.cols), int(d.rows), nil
}

// dimsAt searches the segments with a base below maxBase, newest first, until one records the size.
func (j *Journal) dimsAt(off, maxBase uint64) (dims, error) {
	bases := j.bases()
	for i := len(bases) - 1; i >= 0; i-- {
		if bases[i] >= maxBase {
			continue
		}
		d, err := j.dimsIn(bases[i], off)
		if err != nil || d.known() {
			return d, err
		}
	}
	return dims{}, nil
}

// dimsIn searches the segment with that base: first shortly before off, where blocks mostly record the size, then from
// its start.
func (j *Journal) dimsIn(base, off uint64) (dims, error) {
	r := j.NewReader(0)
	defer r.Close()
	ok, err := r.enterAt(base)
	if err != nil || !ok {
		return dims{}, err
	}
	if err := r.scan.bisect(func(rw *raw) bool { return rw.offset <= off }); err != nil {
		return dims{}, err
	}
	if d, err := r.scan.lastDims(dims{}, off); err != nil || d.known() {
		return d, err
	}
	r.scan.seek(place{pos: r.scan.header.length})
	return r.scan.lastDims(r.scan.header.dims, off)
}

// enterAt opens the segment with that base at its start. It returns false if the segment was removed.
func (r *Reader) enterAt(base uint64) (bool, error) {
	r.base, r.off, r.resume, r.marksSeen = base, base, place{}, 0
	ok, err := r.enter()
	return ok && r.ext.base == base && r.file != nil, err
}

// lastDims reads up to off and returns the size there, or d without a later resize.
func (w *walker) lastDims(d dims, off uint64) (dims, error) {
	for {
		f, _, err := w.scanner.record(w.limit)
		if errors.Is(err, io.EOF) || err == nil && f.offset > off {
			return d, nil
		}
		if err != nil {
			return dims{}, err
		}
		if f.kind != kindBlock {
			if to, ok := f.resizeDims(); ok {
				d = to
			}
			continue
		}
		if d, err = f.blockDims(d, off); err != nil {
			return dims{}, err
		}
	}
}

// blockDims returns the size at off, where r is a block that starts at or before off.
func (r *raw) blockDims(d dims, off uint64) (dims, error) {
	if m, ok := decodeBlockMeta(r.payload); ok && m.dims.known() {
		d = m.dims
	}
	b, err := unpack(r)
	if err != nil {
		return d, nil // damage: what is known stands
	}
	defer b.free()
	for i := range b.records {
		if b.records[i].offset > off {
			break
		}
		if to, ok := b.records[i].resizeDims(); ok {
			d = to
		}
	}
	return d, nil
}

// dimsLocked returns the size in force at the end, for the header of a new segment. After Open it is searched once. The
// caller holds tail.mu.
func (j *Journal) dimsLocked() dims {
	t := &j.tail
	if !t.dimsRead {
		t.dimsRead = true
		if d, err := j.dimsAt(t.off, t.off+1); err == nil { // else it stays unknown
			t.dims = d
		}
	}
	return t.dims
}
