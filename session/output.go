package session

import (
	"errors"
	"fmt"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
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

// tap lets followers read the ring beside the owner. The lock keeps the mapping alive
// while it is read.
type tap struct {
	mu   sync.RWMutex
	ring *ring.Ring
}

func (t *tap) read(off uint64, dst []byte) (n int, head uint64, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.ring == nil {
		return 0, 0, false
	}
	n, ok = t.ring.CopyAt(off, dst)
	return n, t.ring.Head(), ok
}

func (t *tap) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring = nil
}

// ErrNoRoom is returned by Fill for a ring that is full.
var ErrNoRoom = errors.New("the ring is full")

// Fill is for a ring that is written in the session's own process: f writes into a prefix of
// room and returns how long that is, and it is published. Followers are kept out of the ring
// meanwhile. A keeper's ring they may read while it is written, as they check afterwards, but
// in one process that is a data race. f must not block, nor keep room.
func (s *Session) Fill(f func(room []byte) (int, error)) (int, error) {
	s.tap.mu.Lock()
	defer s.tap.mu.Unlock()
	room := s.cfg.Ring.Room()
	if room == nil {
		return 0, ErrNoRoom
	}
	n, err := f(room)
	if n > 0 {
		s.cfg.Ring.Publish(n)
	}
	return n, err
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
	n := s.Mask(c.From, c.Data)
	c.Data, c.Next = c.Data[:n], c.Next-uint64(len(c.Data)-n)
	return c, nil
}

// raw is Output as it came.
func (s *Session) raw(from uint64, buf []byte) (Chunk, error) {
	if n, _, ok := s.tap.read(from, buf); ok {
		return Chunk{Data: buf[:n], From: from, Next: from + uint64(n)}, nil
	}
	if end := s.end(); from > end {
		return Chunk{}, fmt.Errorf("%w: %d, the end is %d", ErrFuture, from, end)
	}
	n, next, gap, err := s.cfg.Journal.ReadAt(from, buf)
	if err != nil {
		return Chunk{}, fmt.Errorf("read output at %d: %w", from, err)
	}
	return Chunk{Data: buf[:n], From: next - uint64(n), Next: next, Gap: gap}, nil
}

// end is the offset after the newest byte there is.
func (s *Session) end() uint64 {
	_, head, _ := s.tap.read(0, nil)
	return max(head, s.Status().Offset, s.cfg.Journal.End())
}

// OutputRange is the range of offsets that can be read.
func (s *Session) OutputRange() (start, end uint64) { return s.cfg.Journal.Start(), s.end() }
