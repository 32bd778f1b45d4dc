package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// batch is the content of one append: records, preceded by a segment header if they start a new segment.
type batch struct {
	buf []byte
	scratch
	header        header
	startsSegment bool // the batch starts a segment
	uncompressed  bool // do not compress records into blocks
	hasExit       bool // the batch has an exit record
	off           uint64
	time          int64
	dims          dims
}

// scratch holds buffers for compression.
type scratch struct{ piece, body []byte }

var batches = sync.Pool{New: func() any { return new(batch) }}

// maxPooled limits the buffers that the pool keeps, in bytes.
const maxPooled = 1 << 20

func (b *batch) free() {
	if cap(b.buf) <= maxPooled {
		batches.Put(b)
	}
}

// end completes the record at start, which stands for span bytes.
func (b *batch) end(start int, kind Kind, span uint64) {
	b.buf = endRecord(b.buf, start, b.header.id, kind, b.off, b.time)
	b.off += span
}

// output adds records for parts, none longer than MaxPayload.
func (b *batch) output(parts [][]byte) {
	piece := b.piece[:0]
	for _, p := range parts {
		for len(p) > 0 {
			if len(piece) == 0 && len(p) >= MaxPayload { // as most comes: not copied
				b.outputPiece(p[:MaxPayload])
				p = p[MaxPayload:]
				continue
			}
			c := min(len(p), MaxPayload-len(piece))
			piece, p = append(piece, p[:c]...), p[c:]
			if len(piece) == MaxPayload {
				b.outputPiece(piece)
				piece = piece[:0]
			}
		}
	}
	if len(piece) > 0 {
		b.outputPiece(piece)
	}
	b.piece = piece
}

// outputPiece adds one record of output, compressed in a block if that is shorter.
func (b *batch) outputPiece(p []byte) {
	var start int
	b.buf, start = beginRecord(b.buf)
	if len(p) >= minCompress && !b.uncompressed {
		var small bool
		if b.buf, b.body, small = appendOutputBlock(b.buf, b.body, p, b.dims); small {
			b.end(start, kindBlock, uint64(len(p)))
			return
		}
	}
	b.buf = append(b.buf, p...)
	b.end(start, KindOutput, uint64(len(p)))
}

// AppendOutput appends program output, all parts or none, with one write. After it returns nil, a crash of this process
// loses none of it.
func (j *Journal) AppendOutput(parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n == 0 {
		return nil
	}
	j.tail.mu.Lock()
	defer j.tail.mu.Unlock()
	b, err := j.beginLocked()
	if err != nil {
		return err
	}
	defer b.free()
	b.output(parts)
	return j.commitLocked(b)
}

// AppendResize records the terminal's size, in cells, from here on.
func (j *Journal) AppendResize(cols, rows int) error {
	var p [8]byte
	le.PutUint32(p[:], uint32(int32(cols)))
	le.PutUint32(p[4:], uint32(int32(rows)))
	return j.append(KindResize, p[:], 0)
}

// AppendExit records how the program ended.
func (j *Journal) AppendExit(e Exit) error { return j.append(KindExit, appendExit(nil, e), 0) }

// AppendGap records that the next n bytes of output could not be stored.
func (j *Journal) AppendGap(n uint64) error {
	if n == 0 {
		return nil
	}
	return j.append(KindGap, le.AppendUint64(nil, n), n)
}

// AppendMark records up to MaxPayload bytes of the caller's data.
func (j *Journal) AppendMark(data []byte) error {
	if len(data) > MaxPayload {
		return fmt.Errorf("journal mark of %d bytes: at most %d are possible", len(data), MaxPayload)
	}
	return j.append(KindMark, data, 0)
}

func (j *Journal) append(kind Kind, payload []byte, span uint64) error {
	j.tail.mu.Lock()
	defer j.tail.mu.Unlock()
	if span > maxOffset-min(j.tail.off, maxOffset) {
		return fmt.Errorf("append to journal: offset %d+%d is out of range", j.tail.off, span)
	}
	b, err := j.beginLocked()
	if err != nil {
		return err
	}
	defer b.free()
	var start int
	b.buf, start = beginRecord(b.buf)
	b.buf = append(b.buf, payload...)
	b.end(start, kind, span)
	b.hasExit = kind == KindExit
	if d, ok := (&raw{kind: kind, payload: payload}).resizeDims(); ok {
		b.dims = d
	}
	return j.commitLocked(b)
}

// beginLocked starts a batch at the end, in a new segment if the last one is full.
func (j *Journal) beginLocked() (*batch, error) {
	t := &j.tail
	if t.closed {
		return nil, ErrClosed
	}
	if err := j.trimLocked(); err != nil {
		return nil, fmt.Errorf("append to journal: cut off an earlier failed write: %w", err)
	}
	b := batches.Get().(*batch)
	*b = batch{
		buf: b.buf[:0], scratch: b.scratch, header: t.header,
		off: t.off, time: j.opt.Now().UnixNano(), dims: t.dims,
	}
	// Without new output the new segment's name would be that of the old one.
	if full := (t.size >= j.opt.SegmentBytes || t.startNew) && t.off > t.base; t.id == 0 || full {
		b.startsSegment = true
		b.dims = j.dimsLocked()
		b.header = header{
			version: version, length: headerSize, base: t.off, created: b.time, id: j.newID(), dims: b.dims,
		}
		b.buf = appendHeader(b.buf, b.header)
	}
	b.uncompressed = j.opt.Plain || b.header.version < versionBlocks
	return b, nil
}

// newID returns a random ID. 0 is reserved: an ID marks where records start.
func (j *Journal) newID() uint32 {
	for {
		if id := j.opt.id(); id != 0 {
			return id
		}
	}
}

// commitLocked writes b with one write and shows it to readers. On failure it changes nothing.
func (j *Journal) commitLocked(b *batch) error {
	var err error
	if b.startsSegment {
		err = j.startLocked(b)
	} else {
		err = j.extendLocked(b)
	}
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	t := &j.tail
	t.off, t.dims = b.off, b.dims
	t.dimsRead = t.dimsRead || b.dims.known()
	j.mu.Lock()
	defer j.mu.Unlock()
	if b.startsSegment {
		j.segments = append(j.segments, t.base)
		j.sealedBytes += j.size
		j.markUnsyncedLocked(0, true, time.Unix(0, b.time))
	}
	j.markUnsyncedLocked(t.base, false, time.Unix(0, b.time))
	j.unsynced.exit = j.unsynced.exit || b.hasExit
	j.size, j.id, j.end = t.size, t.id, t.off
	return nil
}

// extendLocked appends b to the current segment.
func (j *Journal) extendLocked(b *batch) error {
	f, err := j.openLocked()
	if err != nil {
		return err
	}
	t := &j.tail
	if err := writeAt(f, b.buf, t.size); err != nil {
		t.untrimmed = true
		return errors.Join(err, j.trimLocked())
	}
	t.size += int64(len(b.buf))
	return nil
}

// startLocked writes b as a new segment. An existing file of that name is the rest of a failed attempt.
func (j *Journal) startLocked(b *batch) error {
	name := j.path(b.header.base)
	f, err := j.opt.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := writeAt(f, b.buf, 0); err != nil {
		return errors.Join(err, f.Close(), j.opt.FS.Remove(name))
	}
	j.shutLocked() // the segment before
	t := &j.tail
	j.opt.handles.admit(&t.handle)
	t.file, t.header, t.size = f, b.header, int64(len(b.buf))
	t.startNew = false
	t.used.Store(true)
	return nil
}

func writeAt(f File, p []byte, at int64) error {
	n, err := f.WriteAt(p, at)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// openLocked returns the tail segment's file and opens it if needed.
func (j *Journal) openLocked() (File, error) {
	t := &j.tail
	t.used.Store(true)
	if t.file != nil {
		return t.file, nil
	}
	f, err := j.opt.FS.OpenFile(j.path(t.base), os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	j.opt.handles.admit(&t.handle)
	t.file = f
	return f, nil
}

// trimLocked removes the bytes that a failed write or a crash left after the last record. Until it succeeds nothing may
// be written: a longer rest would appear after the new data.
func (j *Journal) trimLocked() error {
	t := &j.tail
	if !t.untrimmed {
		return nil
	}
	f, err := j.openLocked()
	if err != nil {
		return err
	}
	if err := f.Truncate(t.size); err != nil {
		return err
	}
	t.untrimmed = false
	return nil
}
