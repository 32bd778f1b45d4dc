package session

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Stdout and stderr of a session on two pipes. The ring says which bytes are which, the
// journal keeps it: a mark before the output it speaks of. Whoever was killed between the
// two finds the bytes in the ring still, and the ring's log with them.

// Stream is where output came from.
type Stream uint8

// Streams.
const (
	Merged Stream = iota // a terminal, or one pipe for both
	Stdout
	Stderr
)

func (s Stream) String() string { return [...]string{"merged", "stdout", "stderr"}[s] }

// StreamRun is a number of output bytes of one stream.
type StreamRun struct {
	Stream Stream
	Bytes  int
}

const (
	// markBytes is how much output there is at most between two marks, as far as they are
	// written, and in a piece.
	markBytes = 64 << 10
	// markReach is how far before a byte the mark that speaks of it can be.
	markReach = 2 * markBytes
	// maxChanges bounds what is kept in memory for those who follow; others ask the journal.
	maxChanges = 4096
	// maxRuns bounds the runs of one answer.
	maxRuns = 1024
)

// change says that the output from at on is of a stream.
type change struct {
	at     uint64
	stream Stream
}

// streams is what a session knows of its streams.
type streams struct {
	ring  *ring.Ring
	apart bool // the ring tells them apart

	// The owner's, about the journal.
	marked  bool   // there is a mark of this owner
	at      uint64 // offset of the newest one
	current Stream // what goes on after it
	runs    []ring.Run

	mu      sync.Mutex
	changes []change // from since to end, oldest first; the first one is at since
	since   uint64
	end     uint64
}

func (st *streams) begin(r *ring.Ring) {
	st.ring, st.apart = r, r != nil && r.Separated()
}

// beginAt is called when it is known where the journal ends.
func (st *streams) beginAt(off uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.since, st.end, st.changes = off, off, nil
}

// piece bounds what is taken at once, so that each piece can have its mark.
func (st *streams) piece(n int) int {
	if st.apart {
		return min(n, markBytes)
	}
	return n
}

// of is what the n bytes at off are. They must be in the ring.
func (st *streams) of(off uint64, n int) (runs []ring.Run, known bool) {
	st.runs, known = st.ring.Runs(st.runs[:0], off, off+uint64(n))
	return st.runs, known
}

// took is told of output in the order it comes, and remembers what it is.
func (st *streams) took(off uint64, n int) {
	if !st.apart {
		return
	}
	runs, known := st.of(off, n)
	st.mu.Lock()
	defer st.mu.Unlock()
	if !known {
		st.changeTo(off, Merged)
	}
	for _, r := range runs {
		st.changeTo(off, streamOf(r.Stream))
		off += uint64(r.Bytes)
	}
	st.end = max(st.end, off)
	if !known {
		st.end += uint64(n)
	}
	if len(st.changes) > maxChanges {
		st.changes = append(st.changes[:0], st.changes[len(st.changes)-maxChanges/2:]...)
		st.since = st.changes[0].at
	}
}

func streamOf(s ring.Stream) Stream { return Stdout + Stream(s) }

func (st *streams) changeTo(off uint64, s Stream) {
	if n := len(st.changes); n == 0 || st.changes[n-1].stream != s {
		st.changes = append(st.changes, change{off, s})
	}
}

// journalOutput appends p, the bytes at off, after what is to be said of their streams. The
// journal has each byte once and at its own offset, whatever its owner believes: what it has
// is left out, what it does not reach is a counted gap.
func (s *Session) journalOutput(off uint64, p []byte) error {
	if end := s.cfg.Journal.End(); end > off {
		have := min(end-off, uint64(len(p)))
		off, p = off+have, p[have:]
	}
	if len(p) == 0 {
		return nil
	}
	if err := s.reach(off); err != nil {
		return err
	}
	if s.streams.apart {
		if err := s.markStreams(off, len(p)); err != nil {
			return err
		}
	}
	return s.cfg.Journal.AppendOutput(p)
}

// reach makes what the journal lacks before off a gap.
func (s *Session) reach(off uint64) error {
	end := s.cfg.Journal.End()
	if end >= off {
		return nil
	}
	return s.cfg.Journal.AppendGap(off - end)
}

// markStreams writes a mark where the newest one does not say what the n bytes at off are,
// or is too far back to be found.
func (s *Session) markStreams(off uint64, n int) error {
	st := &s.streams
	runs, known := st.of(off, n)
	m, last := journal.Streams{Unknown: !known}, Merged
	for _, r := range runs {
		m.Runs = append(m.Runs, journal.StreamRun{Stream: journal.Stream(r.Stream), Bytes: r.Bytes})
		last = streamOf(r.Stream)
	}
	if st.marked && len(m.Runs) <= 1 && st.current == last && off-st.at < markBytes {
		return nil
	}
	if err := s.cfg.Journal.AppendMark(m.AppendTo(nil)); err != nil {
		return err
	}
	st.marked, st.at, st.current = true, off, last
	return nil
}

// leaveStreams ends what the newest mark says: the next owner may be of a version that
// writes none.
func (s *Session) leaveStreams() {
	if st := &s.streams; st.marked && !s.journalBad && s.ring != nil {
		if err := s.cfg.Journal.AppendMark(journal.Streams{Unknown: true}.AppendTo(nil)); err != nil {
			s.log.Warn("journal", "session", s.cfg.ID, "err", err)
		}
		st.marked = false
	}
}

// Streams is what the output in [from, to) is, in order: one run of Merged when that is
// not known. It may be called from any goroutine.
func (s *Session) Streams(from, to uint64) ([]StreamRun, error) {
	if runs, ok := s.streams.recent(from, to); ok {
		return runs, nil
	}
	changes, err := s.pastChanges(from, to)
	if err != nil {
		return nil, fmt.Errorf("streams of the output at %d: %w", from, err)
	}
	return runsOf(changes, from, to), nil
}

// recent is Streams for what is remembered.
func (st *streams) recent(from, to uint64) ([]StreamRun, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.apart || from < st.since || to > st.end {
		return nil, false
	}
	return runsOf(st.changes, from, to), true
}

// pastChanges reads changes from the journal's marks.
func (s *Session) pastChanges(from, to uint64) ([]change, error) {
	r := s.Records(from - min(from, markReach))
	defer r.Close()
	var changes []change
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) || err == nil && rec.Offset >= to {
			return changes, nil
		}
		if err != nil {
			return nil, err
		}
		if rec.Kind == journal.KindMark {
			changes = appendMarked(changes, &rec)
		}
	}
}

// appendMarked adds what a mark says; it counts more than what an earlier one says.
func appendMarked(changes []change, rec *journal.Record) []change {
	m, err := journal.DecodeStreams(rec.Data)
	if err != nil {
		return changes // of another kind, or damaged
	}
	for len(changes) > 0 && changes[len(changes)-1].at >= rec.Offset {
		changes = changes[:len(changes)-1]
	}
	if m.Unknown {
		return append(changes, change{rec.Offset, Merged})
	}
	at := rec.Offset
	for _, r := range m.Runs {
		changes = append(changes, change{at, Stdout + Stream(r.Stream)})
		at += uint64(r.Bytes)
	}
	return changes
}

// runsOf cuts [from, to) at the changes.
func runsOf(changes []change, from, to uint64) []StreamRun {
	var runs []StreamRun
	add := func(s Stream, n uint64) {
		switch last := len(runs) - 1; {
		case n == 0:
		case last >= 0 && runs[last].Stream == s:
			runs[last].Bytes += int(n)
		default:
			runs = append(runs, StreamRun{s, int(n)})
		}
	}
	at, stream := from, Merged
	for _, c := range changes {
		if c.at >= to {
			break
		}
		if c.at > at {
			add(stream, c.at-at)
			at = c.at
		}
		stream = c.stream
	}
	if at < to {
		add(stream, to-at)
	}
	return runs
}

// OutputApart is Output with what its bytes are. It may give less than there is: what its
// owner has not seen yet, and more than so many runs, come next time.
func (s *Session) OutputApart(from uint64, buf []byte) (Chunk, []StreamRun, error) {
	if end, ok := s.streams.known(); ok {
		buf = buf[:min(uint64(len(buf)), max(end, from)-from)]
	}
	c, err := s.Output(from, buf)
	if err != nil || len(c.Data) == 0 {
		return c, nil, err
	}
	runs, err := s.Streams(c.From, c.Next)
	if err != nil {
		return Chunk{}, nil, err
	}
	if len(runs) > maxRuns {
		runs = runs[:maxRuns]
		n := 0
		for _, r := range runs {
			n += r.Bytes
		}
		c.Data, c.Next = c.Data[:n], c.From+uint64(n)
	}
	return c, runs, nil
}

// known is the end of the output whose streams can be told.
func (st *streams) known() (uint64, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.end, st.apart
}
