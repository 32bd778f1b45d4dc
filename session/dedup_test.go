package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Input with an id is typed once, a checkpoint and restarts in between.
//
// FAULT: A23
// FEATURES: R90
func TestTypedOnceOverCheckpoints(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "ready")
	waitText(t, s.Session, "ready")
	in := Typing{Bytes: []byte("rm it\r"), ID: "an-id"}
	first, err := s.TypeIn(testContext(t), in)
	if err != nil {
		t.Fatal(err)
	}
	typed := s.got()
	first.Again = true // has this state from here on
	for range 3 {      // the second one has the id from a file only
		s.print(s.Session, strings.Repeat("more output\r\n", 1000))
		s.print(s.Session, "said")
		waitText(t, s.Session, "said")
		s.Stop() // with a checkpoint
		s = reopen(t, s.dir, s.fake.ring, journal.Options{})
		again, err := s.TypeIn(testContext(t), in)
		if err != nil || again != first {
			t.Errorf("asked again: %+v, %v; the first time %+v", again, err, first)
		}
		typed += s.got()
	}
	if typed != "rm it\r" {
		t.Errorf("typed %q", typed)
	}
}

// A daemon killed after typing and before the journal has the id leaves a note in the ring: the next one does not type
// the input again, and journals the id.
//
// FAULT: A23
// FEATURES: R90
func TestTypedOnceWhenKilledBeforeTheJournalKnows(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "ready")
	waitText(t, s.Session, "ready")
	killed := t.TempDir() // what a kill leaves that comes before the mark is written
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	in := Typing{Bytes: []byte("rm it\r"), ID: "an-id"}
	first, err := s.TypeIn(testContext(t), in)
	if err != nil {
		t.Fatal(err)
	}
	first.Again = true // has this state from here on
	s.Stop()
	s = reopen(t, killed, s.fake.ring, journal.Options{})
	again, err := s.TypeIn(testContext(t), in)
	if err != nil || again != first || s.got() != "" {
		t.Errorf("asked again: %+v, %v, typed %q; the first time %+v", again, err, s.got(), first)
	}
	other := Typing{Bytes: []byte("x"), ID: "another"} // replaces the note
	if _, err := s.TypeIn(testContext(t), other); err != nil || s.got() != "x" {
		t.Errorf("other input: %q, %v", s.got(), err)
	}
	s.Stop()
	s = reopen(t, killed, s.fake.ring, journal.Options{})
	if again, err = s.TypeIn(testContext(t), in); err != nil || again != first || s.got() != "" {
		t.Errorf("asked a third time: %+v, %v, typed %q", again, err, s.got())
	}
}

// Rejected input leaves no note: it may be typed when it is repeated.
//
// FAULT: A23
func TestRefusedInputLeavesNoNote(t *testing.T) {
	s := newFixture(t, journal.Options{})
	r := s.fake.ring
	too := Typing{Bytes: make([]byte, inputqueue.MaxQueued+1), ID: "an-id"}
	if _, err := s.TypeIn(testContext(t), too); !errors.Is(err, ErrOverloaded) {
		t.Fatal(err)
	}
	if n, ok := r.TypingNote(); ok {
		t.Errorf("noted: %+v", n)
	}
}

// A line marked when the daemon was killed is typed by the next one if the note in the ring shows that it was not typed
// yet, and not if it may have been.
//
// FAULT: A23
func TestLineKilledBeforeItWasTyped(t *testing.T) {
	for _, typed := range []bool{false, true} {
		s := withEngine(t, t.TempDir(), ring.Local(ring.DefaultSize), DefaultEngine, false)
		s.print(s.Session, "$ ")
		waitText(t, s.Session, "$")
		killed := t.TempDir()
		if err := s.do(testContext(t), func() {
			s.typing.markLine("a-job")
			s.lines.recordTyped(&Line{Text: "make", ID: "a-job"})
			if typed {
				s.typing.lineNote("a-job")()
			}
			if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		s.Stop()
		s = withEngine(t, killed, s.fake.ring, DefaultEngine, false)
		if was, err := s.WasLineTyped(testContext(t), "a-job"); err != nil || was != typed {
			t.Errorf("typed %t: %t, %v", typed, was, err)
		}
	}
}

// clientKey is the key of a client that numbers its input.
const clientKey = "0b8b6c1e-2f59-4f38-9d0e-3f6d5a1c7e42"

// Numbered input of a client is typed once and in order, although each daemon is killed before the journal records it,
// and whatever other clients type in between.
//
// FAULT: A23
// FEATURES: R90
func TestNumberedOverKills(t *testing.T) {
	s := newFixture(t, journal.Options{})
	killed := t.TempDir() // what they all leave
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	typed, want := "", ""
	for daemon := range 5 {
		for n := range 4 * (daemon + 1) { // from its first number on, as if none was acknowledged
			in := Typing{Bytes: fmt.Appendf(nil, "%d,", n), ID: fmt.Sprint(clientKey, ".:"[n%2:n%2+1], n), Person: true}
			if _, err := s.TypeIn(testContext(t), in); err != nil {
				t.Fatal(err)
			}
			if n >= 4*daemon {
				want += fmt.Sprintf("%d,", n)
			}
		}
		other := Typing{Bytes: []byte("other"), ID: fmt.Sprint("other-", daemon), Person: true}
		if _, err := s.TypeIn(testContext(t), other); err != nil {
			t.Fatal(err)
		}
		want += "other"
		typed += s.got()
		s.Stop()
		s = reopen(t, killed, s.fake.ring, journal.Options{})
	}
	if typed != want {
		t.Errorf("typed %q\nwant  %q", typed, want)
	}
}

// Input for a program that does not read is typed once, however often it is repeated in the meantime, and the caller
// gets an answer then. An owner that ends before reports that, so that its client asks the next one.
//
// FAULT: A23
// FEATURES: R90
func TestNumberedThatWaits(t *testing.T) {
	s := newFixture(t, journal.Options{})
	b := &busy{fake: s.fake, reads: make(chan struct{}), asked: make(chan struct{}, 10)}
	s.typing.queue = inputqueue.NewQueue(b)
	in := Typing{Bytes: []byte("abcdef"), ID: clientKey + ".0", Person: true}
	answers := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := s.TypeIn(testContext(t), in)
			answers <- err
		}()
	}
	<-b.asked
	if got := s.got(); got != "abc" || len(answers) > 0 {
		t.Errorf("%q is typed, %d are answered", got, len(answers))
	}
	close(b.reads)
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if got := s.got(); got != "abcdef" {
		t.Errorf("typed %q", got)
	}

	b.reads = make(chan struct{})
	in.ID = clientKey + ".1"
	go func() {
		_, err := s.TypeIn(testContext(t), in)
		answers <- err
	}()
	<-b.asked
	s.Stop()
	if err := <-answers; !errors.Is(err, ErrStopped) {
		t.Errorf("answered with %v", err)
	}
	typed := s.got()
	s = reopen(t, s.dir, s.fake.ring, journal.Options{})
	if _, err := s.TypeIn(testContext(t), in); err != nil {
		t.Error(err)
	}
	if typed += s.got(); typed != "abcdefabcdef" {
		t.Errorf("typed %q", typed)
	}
}

// busy takes half of the input, and the rest once its program reads.
type busy struct {
	*fake
	reads, asked chan struct{}

	mu    sync.Mutex
	ended chan struct{}
}

func (b *busy) TryWrite(p []byte) int { return b.fake.TryWrite(p[:len(p)/2]) }

func (b *busy) Write(p []byte) (int, error) {
	b.mu.Lock()
	b.ended = make(chan struct{})
	ended := b.ended
	b.mu.Unlock()
	b.asked <- struct{}{}
	select {
	case <-b.reads:
		return b.fake.Write(p)
	case <-ended:
		return 0, os.ErrDeadlineExceeded
	}
}

func (b *busy) SetWriteDeadline(time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ended)
	return nil
}

// A program that has printed nothing yet is typed into once as well: there is a journal, though it has no output.
//
// FAULT: A23
// FEATURES: R90
func TestSilentProgramIsTypedIntoOnce(t *testing.T) {
	s := newFixture(t, journal.Options{})
	typed := ""
	for range 3 {
		for _, id := range []string{"one", "two", "three"} {
			if _, err := s.TypeIn(testContext(t), Typing{Bytes: []byte(id), ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		typed += s.got()
		s.Stop()
		s = reopen(t, s.dir, s.fake.ring, journal.Options{})
	}
	if typed != "onetwothree" {
		t.Errorf("typed %q", typed)
	}
}

// What only a note knows is known as well after others took the note's place, and daemons were killed since, before its client asks
// again.
//
// FAULT: A23
// FEATURES: R90
func TestNoteOutlastsOthers(t *testing.T) {
	s := newFixture(t, journal.Options{})
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	in := Typing{Bytes: []byte("rm it\r"), ID: "an-id"}
	if _, err := s.TypeIn(testContext(t), in); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	for i := range 3 {
		s = reopen(t, killed, s.fake.ring, journal.Options{})
		if _, err := s.TypeIn(testContext(t), Typing{Bytes: []byte("x"), ID: fmt.Sprint("other-", i)}); err != nil || s.got() != "x" {
			t.Errorf("other input: %q, %v", s.got(), err)
		}
		s.Stop()
	}
	s = reopen(t, killed, s.fake.ring, journal.Options{})
	if _, err := s.TypeIn(testContext(t), in); err != nil || s.got() != "" {
		t.Errorf("asked again: %v, typed %q", err, s.got())
	}
}
