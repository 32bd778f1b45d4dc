package journal

import (
	"errors"
	"fmt"
	"io"
)

// SizeAt is the terminal's size, in cells, that was in force when the byte at off was
// printed: what the last resize at or before off says. 0, 0: what is kept does not tell.
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

// dimsAt asks the segments with a base less than below, the last one first, as long as
// none knows.
func (j *Journal) dimsAt(off, below uint64) (dims, error) {
	bases := j.bases()
	for i := len(bases) - 1; i >= 0; i-- {
		if bases[i] >= below {
			continue
		}
		d, err := j.dimsIn(bases[i], off)
		if err != nil || d.known() {
			return d, err
		}
	}
	return dims{}, nil
}

// dimsIn looks in the segment with a base: a little before off first, where blocks
// mostly tell, then in all of it.
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

// enterAt opens the segment with a base, from its beginning. False: it is gone.
func (r *Reader) enterAt(base uint64) (bool, error) {
	r.base, r.off, r.resume, r.seen = base, base, place{}, 0
	ok, err := r.enter()
	return ok && r.ext.base == base && r.file != nil, err
}

// lastDims walks on to off and tells the size in force there: d unless there is a
// later one.
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
			if to, ok := f.resized(); ok {
				d = to
			}
			continue
		}
		if d, err = f.blockDims(d, off); err != nil {
			return dims{}, err
		}
	}
}

// blockDims is the size in force at off after r, a block that begins at or before it.
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
		if to, ok := b.records[i].resized(); ok {
			d = to
		}
	}
	return d, nil
}

// dimsLocked is the size in force at the end, which a new segment begins with. After
// Open it has to be looked for once; tail.mu is held.
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
