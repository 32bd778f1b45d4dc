package history

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Streams separates stdout and stderr of a session on two pipes. The ring has the stream of each byte, and the journal
// has a mark before the output that it describes. If an owner was killed between the two writes, the ring still has the
// bytes and its log of streams.

// Stream is the source of output.
type Stream uint8

// Streams.
const (
	Merged Stream = iota // a terminal, or one pipe for both
	Stdout
	Stderr
)

// String returns the stream's name in the API.
func (s Stream) String() string { return [...]string{"merged", "stdout", "stderr"}[s] }

// StreamRun is a number of output bytes of one stream.
type StreamRun struct {
	Stream Stream
	Bytes  int
}

const (
	// MarkBytes bounds the output between two marks while marks are written, and the size of a piece.
	MarkBytes = 64 << 10
	// MarkReach bounds the distance between a byte and the mark that describes it.
	MarkReach = 2 * MarkBytes
	// maxChanges bounds the changes in memory, for followers; other readers use the journal.
	maxChanges = 4096
	// MaxRuns bounds the runs of one answer.
	MaxRuns = 1024
)

// change is an offset at which the stream of the output changes.
type change struct {
	at     uint64 // output offset
	stream Stream
}

// Streams tracks which stream each byte of a session's output came from.
type Streams struct {
	ring     *ring.Ring
	separate bool // the ring separates the streams

	// Only the owner uses these, for the journal.
	marked  bool       // this owner has written a mark
	at      uint64     // offset of the newest one
	current Stream     // stream of the output after it
	runs    []ring.Run // scratch buffer of runsAt

	mu      sync.Mutex
	changes []change // from since to end, oldest first; the first one is at since
	since   uint64   // first offset of changes
	end     uint64   // offset after the newest known output
}

// HasStreams reports whether stdout and stderr are separate.
func (st *Streams) HasStreams() bool { return st.separate }

// DropBefore forgets the streams of the output before an offset. New output starts there.
func (st *Streams) DropBefore(off uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.since, st.end, st.changes = off, off, nil
}

// LimitPiece bounds the bytes that are handled at once, so that each piece can have its mark.
func (st *Streams) LimitPiece(n int) int {
	if st.separate {
		return min(n, MarkBytes)
	}
	return n
}

// runsAt returns the streams of the n bytes at off. They must be in the ring.
func (st *Streams) runsAt(off uint64, n int) (runs []ring.Run, known bool) {
	st.runs, known = st.ring.Runs(st.runs[:0], off, off+uint64(n))
	return st.runs, known
}

// noteStreams stores the streams of consecutive output.
func (st *Streams) noteStreams(off uint64, n int) {
	if !st.separate {
		return
	}
	runs, known := st.runsAt(off, n)
	st.mu.Lock()
	defer st.mu.Unlock()
	if !known {
		st.addChange(off, Merged)
	}
	for _, r := range runs {
		st.addChange(off, streamOf(r.Stream))
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

// streamOf converts a stream of the ring.
func streamOf(s ring.Stream) Stream { return Stdout + Stream(s) }

// addChange adds a change at an offset, unless the stream stays the same.
func (st *Streams) addChange(off uint64, s Stream) {
	if n := len(st.changes); n == 0 || st.changes[n-1].stream != s {
		st.changes = append(st.changes, change{off, s})
	}
}

// markStreams writes a mark, unless the newest one covers the n bytes at off and is near enough to be found.
func (r *Recorder) markStreams(off uint64, n int) error {
	st := &r.Streams
	runs, known := st.runsAt(off, n)
	m, last := journal.Streams{Unknown: !known}, Merged
	for _, r := range runs {
		m.Runs = append(m.Runs, journal.StreamRun{Stream: journal.Stream(r.Stream), Bytes: r.Bytes})
		last = streamOf(r.Stream)
	}
	if st.marked && len(m.Runs) <= 1 && st.current == last && off-st.at < MarkBytes {
		return nil
	}
	if err := r.journal.AppendMark(m.AppendTo(nil)); err != nil {
		return err
	}
	st.marked, st.at, st.current = true, off, last
	return nil
}

// Runs returns the stream runs of the output in [from, to), in order, or one run of Merged if they are unknown. Runs
// that are not in memory are read from a journal.
func (st *Streams) Runs(j *journal.Journal, from, to uint64) ([]StreamRun, error) {
	if runs, ok := st.cachedRuns(from, to); ok {
		return runs, nil
	}
	changes, err := journaledChanges(j, from, to)
	if err != nil {
		return nil, fmt.Errorf("streams of the output at %d: %w", from, err)
	}
	return runsOf(changes, from, to), nil
}

// cachedRuns returns the runs from memory. ok is false if memory lacks some of them.
func (st *Streams) cachedRuns(from, to uint64) (runs []StreamRun, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.separate || from < st.since || to > st.end {
		return nil, false
	}
	return runsOf(st.changes, from, to), true
}

// journaledChanges reads changes from the journal's marks.
func journaledChanges(j *journal.Journal, from, to uint64) ([]change, error) {
	r := j.NewReader(from - min(from, MarkReach))
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

// appendMarked appends a mark's changes, which replace later ones of earlier marks.
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

// runsOf returns the runs in [from, to).
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

// KnownEnd returns the end of the output with known streams. separate is false if the streams are not separate.
func (st *Streams) KnownEnd() (end uint64, separate bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.end, st.separate
}
