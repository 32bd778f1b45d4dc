package history

import (
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Recorder writes the journal.
type Recorder struct {
	Streams
	journal *journal.Journal
	done    uint64 // offset up to which output is journaled, or given up
	failing bool   // the last append failed
}

// Begin starts to record a ring's output in a journal. A nil ring has no output.
func (r *Recorder) Begin(j *journal.Journal, from *ring.Ring) {
	r.journal = j
	r.ring, r.apart = from, from != nil && from.IsSeparated()
}

// StandAt sets the offset of the journal's end, once known.
func (r *Recorder) StandAt(off uint64) {
	r.done = off
	r.Forget(off)
}

// Detach releases the ring.
func (r *Recorder) Detach() { r.ring = nil }

// Done returns the offset up to which output is journaled or abandoned: the ring may overwrite it.
func (r *Recorder) Done() uint64 { return r.done }

// Failing reports whether the last append failed. Output is not journaled before Retry succeeds.
func (r *Recorder) Failing() bool { return r.failing }

// Fail notes that the journal cannot be written.
func (r *Recorder) Fail() { r.failing = true }

// Output journals p, the bytes at off, unless the journal fails, and remembers their streams. They must be in the ring.
func (r *Recorder) Output(off uint64, p []byte) (err error) {
	if !r.failing {
		if err = r.Append(off, p); err != nil {
			r.failing = true
		} else {
			r.done = off + uint64(len(p))
		}
	}
	r.record(off, len(p))
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
	if err := r.reach(off); err != nil {
		return err
	}
	if r.apart {
		if err := r.mark(off, len(p)); err != nil {
			return err
		}
	}
	return r.journal.AppendOutput(p)
}

// reach makes what the journal lacks before off a gap.
func (r *Recorder) reach(off uint64) error {
	end := r.journal.End()
	if end >= off {
		return nil
	}
	return r.journal.AppendGap(off - end)
}

// Skip continues at an offset beyond the journal's end; the bytes between become a counted gap.
func (r *Recorder) Skip(off uint64) (err error) {
	if err = r.reach(off); err != nil {
		r.failing = true
	}
	r.done = off
	return err
}

// Retry tries to journal what could not be, up to an offset: first the gap, if bytes were given
// up, then what the ring still holds. It returns the gap's size.
func (r *Recorder) Retry(off uint64) (gap uint64, ok bool) {
	end := r.journal.End()
	if err := r.reach(r.done); err != nil {
		return 0, false
	}
	for r.done < off {
		p := r.ring.BytesAt(r.done, r.Piece(int(off-r.done)))
		if err := r.Append(r.done, p); err != nil {
			return 0, false
		}
		r.done += uint64(len(p))
	}
	r.failing = false
	return r.done - end, true
}

// MakeRoom keeps the program running while the journal fails, as on a full disk: no backpressure; once the output up to
// off that could not be journaled fills three quarters of the ring, it is dropped and counted as a gap.
func (r *Recorder) MakeRoom(off uint64) {
	if off-r.done > uint64(r.ring.Cap())/4*3 || off > r.done && r.ring.LogUsagePercent() > 75 {
		r.done = off
	}
}

// Mark puts a mark into the journal, unless that fails already.
func (r *Recorder) Mark(mark []byte) error {
	if r.failing {
		return nil
	}
	err := r.journal.AppendMark(mark)
	r.failing = err != nil
	return err
}

// Leave ends the range of the newest streams mark: the next owner may have a version that writes none.
func (r *Recorder) Leave() error {
	if !r.marked || r.failing || r.ring == nil {
		return nil
	}
	r.marked = false
	return r.journal.AppendMark(journal.Streams{Unknown: true}.AppendTo(nil))
}
