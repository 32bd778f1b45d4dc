package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Reader yields a journal's records in order, from an offset on, while others append.
// It is used by one goroutine.
//
//	enter segment ─▶ scan records ─▶ accept (trim, tell gaps) ─▶ Record
//	      ▲                │ end of what is visible
//	      └── next one ────┴──▶ io.EOF, and on from there later
type Reader struct {
	j    *Journal
	off  uint64 // of the first byte not given yet
	base uint64 // enter no segment before this one

	ext    extent // of the segment read last
	resume place  // where to go on in it; no longer good when it was compacted
	seen   int    // records without output given at off, of this segment
	again  int    // as many of them come again
	inside bool   // file and scan are in use
	ahead  int64  // bytes to read at once
	file   File   // nil: the segment is gone
	scan   walker

	damaged bool   // bytes were passed over since the last record given
	given   bool   // a record was given: damage from here on counts
	held    Record // comes after the gap that was just given
	isHeld  bool
	last    mark // of the record given or held last
}

// NewReader makes a reader that begins with the record that holds the byte at from,
// cut to begin there, or with the first record after it.
func (j *Journal) NewReader(from uint64) *Reader { return &Reader{j: j, off: from, ahead: chunk} }

// Next is the next record. io.EOF means that there is none yet: the reader then holds
// no descriptor and can be asked again. What is lost comes as a record of KindGap.
func (r *Reader) Next() (Record, error) {
	if r.isHeld {
		r.isHeld = false
		return r.give(r.held), nil
	}
	for {
		if !r.inside {
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
			if more, err := r.further(); err != nil {
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

// Close gives descriptor and buffer up. The reader can go on being used.
func (r *Reader) Close() {
	if r.inside {
		r.resume = r.scan.here()
	}
	if r.isHeld { // its data is in the buffer
		r.isHeld, r.resume = false, r.last.place
	}
	r.shut()
}

// shut gives descriptor and buffer up.
func (r *Reader) shut() {
	r.scan.free()
	if r.file != nil {
		_ = r.file.Close() // was only read
		r.file = nil
	}
	r.inside = false
}

// accept makes a record of rw, or skips it: it lies before the offset asked for, or
// its kind is not known.
func (r *Reader) accept(rw *raw) (Record, bool) {
	span := rw.span()
	end := rw.offset + span
	if end < r.off || span > 0 && end == r.off {
		return Record{}, false
	}
	if end > r.ext.end { // cannot be: the next segment, or the end, says otherwise
		r.damaged = true
		return Record{}, false
	}
	rec, known := rw.record()
	if !known {
		return Record{}, false
	}
	if r.again > 0 && span == 0 && end == r.off {
		r.again--
		return Record{}, false
	}
	r.again = 0
	r.last = mark{place{r.scan.header.id, rw.pos, rw.index}, r.ext.base, rw.offset, end}
	if rw.offset < r.off {
		rec = rec.from(r.off)
	}
	if rec.Offset > r.off || r.damaged && r.given {
		r.held, r.isHeld = rec, true
		return r.gap(rec.Offset), true
	}
	return r.give(rec), true
}

// from cuts a record of output or of a gap to begin at off, which lies inside.
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

func (r *Reader) give(rec Record) Record {
	end := rec.Offset + rec.Lost
	if rec.Kind == KindOutput {
		end += uint64(len(rec.Data))
	}
	if end == r.off {
		r.seen++
	} else {
		r.off, r.seen = end, 0
	}
	r.given, r.damaged = true, false
	return rec
}

// gap tells that nothing is kept before to.
func (r *Reader) gap(to uint64) Record {
	lost := to - r.off
	rec := r.give(Record{Kind: KindGap, Offset: r.off, Lost: lost})
	if lost == 0 {
		r.seen-- // it is in no file
	}
	return rec
}

// further is called at the end of what was visible of a segment: more of it may be by
// now, or the next one. False: the journal's end is reached.
func (r *Reader) further() (bool, error) {
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
	if err := r.measure(); err != nil {
		r.Close()
		return false, fmt.Errorf("read journal: %w", err)
	}
	return true, nil
}

// atEnd tells a gap before the journal's end, then io.EOF.
func (r *Reader) atEnd() (Record, error) {
	if r.off < r.ext.end {
		return r.gap(r.ext.end), nil
	}
	return Record{}, io.EOF
}

// measure sets how far to scan.
func (r *Reader) measure() error {
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

// maxEnter bounds the versions of a segment that can come and go while it is opened.
const maxEnter = 100

// enter opens the segment that has the next record. False: there is none.
func (r *Reader) enter() (bool, error) {
	for range maxEnter {
		ext, ok := r.j.extent(r.base, r.off)
		if !ok {
			r.ext.end = ext.end
			return false, nil
		}
		if ext.base != r.ext.base {
			r.resume, r.seen = place{}, 0
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
		r.shut() // compacted since extent was asked, or just now
		r.j.awaitNames()
	}
	return false, fmt.Errorf("read journal segment %s: it changes all the time", segmentName(r.base))
}

// open opens the segment ext. One that is gone was retired: it reads as if empty. same
// is false when the file is another version than ext tells about.
func (r *Reader) open() (same bool, err error) {
	r.scan, r.inside = walker{scanner: scanner{window: window{ahead: r.ahead}}}, true
	f, _, err := r.j.openSegment(r.ext.base)
	if errors.Is(err, os.ErrNotExist) {
		r.ext.size, r.ext.sealed = 0, true
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.file, r.scan.file = f, f
	if err := r.measure(); err != nil {
		return false, err
	}
	return r.position()
}

// position moves to where the next record may be: where the reader left off, where
// another one did, or found by bisection.
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
	r.again, r.scan.from = 0, r.off
	if r.resume.pos > 0 && r.resume.id == id {
		r.scan.seek(r.resume)
		return true, nil
	}
	r.again = r.seen
	if m, ok := r.j.hint(id, r.ext.base, r.off); ok {
		r.scan.next = m.pos
		return true, nil
	}
	if r.off <= r.ext.base {
		return true, nil
	}
	return true, r.scan.bisect(func(rw *raw) bool { return rw.offset < r.off })
}
