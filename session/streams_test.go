package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// streamOutput is the output that a child wrote to its two pipes.
type streamOutput struct {
	all      bytes.Buffer
	byStream [3]bytes.Buffer // by Stream
	random   *rand.Rand
}

// print writes a random number of pieces, as a keeper does, while there is space.
func (p *streamOutput) print(r *ring.Ring, pieces int) {
	for range pieces {
		s := ring.Stream(p.random.IntN(2))
		text := strings.Repeat(string(rune('a'+p.random.IntN(26))), 1+p.random.IntN(300)) + "\n"
		n := copy(r.RoomFor(s), text)
		if n == 0 {
			return
		}
		r.PublishAs(s, n)
		p.all.WriteString(text[:n])
		p.byStream[Stdout+Stream(s)].WriteString(text[:n])
	}
}

// readByStream reads all output from an offset on, by stream.
func readByStream(t *testing.T, s *Session, from uint64) (apart [3]string, end uint64) {
	t.Helper()
	w := s.Watch()
	defer w.Close()
	var got [3]bytes.Buffer
	buf := make([]byte, 100_000)
	for {
		c, runs, err := s.OutputByStream(from, buf)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Data) == 0 {
			return [3]string{got[0].String(), got[1].String(), got[2].String()}, from
		}
		for _, r := range runs {
			got[r.Stream].Write(c.Data[:r.Bytes])
			c.Data = c.Data[r.Bytes:]
		}
		if len(c.Data) > 0 {
			t.Fatalf("no streams for %d bytes", len(c.Data))
		}
		from = c.Next
	}
}

// separateRing returns a ring that separates the streams.
func separateRing() *ring.Ring {
	r := ring.Local(ring.DefaultSize)
	r.Separate()
	return r
}

// checkStreams compares output by stream with what was written.
func checkStreams(t *testing.T, when string, got [3]string, want *streamOutput) {
	t.Helper()
	for s := range got {
		if got[s] != want.byStream[s].String() {
			t.Errorf("%s: %s has %d bytes, want %d", when, Stream(s), len(got[s]), want.byStream[s].Len())
		}
	}
}

// awaitOffset waits until the session has handled n bytes.
func awaitOffset(t *testing.T, s *Session, n int) {
	t.Helper()
	ctx := testContext(t)
	for s.Status().Offset < uint64(n) { // each iteration of the owner handles what is available
		if err := s.do(ctx, func() {}); err != nil {
			t.Fatalf("handled %d of %d bytes: %v", s.Status().Offset, n, err)
		}
	}
}

// TestStreams_OverRestarts checks that wherever an owner was killed, the next one continues so that every byte is in the
// journal once and in its stream: the owner's marks and the ring's log meet.
//
// FEATURES: R4, R90
func TestStreams_OverRestarts(t *testing.T) {
	dir, r := t.TempDir(), separateRing()
	p := &streamOutput{random: rand.New(rand.NewPCG(5, 6))}
	for range 8 {
		s := reopenSession(t, dir, r, journal.Options{})
		for range 30 {
			p.print(r, 40)
			s.NotifyOutput()
			if p.random.IntN(3) > 0 {
				awaitOffset(t, s.Session, p.all.Len())
			}
		}
		got, _ := readByStream(t, s.Session, 0)
		if len(got[Merged]) > 0 {
			t.Fatalf("streams of %d bytes unknown", len(got[Merged]))
		}
		s.Stop()
	}
	s := reopenSession(t, dir, r, journal.Options{})
	awaitOffset(t, s.Session, p.all.Len())
	got, end := readByStream(t, s.Session, 0)
	if end != uint64(p.all.Len()) {
		t.Errorf("%d bytes, want %d", end, p.all.Len())
	}
	checkStreams(t, "journal and memory", got, p)
	s.Stop()

	history := reopenSession(t, dir, nil, journal.Options{})
	got, _ = readByStream(t, history.Session, 0)
	checkStreams(t, "history alone", got, p)
	if _, err := history.cfg.Journal.Compact(testContext(t)); err != nil {
		t.Fatal(err)
	}
	got, _ = readByStream(t, history.Session, 0)
	checkStreams(t, "compacted", got, p)
	for range 50 {
		from := uint64(p.random.IntN(p.all.Len() - 1))
		to := from + 1 + uint64(p.random.IntN(min(5000, p.all.Len()-int(from))))
		runs, err := history.Streams(from, to)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, run := range runs {
			total += run.Bytes
			if run.Stream == Merged {
				t.Fatalf("unknown streams of [%d, %d): %v", from, to, runs)
			}
		}
		if uint64(total) != to-from {
			t.Fatalf("streams of [%d, %d): %v", from, to, runs)
		}
	}
}

// TestStreamsMark_WithoutOutput checks that a mark without its output, because the owner was killed between the two, is
// overruled by the next mark.
func TestStreamsMark_WithoutOutput(t *testing.T) {
	dir, r := t.TempDir(), separateRing()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	early := journal.Streams{Runs: []journal.StreamRun{{Stream: journal.Stderr, Bytes: 3}, {Stream: journal.Stdout, Bytes: 5}}}
	if err := j.AppendMark(early.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	s := reopenSession(t, dir, r, journal.Options{})
	r.PublishAs(ring.Stdout, copy(r.RoomFor(ring.Stdout), "out"))
	r.PublishAs(ring.Stderr, copy(r.RoomFor(ring.Stderr), "error"))
	s.NotifyOutput()
	awaitOffset(t, s.Session, 8)
	var asked history.Streams // without cached runs
	runs, err := asked.Runs(s.cfg.Journal, 0, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(runs); got != "[{stdout 3} {stderr 5}]" {
		t.Error(got)
	}
}

// TestStreams_LongRunMarkedAgain checks that a long run of one stream is marked again, so that a reader finds a mark
// nearby.
//
// FEATURES: R4
func TestStreams_LongRunMarkedAgain(t *testing.T) {
	dir, r := t.TempDir(), separateRing()
	s := reopenSession(t, dir, r, journal.Options{})
	const piece = 4000
	total := 0
	for range 300 {
		n := copy(r.RoomFor(ring.Stderr), make([]byte, piece))
		r.PublishAs(ring.Stderr, n)
		s.NotifyOutput()
		total += n
		awaitOffset(t, s.Session, total)
	}
	marks := 0
	rd := s.Records(0)
	defer rd.Close()
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind == journal.KindMark {
			marks++
		}
	}
	if least := total / history.MarkReach; marks < least || marks > 2*total/history.MarkBytes {
		t.Errorf("got %d marks in %d bytes", marks, total)
	}
	for off := uint64(0); off < uint64(total); off += 7777 {
		var asked history.Streams // without cached runs
		runs, err := asked.Runs(s.cfg.Journal, off, off+1)
		if err != nil {
			t.Fatal(err)
		}
		if runs[0].Stream != Stderr {
			t.Fatalf("at %d: %v", off, runs)
		}
	}
}

// TestStreams_OwnerWithoutMarks checks that output of an owner of an older version, which writes no marks, does not
// count to the stream of the last mark.
func TestStreams_OwnerWithoutMarks(t *testing.T) {
	dir, r := t.TempDir(), separateRing()
	write := func(s ring.Stream, text string) { r.PublishAs(s, copy(r.RoomFor(s), text)) }
	write(ring.Stderr, "one\n")
	s := reopenSession(t, dir, r, journal.Options{})
	awaitOffset(t, s.Session, 4)
	s.Stop()
	write(ring.Stdout, "two\n")
	old := reopenSession(t, dir, r, journal.Options{})
	awaitOffset(t, old.Session, 8)
	old.Stop()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.AppendOutput([]byte("old\n")), j.Close()); err != nil {
		t.Fatal(err)
	}
	history := reopenSession(t, dir, nil, journal.Options{})
	got, _ := readByStream(t, history.Session, 0)
	if got != [3]string{"old\n", "two\n", "one\n"} {
		t.Errorf("%q", got)
	}
}

// TestStreams_OldKeeperIsMerged checks an older keeper's ring without a log of streams: the output is merged, and marked
// so.
//
// FEATURES: R3, R90
func TestStreams_OldKeeperIsMerged(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "both\n")
	awaitOffset(t, s.Session, 5)
	got, _ := readByStream(t, s.Session, 0)
	if got[Merged] != "both\n" || got[Stdout]+got[Stderr] != "" {
		t.Errorf("%q", got)
	}
}
