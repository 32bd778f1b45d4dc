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

// printed is what a child wrote to its two pipes.
type printed struct {
	all    bytes.Buffer
	apart  [3]bytes.Buffer // by Stream
	random *rand.Rand
}

// print writes a random number of pieces, as a keeper does, as long as there is room.
func (p *printed) print(r *ring.Ring, pieces int) {
	for range pieces {
		s := ring.Stream(p.random.IntN(2))
		text := strings.Repeat(string(rune('a'+p.random.IntN(26))), 1+p.random.IntN(300)) + "\n"
		n := copy(r.RoomFor(s), text)
		if n == 0 {
			return
		}
		r.PublishAs(s, n)
		p.all.WriteString(text[:n])
		p.apart[Stdout+Stream(s)].WriteString(text[:n])
	}
}

// read takes all output from an offset on, split.
func readApart(t *testing.T, s *Session, from uint64) (apart [3]string, end uint64) {
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
			t.Fatalf("nothing is said of %d bytes", len(c.Data))
		}
		from = c.Next
	}
}

func apartRing() *ring.Ring {
	r := ring.Local(ring.DefaultSize)
	r.Separate()
	return r
}

func sameStreams(t *testing.T, when string, got [3]string, want *printed) {
	t.Helper()
	for s := range got {
		if got[s] != want.apart[s].String() {
			t.Errorf("%s: %s has %d bytes, want %d", when, Stream(s), len(got[s]), want.apart[s].Len())
		}
	}
}

// awaitOffset waits until the session has taken n bytes.
func awaitOffset(t *testing.T, s *Session, n int) {
	t.Helper()
	ctx := testContext(t)
	for s.Status().Offset < uint64(n) { // each turn of the owner takes what there is
		if err := s.do(ctx, func() {}); err != nil {
			t.Fatalf("the session took %d of %d bytes: %v", s.Status().Offset, n, err)
		}
	}
}

// Wherever an owner was killed, the next one continues so that every byte is in the journal once and in its stream: its
// marks and the ring's log meet.
//
// FEATURES: R4, R90
func TestStreamsOverRestarts(t *testing.T) {
	dir, r := t.TempDir(), apartRing()
	p := &printed{random: rand.New(rand.NewPCG(5, 6))}
	for range 8 {
		s := reopen(t, dir, r, journal.Options{})
		for range 30 {
			p.print(r, 40)
			s.Notice()
			if p.random.IntN(3) > 0 {
				awaitOffset(t, s.Session, p.all.Len())
			}
		}
		got, _ := readApart(t, s.Session, 0)
		if len(got[Merged]) > 0 {
			t.Fatalf("of %d bytes nothing is known", len(got[Merged]))
		}
		s.Stop()
	}
	s := reopen(t, dir, r, journal.Options{})
	awaitOffset(t, s.Session, p.all.Len())
	got, end := readApart(t, s.Session, 0)
	if end != uint64(p.all.Len()) {
		t.Errorf("%d bytes, want %d", end, p.all.Len())
	}
	sameStreams(t, "journal and memory", got, p)
	s.Stop()

	history := reopen(t, dir, nil, journal.Options{})
	got, _ = readApart(t, history.Session, 0)
	sameStreams(t, "history alone", got, p)
	if _, err := history.cfg.Journal.Compact(testContext(t)); err != nil {
		t.Fatal(err)
	}
	got, _ = readApart(t, history.Session, 0)
	sameStreams(t, "compacted", got, p)
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
				t.Fatalf("nothing is known of [%d, %d): %v", from, to, runs)
			}
		}
		if uint64(total) != to-from {
			t.Fatalf("[%d, %d) is %v", from, to, runs)
		}
	}
}

// A mark without its output, because the owner was killed between the two, is overruled by the next mark.
func TestMarkWithoutItsOutput(t *testing.T) {
	dir, r := t.TempDir(), apartRing()
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
	s := reopen(t, dir, r, journal.Options{})
	r.PublishAs(ring.Stdout, copy(r.RoomFor(ring.Stdout), "out"))
	r.PublishAs(ring.Stderr, copy(r.RoomFor(ring.Stderr), "error"))
	s.Notice()
	awaitOffset(t, s.Session, 8)
	var asked history.Streams // which remembers nothing
	runs, err := asked.Runs(s.cfg.Journal, 0, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(runs); got != "[{stdout 3} {stderr 5}]" {
		t.Error(got)
	}
}

// A long run of one stream is marked again, so that a reader finds a mark nearby.
//
// FEATURES: R4
func TestLongStream(t *testing.T) {
	dir, r := t.TempDir(), apartRing()
	s := reopen(t, dir, r, journal.Options{})
	const piece = 4000
	total := 0
	for range 300 {
		n := copy(r.RoomFor(ring.Stderr), make([]byte, piece))
		r.PublishAs(ring.Stderr, n)
		s.Notice()
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
		t.Errorf("%d marks in %d bytes", marks, total)
	}
	for off := uint64(0); off < uint64(total); off += 7777 {
		var asked history.Streams // which remembers nothing
		runs, err := asked.Runs(s.cfg.Journal, off, off+1)
		if err != nil {
			t.Fatal(err)
		}
		if runs[0].Stream != Stderr {
			t.Fatalf("at %d: %v", off, runs)
		}
	}
}

// An owner of an older version, which writes no marks, does not have its output taken for
// what was last.
func TestOwnerWithoutMarks(t *testing.T) {
	dir, r := t.TempDir(), apartRing()
	write := func(s ring.Stream, text string) { r.PublishAs(s, copy(r.RoomFor(s), text)) }
	write(ring.Stderr, "one\n")
	s := reopen(t, dir, r, journal.Options{})
	awaitOffset(t, s.Session, 4)
	s.Stop()
	write(ring.Stdout, "two\n")
	old := reopen(t, dir, r, journal.Options{})
	awaitOffset(t, old.Session, 8)
	old.Stop()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.AppendOutput([]byte("old\n")), j.Close()); err != nil {
		t.Fatal(err)
	}
	history := reopen(t, dir, nil, journal.Options{})
	got, _ := readApart(t, history.Session, 0)
	if got != [3]string{"old\n", "two\n", "one\n"} {
		t.Errorf("%q", got)
	}
}

// An older keeper's ring has no log of streams: the output is merged, and marked so.
//
// FEATURES: R3, R90
func TestOneRingOneStream(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "both\n")
	awaitOffset(t, s.Session, 5)
	got, _ := readApart(t, s.Session, 0)
	if got[Merged] != "both\n" || got[Stdout]+got[Stderr] != "" {
		t.Errorf("%q", got)
	}
}
