package journal

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// ReadAt reads output from an offset into dst, up to the next gap. gap counts the lost bytes between off and the data.
// next is the offset after the data, off+gap+n. At the journal's end n is 0. ReadAt is safe for concurrent use.
func (j *Journal) ReadAt(off uint64, dst []byte) (n int, next, gap uint64, err error) {
	if end := j.End(); off > end {
		return 0, off, 0, fmt.Errorf("%w: %d, the end is %d", ErrFuture, off, end)
	}
	r := j.NewReader(off)
	r.ahead = min(int64(len(dst))+recordHead+recordTail, readSize)
	defer r.Close()
	for n < len(dst) {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return n, off + gap + uint64(n), gap, err
		}
		if rec.Kind == KindGap && n > 0 && rec.Lost > 0 {
			break
		}
		gap += rec.Lost
		if rec.Kind == KindOutput {
			n += copy(dst[n:], rec.Data)
		}
	}
	j.remember(r.last)
	return n, off + gap + uint64(n), gap, nil
}

// LastOutput returns when the last output was appended, or zero if the journal has none or its time is lost.
func (j *Journal) LastOutput() (time.Time, error) {
	end := j.End()
	if end == 0 {
		return time.Time{}, nil
	}
	r := j.NewReader(end - 1)
	r.ahead = tailRead
	defer r.Close()
	rec, err := r.Next()
	if errors.Is(err, io.EOF) || err == nil && rec.Kind != KindOutput {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find the last output: %w", err)
	}
	return rec.Time, nil
}

// tailRead is the number of bytes read to find a journal's last record: most records are shorter.
const tailRead = 4 << 10

// OffsetAt returns the offset of the first output at or after t, or End without any. If the clock was set back, it
// returns one of the offsets at which the time passes t.
func (j *Journal) OffsetAt(t time.Time) (uint64, error) {
	r := j.NewReader(0)
	defer r.Close()
	if err := r.seekTime(t); err != nil {
		return 0, fmt.Errorf("search journal by time: %w", err)
	}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return j.End(), nil
		}
		if err != nil {
			return 0, err
		}
		if rec.Kind == KindOutput && !rec.Time.Before(t) {
			return rec.Offset, nil
		}
	}
}

// seekTime moves to a position shortly before the first record at or after t.
func (r *Reader) seekTime(t time.Time) error {
	at := t.UnixNano()
	bases := r.j.bases()
	for i := len(bases) - 1; i >= 0; i-- {
		r.Close()
		r.base, r.off, r.resume, r.marksSeen = bases[i], bases[i], place{}, 0
		ok, err := r.enter()
		if err != nil {
			return err
		}
		// A damaged header has no time: the segment before decides.
		if created := r.scan.header.created; ok && created != 0 && created < at {
			return r.scan.bisect(func(rw *raw) bool { return rw.time < at })
		}
	}
	return nil
}
