package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Reader returns a journal's records in order from an offset, during appends. It must not be used concurrently.
//
//	enter segment ─▶ scan records ─▶ accept (trim, insert gaps) ─▶ Record
//	      ▲                │ end of the visible part
//	      └── next one ────┴──▶ io.EOF, and on from there later
type Reader struct {
	j    *Journal
	off  uint64 // offset of the first byte not returned yet
	base uint64 // ignore segments before this one

	ext       extent // the segment read last
	resume    place  // position to resume at in ext; invalid after a compaction
	marksSeen int    // number of records without output at off that were returned from this segment
	rereads   int    // number of those that will be read again
	isOpen    bool   // file and scan are in use
	ahead     int64  // read-ahead size in bytes
	file      File   // nil if the segment was removed
	scan      walker

	damaged     bool   // bytes were skipped since the last returned record
	hasReturned bool   // a record was returned: damage from here on counts
	held        Record // record to return after the gap that was just returned
	isHeld      bool
	last        readPos // position of the last returned or held record
}

// NewReader returns a reader that starts with the record that contains the byte at from, truncated to start there, or
// else with the next record.
func (j *Journal) NewReader(from uint64) *Reader { return &Reader{j: j, off: from, ahead: readSize} }

// Next returns the next record. It returns io.EOF at the journal's end: the reader then holds no descriptor and Next
// may be called again. Lost output is returned as a record of KindGap.
func (r *Reader) Next() (Record, error) {
	if r.isHeld {
		r.isHeld = false
		return r.recordPosition(r.held), nil
	}
	for {
		if !r.isOpen {
			if ok, err := r.enter(); err != nil {
				return Record{}, err
			} else if !ok {
				return r.atEnd()
			}
		}
		rw, skipped, err := r.scan.step()
		r.damaged = r.damaged || skipped > 0
		switch {
		case err == nil:
			if rec, ok := r.accept(&rw); ok {
				return rec, nil
			}
		case errors.Is(err, io.EOF):
			if more, err := r.advanceSegment(); err != nil {
				return Record{}, err
			} else if !more {
				return r.atEnd()
			}
		default:
			r.Close()
			return Record{}, fmt.Errorf("read journal at %d: %w", r.off, err)
		}
	}
}

// Close releases the descriptor and the buffer. The reader stays usable.
func (r *Reader) Close() {
	if r.isOpen {
		r.resume = r.scan.position()
	}
	if r.isHeld { // its data is in the buffer
		r.isHeld, r.resume = false, r.last.place
	}
	r.shut()
}

// shut releases the descriptor and the buffer.
func (r *Reader) shut() {
	r.scan.free()
	if r.file != nil {
		_ = r.file.Close() // was only read
		r.file = nil
	}
	r.isOpen = false
}

// accept converts rw to a record. It returns false for records before the requested offset and for unknown kinds.
func (r *Reader) accept(rw *raw) (Record, bool) {
	span := rw.span()
	end := rw.offset + span
	if end < r.off || span > 0 && end == r.off {
		return Record{}, false
	}
	if end > r.ext.end { // contradicts the next segment, or the end
		r.damaged = true
		return Record{}, false
	}
	rec, known := rw.record()
	if !known {
		return Record{}, false
	}
	if r.rereads > 0 && span == 0 && end == r.off {
		r.rereads--
		return Record{}, false
	}
	r.rereads = 0
	r.last = readPos{place{r.scan.header.id, rw.pos, rw.index}, r.ext.base, rw.offset, end}
	if rw.offset < r.off {
		rec = rec.from(r.off)
	}
	if rec.Offset > r.off || r.damaged && r.hasReturned {
		r.held, r.isHeld = rec, true
		return r.gap(rec.Offset), true
	}
	return r.recordPosition(rec), true
}

// from cuts a record of output or of a gap to start at off, which lies inside.
func (rec Record) from(off uint64) Record {
	n := off - rec.Offset
	if rec.Kind == KindGap {
		rec.Lost -= n
	} else {
		rec.Data = rec.Data[n:]
	}
	rec.Offset = off
	return rec
}

// recordPosition returns rec after recording its position.
func (r *Reader) recordPosition(rec Record) Record {
	end := rec.Offset + rec.Lost
	if rec.Kind == KindOutput {
		end += uint64(len(rec.Data))
	}
	if end == r.off {
		r.marksSeen++
	} else {
		r.off, r.marksSeen = end, 0
	}
	r.hasReturned, r.damaged = true, false
	return rec
}

// gap returns a gap record that ends at to.
func (r *Reader) gap(to uint64) Record {
	lost := to - r.off
	rec := r.recordPosition(Record{Kind: KindGap, Offset: r.off, Lost: lost})
	if lost == 0 {
		r.marksSeen-- // it is in no file
	}
	return rec
}

// advanceSegment continues after the read part of a segment: with more of the segment, or the next one. It returns false at
// the journal's end.
func (r *Reader) advanceSegment() (bool, error) {
	if r.ext.sealed {
		r.base = r.ext.end
		r.Close()
		return true, nil
	}
	ext, ok := r.j.extent(r.ext.base, 0)
	switch {
	case !ok || ext.base != r.ext.base: // retired; its file is still open
		r.ext.sealed, r.ext.end = true, max(ext.base, r.ext.end)
	case ext.sealed || ext.id != r.ext.id: // there may be another file by now
		r.Close()
		return true, nil
	case ext.size <= r.ext.size:
		r.Close()
		return false, nil
	default:
		r.ext = ext
	}
	if err := r.setScanLimit(); err != nil {
		r.Close()
		return false, fmt.Errorf("read journal: %w", err)
	}
	return true, nil
}

// atEnd returns a gap that precedes the journal's end, then io.EOF.
func (r *Reader) atEnd() (Record, error) {
	if r.off < r.ext.end {
		return r.gap(r.ext.end), nil
	}
	return Record{}, io.EOF
}

// setScanLimit sets the limit of the scan.
func (r *Reader) setScanLimit() error {
	r.scan.limit = r.ext.size
	if !r.ext.sealed || r.file == nil {
		return nil
	}
	st, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.scan.limit = st.Size()
	return nil
}

// maxOpenTries limits the attempts to open a segment that compaction keeps replacing.
const maxOpenTries = 100

// enter opens the segment of the next record. It returns false if no segment has one.
func (r *Reader) enter() (bool, error) {
	for range maxOpenTries {
		ext, ok := r.j.extent(r.base, r.off)
		if !ok {
			r.ext.end = ext.end
			return false, nil
		}
		if ext.base != r.ext.base {
			r.resume, r.marksSeen = place{}, 0
		}
		r.ext, r.base = ext, ext.base
		if !ext.sealed && r.resume.id == ext.id && r.resume.pos >= ext.size && r.off >= ext.end {
			return false, nil
		}
		same, err := r.open()
		if err != nil {
			r.shut()
			return false, fmt.Errorf("read journal segment %s: %w", segmentName(ext.base), err)
		}
		if same {
			return true, nil
		}
		r.shut() // compacted since the call of extent
		r.j.awaitReplace()
	}
	return false, fmt.Errorf("read journal segment %s: it changes all the time", segmentName(r.base))
}

// open opens the segment ext. A missing one was retired and reads as if empty. same is false if the file is another
// version than ext describes.
func (r *Reader) open() (same bool, err error) {
	r.scan, r.isOpen = walker{scanner: scanner{window: window{ahead: r.ahead}}}, true
	f, _, err := r.j.openSegment(r.ext.base)
	if errors.Is(err, os.ErrNotExist) {
		r.ext.size, r.ext.sealed = 0, true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.file, r.scan.file = f, f
	if err := r.setScanLimit(); err != nil {
		return false, err
	}
	return r.position()
}

// position moves to the next possible record: where this or another reader stopped, or found by bisection.
func (r *Reader) position() (same bool, err error) {
	if _, err := r.scan.readHeader(r.ext.base); err != nil {
		if !errors.Is(err, ErrNewer) {
			return false, err
		}
		r.scan.header.id = 0 // an older longterm reads what it can
	}
	id := r.scan.header.id
	if !r.ext.sealed && id != r.ext.id {
		return false, nil
	}
	r.rereads, r.scan.from = 0, r.off
	if r.resume.pos > 0 && r.resume.id == id {
		r.scan.seek(r.resume)
		return true, nil
	}
	r.rereads = r.marksSeen
	if m, ok := r.j.hint(id, r.ext.base, r.off); ok {
		r.scan.next = m.pos
		return true, nil
	}
	if r.off <= r.ext.base {
		return true, nil
	}
	return true, r.scan.bisect(func(rw *raw) bool { return rw.offset < r.off })
}
