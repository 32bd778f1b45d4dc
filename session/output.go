package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/store/journal"
)

// ErrFuture is returned for offsets that have not been printed yet.
var ErrFuture = errors.New("offset lies beyond the end of the output")

// Chunk is a piece of output.
type Chunk struct {
	Data []byte // a part of the buffer of the call
	From uint64 // offset of Data[0]
	Next uint64 // offset after Data: where to read on
	Gap  uint64 // bytes lost between the requested offset and From
}

// ErrRingFull is returned by WriteRing for a full ring.
var ErrRingFull = history.ErrRingFull

// WriteRing writes to a ring whose writer is in the session's own process. f fills a prefix of room and returns its
// length, which is then published. Followers cannot read the ring during the call. They may read a keeper's ring during
// writes, as they validate afterwards, but within one process that is a data race. f must not block or retain room.
func (s *Session) WriteRing(f func(room []byte) (int, error)) (int, error) {
	return s.followers.Fill(s.cfg.Ring, f)
}

// Output reads up to len(buf) bytes from an offset: recent output from the ring, older output from the journal. It
// returns no data and no error at the end of the output. The nonce of the shell's marks is masked. It may be called
// from any goroutine and never waits for the owner.
func (s *Session) Output(from uint64, buf []byte) (Chunk, error) {
	c, err := s.readUnmasked(from, buf)
	if err != nil {
		return c, err
	}
	s.MaskNonce(c.From, c.Data)
	return c, nil
}

// Redact masks known secrets in data, which Output returned for an offset. Each call masks the same bytes, and only
// whole secrets: if more output may follow, call WaitSettled first. It may be called from any goroutine.
func (s *Session) Redact(from uint64, data []byte) {
	set := s.KnownSecrets()
	if set.Empty() || len(data) == 0 {
		return
	}
	before := s.outputBefore(from)
	after := s.outputAfter(from+uint64(len(data)), redact.ContextBytes+maxLineReach)
	all := append(append(make([]byte, 0, len(before)+len(data)+len(after)), before...), data...)
	all = append(all, cutAtLineEnd(after)...)
	set.Redact(all, from-uint64(len(before)), len(before), len(before)+len(data))
	copy(data, all[len(before):len(before)+len(data)])
}

// outputBefore returns the output that ends at an offset, as far back as available, at most redact.ContextBytes bytes.
func (s *Session) outputBefore(end uint64) (b []byte) {
	at := end - min(end, redact.ContextBytes)
	for room := make([]byte, end-at); at < end; {
		c, err := s.readUnmasked(at, room[len(b):])
		if err != nil || c.Next == at {
			return nil
		}
		if c.Gap > 0 { // output before the gap is lost, or not contiguous
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

// outputAfter returns the available output from an offset on, at most n bytes.
func (s *Session) outputAfter(from uint64, n int) (b []byte) {
	for room := make([]byte, n); len(b) < n; {
		c, err := s.readUnmasked(from, room[len(b):])
		if err != nil || c.Gap > 0 || len(c.Data) == 0 {
			return b
		}
		b, from = room[:len(b)+len(c.Data)], c.Next
	}
	return b
}

// maxLineReach is how much extra output is read to end at a line's end. Within a line, further output may change how
// its end is read, and all of it would be searched again.
const maxLineReach = 512

// cutAtLineEnd cuts after at the last line end behind redact.ContextBytes bytes.
func cutAtLineEnd(after []byte) []byte {
	if len(after) > redact.ContextBytes {
		return after[:redact.ContextBytes+bytes.LastIndexByte(after[redact.ContextBytes:], '\n')+1]
	}
	return after
}

// KnownSecrets returns the secrets that Redact masks now. The returned pointer changes when a secret is added.
func (s *Session) KnownSecrets() *redact.Set { return s.cfg.Vault.Set() }

// readUnmasked works like Output without masking.
func (s *Session) readUnmasked(from uint64, buf []byte) (Chunk, error) {
	if n, _, ok := s.followers.Read(from, buf); ok {
		return Chunk{Data: buf[:n], From: from, Next: from + uint64(n)}, nil
	}
	end := s.outputEnd()
	if from > end {
		return Chunk{}, fmt.Errorf("%w: %d, the end is %d", ErrFuture, from, end)
	}
	// read before the journal's end: acknowledged output is then in the journal, or lost
	kept, ring := s.followers.OldestOffset()
	if !ring && s.detached.Load() {
		kept, ring = end, true
	}
	if ring && from < kept && from >= s.cfg.Journal.End() {
		return s.readAfterLoss(from, kept, buf), nil
	}
	n, next, gap, err := s.cfg.Journal.ReadAt(from, buf)
	if errors.Is(err, journal.ErrFuture) { // not journaled yet, and in the ring a moment ago
		return Chunk{From: from, Next: from}, nil
	}
	if err != nil {
		return Chunk{}, fmt.Errorf("read output at %d: %w", from, err)
	}
	return Chunk{Data: buf[:n], From: next - uint64(n), Next: next, Gap: gap}, nil
}

// readAfterLoss returns the output after bytes that the disk did not accept and the ring no longer has. The journal gets
// a gap there once it can be written again. A reader does not wait for that.
func (s *Session) readAfterLoss(from, kept uint64, buf []byte) Chunk {
	n, _, _ := s.followers.Read(kept, buf) // empty if released already: the caller reads again
	return Chunk{Data: buf[:n], From: kept, Next: kept + uint64(n), Gap: kept - from}
}

// outputEnd returns the offset after the newest byte.
func (s *Session) outputEnd() uint64 {
	_, head, _ := s.followers.Read(0, nil)
	return max(head, s.Status().Offset, s.cfg.Journal.End())
}

// Journal returns the session's journal for reading.
func (s *Session) Journal() *journal.Journal { return s.cfg.Journal }

// OutputRange returns the range of readable offsets.
func (s *Session) OutputRange() (start, end uint64) { return s.cfg.Journal.Start(), s.outputEnd() }

// Streams of output, as named in package history.
type (
	// Stream is the source of output.
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

// Streams returns the stream runs of the output in [from, to), in order, or one run of Merged if they are unknown. It
// may be called from any goroutine.
func (s *Session) Streams(from, to uint64) ([]StreamRun, error) {
	return s.history.recorder.Runs(s.cfg.Journal, from, to)
}

// OutputByStream works like Output and also returns the streams of the bytes. It may return less than is available:
// bytes that the owner has not handled, or runs above a limit, follow with the next call.
func (s *Session) OutputByStream(from uint64, buf []byte) (Chunk, []StreamRun, error) {
	if end, ok := s.history.recorder.KnownEnd(); ok {
		buf = buf[:min(uint64(len(buf)), max(end, from)-from)]
	}
	c, err := s.Output(from, buf)
	if err != nil || len(c.Data) == 0 {
		return c, nil, err
	}
	if end, ok := s.history.recorder.KnownEnd(); ok && c.Next > max(end, c.From) { // it starts later, after a loss
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

// maxDeadTerminalBytes bounds the bytes of one call of DrainDeadTerminal.
const maxDeadTerminalBytes = 1 << 20

// DrainDeadTerminal reads the remaining output of a terminal whose keeper has died. The keeper was the only writer of
// the ring, so the owner may write to it now. read must not wait and returns 0 at the end. more reports that the bound
// was reached first.
func (s *Session) DrainDeadTerminal(ctx context.Context, read func([]byte) int) (more bool, err error) {
	err = s.do(ctx, func() {
		s.drainAll()
		for total := 0; s.ring != nil && total < maxDeadTerminalBytes; {
			room := s.ring.Room()
			if len(room) == 0 { // the journal fails; drain makes room later
				return
			}
			n := read(room)
			if n <= 0 {
				return
			}
			s.ring.Publish(n)
			s.drainAll()
			total += n
		}
		more = s.ring != nil
	})
	return more, err
}

// drainAll drains the ring completely.
func (s *Session) drainAll() {
	for s.drain() {
	}
}
