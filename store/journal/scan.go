package journal

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// Read sizes, in bytes.
const (
	// readSize is the size of sequential reads. It holds a whole record of the largest written size.
	readSize = 128 << 10
	// probeSize is the size of reads at a single place.
	probeSize = 16 << 10
)

var chunks = sync.Pool{New: func() any { b := make([]byte, 0, readSize); return &b }}

// window reads a file in pieces, so that at most one record or readSize bytes are in memory.
type window struct {
	file  io.ReaderAt
	limit int64 // end of the readable part of the file
	ahead int64 // read-ahead size in bytes, at most readSize unless a record is longer
	pos   int64 // file position of buf[0]
	buf   []byte
	pool  *[]byte
}

func (w *window) free() {
	if w.pool != nil {
		if cap(w.buf) == readSize {
			*w.pool = w.buf[:0]
		}
		chunks.Put(w.pool)
	}
	*w = window{}
}

// bytesAt returns the n bytes at pos, which must lie before limit. They are valid until the next call.
func (w *window) bytesAt(pos, n int64) ([]byte, error) {
	if pos < w.pos || pos+n > w.pos+int64(len(w.buf)) {
		if err := w.load(pos, n); err != nil {
			return nil, err
		}
	}
	i := pos - w.pos
	return w.buf[i : i+n], nil
}

func (w *window) load(pos, n int64) error {
	if w.pool == nil {
		w.pool = chunks.Get().(*[]byte)
		w.buf = *w.pool
	}
	want := min(max(n, w.ahead, probeSize), w.limit-pos)
	kept := 0
	if have := w.pos + int64(len(w.buf)); pos >= w.pos && pos < have {
		kept = copy(w.buf, w.buf[pos-w.pos:])
	}
	if int64(cap(w.buf)) < want {
		grown := make([]byte, want)
		copy(grown, w.buf[:kept])
		w.buf = grown
	}
	w.pos, w.buf = pos, w.buf[:want]
	got, err := w.file.ReadAt(w.buf[kept:], pos+int64(kept))
	if int64(kept+got) >= n {
		w.buf = w.buf[:kept+got]
		return nil
	}
	w.buf = w.buf[:0]
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// find returns the position of the first pattern in [pos, end), or -1.
func (w *window) find(pattern []byte, pos, end int64) (int64, error) {
	overlap := int64(len(pattern) - 1)
	end = min(end, w.limit)
	for pos+int64(len(pattern)) <= end {
		if _, err := w.bytesAt(pos, min(probeSize, end-pos)); err != nil {
			return -1, err
		}
		rest := w.buf[pos-w.pos:]
		if i := bytes.Index(rest, pattern); i >= 0 {
			return pos + int64(i), nil
		}
		pos += int64(len(rest)) - overlap
	}
	return -1, nil
}

// scanner iterates over the records of a segment and finds the next one after damage.
type scanner struct {
	window
	header header
	next   int64 // expected file position of the next record
}

// record returns the next whole record and the number of bytes skipped to find it. Without one that starts before until
// it returns io.EOF, with the same count.
func (s *scanner) record(until int64) (r raw, skipped int64, err error) {
	from := s.next
	until = min(until, s.limit)
	sync := le.AppendUint32(nil, s.header.id)
	for s.header.id != 0 && s.next < until {
		r, ok, err := s.parse(s.next)
		if err != nil {
			return raw{}, 0, err
		}
		if ok {
			s.next += r.size()
			return r, r.pos - from, nil
		}
		at, err := s.find(sync, s.next+1+4, until+8) // the id stands 4 bytes into a record
		if err != nil {
			return raw{}, 0, err
		}
		if at < 0 {
			break
		}
		s.next = at - 4
	}
	s.next = max(until, from)
	return raw{}, s.next - from, io.EOF
}

// parse decodes the record at pos.
func (s *scanner) parse(pos int64) (raw, bool, error) {
	if pos+recordHead > s.limit {
		return raw{}, false, nil
	}
	head, err := s.bytesAt(pos, recordHead)
	if err != nil {
		return raw{}, false, err
	}
	n := recordLength(head, s.header.id)
	if n == 0 || pos+n > s.limit {
		return raw{}, false, nil
	}
	b, err := s.bytesAt(pos, n)
	if err != nil {
		return raw{}, false, err
	}
	r, ok := decodeRecord(b, s.header.id)
	r.pos = pos
	return r, ok && r.offset >= s.header.base && r.offset+r.span() <= maxOffset, nil
}

// bisect moves to a record at most about probeSize before the first one for which before is false. before must hold for
// a prefix of the records.
func (s *scanner) bisect(before func(*raw) bool) error {
	ahead := s.ahead
	defer func() { s.ahead = ahead }()
	s.ahead = probeSize
	lo, hi := s.header.length, s.limit
	for hi-lo > probeSize {
		mid := lo + (hi-lo)/2
		s.next = mid
		r, _, err := s.record(hi)
		switch {
		case errors.Is(err, io.EOF):
			hi = mid
		case err != nil:
			return err
		case before(&r):
			lo = r.pos
		default:
			hi = mid
		}
	}
	s.next = lo
	return nil
}

// readHeader reads a segment's header. If the header is damaged, it takes the id from the first record, whose position
// is known, and base from the file's name. An id of 0 means that nothing can be read.
func (s *scanner) readHeader(base uint64) (intact bool, err error) {
	s.header = header{length: headerSize, base: base}
	s.next = headerSize
	b := make([]byte, min(headerSize, s.limit))
	if _, err := s.file.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	h, err := decodeHeader(b)
	if err == nil && h.base == base {
		s.header, s.next = h, h.length
		return true, nil
	}
	if errors.Is(err, ErrNewer) {
		return false, err
	}
	if s.limit < headerSize+recordHead {
		return false, nil
	}
	if b, err = s.bytesAt(headerSize, recordHead); err != nil {
		return false, err
	}
	s.header.id = le.Uint32(b[4:])
	if _, ok, err := s.parse(headerSize); err != nil || !ok {
		s.header.id = 0
		return false, err
	}
	return false, nil
}
