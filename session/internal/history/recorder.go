package history

import (
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Recorder writes the journal.
type Recorder struct {
	Streams
	journal *journal.Journal
	handled uint64 // offset up to which output is journaled or dropped
	failing bool   // the last append failed
}

// Start starts to record a ring's output in a journal. A nil ring has no output.
func (r *Recorder) Start(j *journal.Journal, from *ring.Ring) {
	r.journal = j
	r.ring, r.separate = from, from != nil && from.IsSeparated()
}

// SetEnd sets the offset of the journal's end, once known.
func (r *Recorder) SetEnd(off uint64) {
	r.handled = off
	r.DropBefore(off)
}

// Detach releases the ring.
func (r *Recorder) Detach() { r.ring = nil }

// HandledOffset returns the offset up to which output is journaled or dropped: the ring may overwrite it.
func (r *Recorder) HandledOffset() uint64 { return r.handled }

// IsFailing reports whether the last append failed. Output is not journaled before Retry succeeds.
func (r *Recorder) IsFailing() bool { return r.failing }

// MarkFailing records that the journal cannot be written.
func (r *Recorder) MarkFailing() { r.failing = true }

// RecordOutput journals p, the bytes at off, unless the journal fails, and records their streams. They must be in the
// ring.
func (r *Recorder) RecordOutput(off uint64, p []byte) (err error) {
	if !r.failing {
		if err = r.Append(off, p); err != nil {
			r.failing = true
		} else {
			r.handled = off + uint64(len(p))
		}
	}
	r.noteStreams(off, len(p))
	return err
}

// Append appends p, the bytes at off, after a mark for their streams. The journal has each byte once and at its own
// offset, independent of the owner's state: bytes that it has are skipped, and bytes that it misses become a counted
// gap.
func (r *Recorder) Append(off uint64, p []byte) error {
	if end := r.journal.End(); end > off {
		have := min(end-off, uint64(len(p)))
		off, p = off+have, p[have:]
	}
	if len(p) == 0 {
		return nil
	}
	if err := r.appendGapTo(off); err != nil {
		return err
	}
	if r.separate {
		if err := r.markStreams(off, len(p)); err != nil {
			return err
		}
	}
	return r.journal.AppendOutput(p)
}

// appendGapTo records the bytes between the journal's end and off as a gap.
func (r *Recorder) appendGapTo(off uint64) error {
	end := r.journal.End()
	if end >= off {
		return nil
	}
	return r.journal.AppendGap(off - end)
}

// SkipTo continues at an offset beyond the journal's end. The bytes between become a counted gap.
func (r *Recorder) SkipTo(off uint64) (err error) {
	if err = r.appendGapTo(off); err != nil {
		r.failing = true
	}
	r.handled = off
	return err
}

// Retry tries to journal output that could not be journaled, up to an offset: first the gap of dropped bytes, then
// what the ring still holds. It returns the gap's size.
func (r *Recorder) Retry(off uint64) (gap uint64, ok bool) {
	end := r.journal.End()
	if err := r.appendGapTo(r.handled); err != nil {
		return 0, false
	}
	for r.handled < off {
		p := r.ring.BytesAt(r.handled, r.LimitPiece(int(off-r.handled)))
		if err := r.Append(r.handled, p); err != nil {
			return 0, false
		}
		r.handled += uint64(len(p))
	}
	r.failing = false
	return r.handled - end, true
}

// DropIfRingFills lets the program continue while the journal fails, as on a full disk, instead of blocking it. Once
// the unjournaled output up to off fills three quarters of the ring, it is dropped and counted as a gap.
func (r *Recorder) DropIfRingFills(off uint64) {
	if off-r.handled > uint64(r.ring.Cap())/4*3 || off > r.handled && r.ring.LogUsagePercent() > 75 {
		r.handled = off
	}
}

// AppendMark appends a mark to the journal, unless the journal fails already.
func (r *Recorder) AppendMark(mark []byte) error {
	if r.failing {
		return nil
	}
	err := r.journal.AppendMark(mark)
	r.failing = err != nil
	return err
}

// EndStreamRange ends the range of the newest streams mark: the next owner may have a version that writes none.
func (r *Recorder) EndStreamRange() error {
	if !r.marked || r.failing || r.ring == nil {
		return nil
	}
	r.marked = false
	return r.journal.AppendMark(journal.Streams{Unknown: true}.AppendTo(nil))
}
