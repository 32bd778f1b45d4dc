package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/store/journal"
)

// ErrFuture is returned for offsets that have not been printed yet.
var ErrFuture = errors.New("offset lies beyond the end of the output")

// Chunk is a piece of output.
type Chunk struct {
	Data []byte
	From uint64 // offset of Data[0]
	Next uint64 // offset after Data: where to read on
	Gap  uint64 // bytes lost between the offset asked for and From
}

// ErrNoRoom is returned by Fill for a ring that is full.
var ErrNoRoom = history.ErrNoRoom

// Fill is for a ring that is written in the session's own process: f writes into a prefix of
// room and returns how long that is, and it is published. Followers are kept out of the ring
// meanwhile. A keeper's ring they may read while it is written, as they check afterwards, but
// in one process that is a data race. f must not block, nor keep room.
func (s *Session) Fill(f func(room []byte) (int, error)) (int, error) {
	return s.followers.Fill(s.cfg.Ring, f)
}

// Output reads up to len(buf) bytes from an offset: what was printed a moment ago from
// the ring, the rest from the journal. No data and no error: nothing newer is there.
// The nonce of the shell's marks is hidden. It may be called from any goroutine and never
// waits for the owner.
func (s *Session) Output(from uint64, buf []byte) (Chunk, error) {
	c, err := s.raw(from, buf)
	if err != nil {
		return c, err
	}
	s.Mask(c.From, c.Data)
	return c, nil
}

// Hide masks the secrets that are known in data, output from an offset on that was read by Output. Each
// reading masks the same bytes, and only whole secrets: WaitSettled before it, where more may come. It may be called from
// any goroutine.
func (s *Session) Hide(from uint64, data []byte) {
	set := s.Secrets()
	if set.Empty() || len(data) == 0 {
		return
	}
	before := s.before(from)
	after := s.after(from+uint64(len(data)), secrets.Reach+lineReach)
	all := append(append(make([]byte, 0, len(before)+len(data)+len(after)), before...), data...)
	all = append(all, wholeLines(after)...)
	set.Mask(all, from-uint64(len(before)), len(before), len(before)+len(data))
	copy(data, all[len(before):len(before)+len(data)])
}

// before is the output that ends at an offset, as far back as it is there, at most Reach.
func (s *Session) before(end uint64) (b []byte) {
	at := end - min(end, secrets.Reach)
	for room := make([]byte, end-at); at < end; {
		c, err := s.raw(at, room[len(b):])
		if err != nil || c.Next == at {
			return nil
		}
		if c.Gap > 0 { // what came before is lost, or does not go on
			b = append(room[:0], c.Data...)
		} else {
			b = room[:len(b)+len(c.Data)]
		}
		if c.From >= end {
			return nil
		}
		at = c.Next
		b = b[:uint64(len(b))-(max(at, end)-end)]
	}
	return b
}

// after returns the output from an offset on that is there, at most n bytes.
func (s *Session) after(from uint64, n int) (b []byte) {
	for room := make([]byte, n); len(b) < n; {
		c, err := s.raw(from, room[len(b):])
		if err != nil || c.Gap > 0 || len(c.Data) == 0 {
			return b
		}
		b, from = room[:len(b)+len(c.Data)], c.Next
	}
	return b
}

// lineReach is how much more is read than has to be, to end where a line does: within one, what comes next may change how
// its end reads, and all would be looked through for that.
const lineReach = 512

// wholeLines is what comes after output up to the last end of a line, if that is as far as has to be looked.
func wholeLines(after []byte) []byte {
	if len(after) > secrets.Reach {
		return after[:secrets.Reach+bytes.LastIndexByte(after[secrets.Reach:], '\n')+1]
	}
	return after
}

// Secrets is what Hide masks now: another set once more is known.
func (s *Session) Secrets() *secrets.Set { return s.cfg.Known.Set() }

// raw is Output as it came.
func (s *Session) raw(from uint64, buf []byte) (Chunk, error) {
	if n, _, ok := s.followers.Read(from, buf); ok {
		return Chunk{Data: buf[:n], From: from, Next: from + uint64(n)}, nil
	}
	end := s.end()
	if from > end {
		return Chunk{}, fmt.Errorf("%w: %d, the end is %d", ErrFuture, from, end)
	}
	kept, ring := s.followers.Kept() // before where the journal ends: what was given back by now is in it, or lost
	if !ring && s.detached.Load() {
		kept, ring = end, true
	}
	if ring && from < kept && from >= s.cfg.Journal.End() {
		return s.afterLoss(from, kept, buf), nil
	}
	n, next, gap, err := s.cfg.Journal.ReadAt(from, buf)
	if errors.Is(err, journal.ErrFuture) { // it is not there yet, and was in the ring a moment ago
		return Chunk{From: from, Next: from}, nil
	}
	if err != nil {
		return Chunk{}, fmt.Errorf("read output at %d: %w", from, err)
	}
	return Chunk{Data: buf[:n], From: next - uint64(n), Next: next, Gap: gap}, nil
}

// afterLoss is what comes after output that the disk did not take and the ring does not have any more. The journal has a gap
// there once it can be written again, which who reads on does not wait for.
func (s *Session) afterLoss(from, kept uint64, buf []byte) Chunk {
	n, _, _ := s.followers.Read(kept, buf) // nothing, where that was given back meanwhile: it is asked for again
	return Chunk{Data: buf[:n], From: kept, Next: kept + uint64(n), Gap: kept - from}
}

// end is the offset after the newest byte there is.
func (s *Session) end() uint64 {
	_, head, _ := s.followers.Read(0, nil)
	return max(head, s.Status().Offset, s.cfg.Journal.End())
}

// Journal is what was printed, to be read.
func (s *Session) Journal() *journal.Journal { return s.cfg.Journal }

// OutputRange is the range of offsets that can be read.
func (s *Session) OutputRange() (start, end uint64) { return s.cfg.Journal.Start(), s.end() }

// What output is, under the session's name.
type (
	// Stream is where output came from.
	Stream = history.Stream
	// StreamRun is a number of output bytes of one stream.
	StreamRun = history.StreamRun
)

// Streams.
const (
	Merged = history.Merged // a terminal, or one pipe for both
	Stdout = history.Stdout
	Stderr = history.Stderr
)

// Streams is what the output in [from, to) is, in order: one run of Merged when that is
// not known. It may be called from any goroutine.
func (s *Session) Streams(from, to uint64) ([]StreamRun, error) {
	return s.history.record.Runs(s.cfg.Journal, from, to)
}

// OutputApart is Output with what its bytes are. It may give less than there is: what its
// owner has not seen yet, and more than so many runs, come next time.
func (s *Session) OutputApart(from uint64, buf []byte) (Chunk, []StreamRun, error) {
	if end, ok := s.history.record.Known(); ok {
		buf = buf[:min(uint64(len(buf)), max(end, from)-from)]
	}
	c, err := s.Output(from, buf)
	if err != nil || len(c.Data) == 0 {
		return c, nil, err
	}
	if end, ok := s.history.record.Known(); ok && c.Next > max(end, c.From) { // it begins later, after a loss
		c.Next = max(end, c.From)
		if c.Data = c.Data[:c.Next-c.From]; len(c.Data) == 0 {
			return c, nil, nil
		}
	}
	runs, err := s.Streams(c.From, c.Next)
	if err != nil {
		return Chunk{}, nil, err
	}
	if len(runs) > history.MaxRuns {
		runs = runs[:history.MaxRuns]
		n := 0
		for _, r := range runs {
			n += r.Bytes
		}
		c.Data, c.Next = c.Data[:n], c.From+uint64(n)
	}
	return c, runs, nil
}

// salvageMax bounds what one call of Salvage takes, in bytes.
const salvageMax = 1 << 20

// Salvage takes what a terminal still holds after its keeper has died: no other process fills the
// ring then, so its owner may. read reads without waiting and returns 0 when nothing is left.
// more: the bound was reached before that.
func (s *Session) Salvage(ctx context.Context, read func([]byte) int) (more bool, err error) {
	err = s.do(ctx, func() {
		s.drainAll()
		for taken := 0; s.ring != nil && taken < salvageMax; {
			room := s.ring.Room()
			if len(room) == 0 { // the journal fails; drain makes room in time
				return
			}
			n := read(room)
			if n <= 0 {
				return
			}
			s.ring.Publish(n)
			s.drainAll()
			taken += n
		}
		more = s.ring != nil
	})
	return more, err
}

func (s *Session) drainAll() {
	for s.drain() {
	}
}
