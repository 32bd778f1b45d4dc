package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// recoverBytes is the size of the end of a damaged segment that is searched for whole records first.
const recoverBytes = 4 * maxLength

// damagedSuffix is the suffix of an unreadable segment's name.
const damagedSuffix = ".damaged"

// Recovery describes the damage that Open found at a journal's end.
type Recovery struct {
	Cut    int64  // bytes removed from the end of the last segment
	Reason string // human-readable; "" without damage
	// Pending is the error that prevents the removal. Readers do not see the bytes, and appends fail until it succeeds.
	Pending error
}

// recover finds the end of the last segment. It searches the segment only if the last record is damaged.
func (j *Journal) recover() (Recovery, error) {
	if len(j.segments) == 0 {
		return Recovery{}, nil
	}
	t := &j.tail
	base := j.segments[len(j.segments)-1]
	f, size, err := j.openSegment(base)
	if err != nil {
		return Recovery{}, err
	}
	s := scanner{window: window{file: f, limit: size, ahead: readSize}}
	defer s.free()
	_, err = s.readHeader(base)
	if err == nil && s.header.id == 0 {
		return j.quarantineSegment(base, size, f)
	}
	var end tailEnd
	if err == nil {
		end, err = s.findEnd()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Recovery{}, err
	}
	t.header, t.size, t.off = s.header, end.pos, end.off
	if end.pos == size {
		return Recovery{}, nil
	}
	t.untrimmed = true
	t.mu.Lock()
	defer t.mu.Unlock()
	return Recovery{Cut: size - end.pos, Reason: end.reason, Pending: j.trimOnce()}, nil
}

// trimOnce cuts the tail without keeping a descriptor.
func (j *Journal) trimOnce() error {
	err := j.trimLocked()
	j.shutLocked()
	return err
}

// quarantineSegment handles an unreadable last segment: its creation was interrupted, or its header is damaged beyond
// repair. The journal continues at its base.
func (j *Journal) quarantineSegment(base uint64, size int64, f File) (Recovery, error) {
	if err := f.Close(); err != nil {
		return Recovery{}, err
	}
	j.segments = j.segments[:len(j.segments)-1]
	j.tail.off = base
	r := Recovery{Cut: size, Reason: "a segment was started and not written"}
	if size > headerSize {
		name := j.path(base)
		r.Reason = fmt.Sprintf("segment %s has a damaged head; it was renamed to *.damaged", segmentName(base))
		if err := j.opt.FS.Rename(name, name+damagedSuffix); err != nil {
			return r, err
		}
	}
	return r, nil
}

// openSegment opens a segment for reading.
func (j *Journal) openSegment(base uint64) (File, int64, error) {
	f, err := j.opt.FS.OpenFile(j.path(base), os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, st.Size(), nil
}

// tailEnd is the position at which the whole records of a segment end.
type tailEnd struct {
	pos    int64
	off    uint64 // offset at pos
	reason string // why bytes follow pos
}

// findEnd finds the end of the last whole record.
func (s *scanner) findEnd() (tailEnd, error) {
	first := s.next
	if s.limit <= first {
		return tailEnd{pos: s.limit, off: s.header.base}, nil
	}
	if r, ok, err := s.last(); err != nil || ok {
		return tailEnd{pos: s.limit, off: r.offset + r.span()}, err
	}
	for _, from := range []int64{s.limit - recoverBytes, first} {
		if from < first {
			continue
		}
		s.next = from
		end, found, err := s.lastFrom()
		if err != nil || found {
			return end, err
		}
	}
	return tailEnd{pos: first, off: s.header.base, reason: s.diagnose(first)}, nil
}

// last returns the record that ends where the file ends.
func (s *scanner) last() (raw, bool, error) {
	if s.limit < s.next+recordHead+recordTail {
		return raw{}, false, nil
	}
	b, err := s.bytesAt(s.limit-recordTail, recordTail)
	if err != nil {
		return raw{}, false, err
	}
	pos := s.limit - recordHead - recordTail - int64(le.Uint32(b))
	if pos < s.next {
		return raw{}, false, nil
	}
	r, ok, err := s.parse(pos)
	return r, ok && pos+r.size() == s.limit, err
}

// lastFrom walks from s.next to the last whole record.
func (s *scanner) lastFrom() (end tailEnd, found bool, err error) {
	for {
		r, _, err := s.record(s.limit)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return tailEnd{}, false, err
		}
		end, found = tailEnd{pos: r.pos + r.size(), off: r.offset + r.span()}, true
	}
	if found {
		end.reason = s.diagnose(end.pos)
	}
	return end, found, nil
}

// diagnose returns the reason why no whole record starts at pos.
func (s *scanner) diagnose(pos int64) string {
	if pos+recordHead > s.limit {
		return "the last record is incomplete"
	}
	head, err := s.bytesAt(pos, recordHead)
	if err != nil {
		return err.Error()
	}
	switch n := recordLength(head, s.header.id); {
	case n == 0:
		return "invalid bytes after the last whole record"
	case pos+n > s.limit:
		return "the last record is incomplete"
	}
	return "the last record fails its checksum"
}
