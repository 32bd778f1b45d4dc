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

// TestInputID_TypedOnce_OverCheckpoints types input with an id once, with a checkpoint and restarts in between.
//
// FAULT: A23
// FEATURES: R90
func TestInputID_TypedOnce_OverCheckpoints(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "ready")
	waitText(t, s.Session, "ready")
	in := TypeRequest{Bytes: []byte("rm it\r"), ID: "an-id"}
	first, err := s.TypeIn(testContext(t), in)
	if err != nil {
		t.Fatal(err)
	}
	typed := s.typedText()
	first.Duplicate = true // results are marked as duplicates from here on
	for range 3 {          // the second owner has the id from a file only
		s.print(s.Session, strings.Repeat("more output\r\n", 1000))
		s.print(s.Session, "said")
		waitText(t, s.Session, "said")
		s.Stop() // writes a checkpoint
		s = reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
		again, err := s.TypeIn(testContext(t), in)
		if err != nil || again != first {
			t.Errorf("repeated: %+v, %v; want %+v", again, err, first)
		}
		typed += s.typedText()
	}
	if typed != "rm it\r" {
		t.Errorf("typed %q", typed)
	}
}

// TestInputID_TypedOnce_WhenKilledBeforeJournal kills the daemon after typing, before the journal has the id. The note
// in the ring prevents the next daemon from typing the input again; it journals the id.
//
// FAULT: A23
// FEATURES: R90
func TestInputID_TypedOnce_WhenKilledBeforeJournal(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "ready")
	waitText(t, s.Session, "ready")
	killed := t.TempDir() // the state at a kill before the mark is written
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	in := TypeRequest{Bytes: []byte("rm it\r"), ID: "an-id"}
	first, err := s.TypeIn(testContext(t), in)
	if err != nil {
		t.Fatal(err)
	}
	first.Duplicate = true // results are marked as duplicates from here on
	s.Stop()
	s = reopenSession(t, killed, s.fakeDevice.ring, journal.Options{})
	again, err := s.TypeIn(testContext(t), in)
	if err != nil || again != first || s.typedText() != "" {
		t.Errorf("repeated: %+v, %v, typed %q; want %+v", again, err, s.typedText(), first)
	}
	other := TypeRequest{Bytes: []byte("x"), ID: "another"} // replaces the note
	if _, err := s.TypeIn(testContext(t), other); err != nil || s.typedText() != "x" {
		t.Errorf("other input: %q, %v", s.typedText(), err)
	}
	s.Stop()
	s = reopenSession(t, killed, s.fakeDevice.ring, journal.Options{})
	if again, err = s.TypeIn(testContext(t), in); err != nil || again != first || s.typedText() != "" {
		t.Errorf("repeated again: %+v, %v, typed %q", again, err, s.typedText())
	}
}

// TestRejectedInput_LeavesNoNote checks that rejected input leaves no note: it may be typed when it is repeated.
//
// FAULT: A23
func TestRejectedInput_LeavesNoNote(t *testing.T) {
	s := newFixture(t, journal.Options{})
	r := s.fakeDevice.ring
	too := TypeRequest{Bytes: make([]byte, inputqueue.MaxQueued+1), ID: "an-id"}
	if _, err := s.TypeIn(testContext(t), too); !errors.Is(err, ErrOverloaded) {
		t.Fatal(err)
	}
	if n, ok := r.TypingNote(); ok {
		t.Errorf("got note %+v", n)
	}
}

// TestLine_KilledBeforeTyped checks that a line which was marked when the daemon was killed is typed by the next one if
// the note in the ring shows that it was not typed yet, and not if it may have been.
//
// FAULT: A23
func TestLine_KilledBeforeTyped(t *testing.T) {
	for _, typed := range []bool{false, true} {
		s := withEngine(t, t.TempDir(), ring.Local(ring.DefaultSize), DefaultEngine, false)
		s.print(s.Session, "$ ")
		waitText(t, s.Session, "$")
		killed := t.TempDir()
		if err := s.do(testContext(t), func() {
			s.typing.noteLineMark("a-job")
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
		s = withEngine(t, killed, s.fakeDevice.ring, DefaultEngine, false)
		if was, err := s.WasLineTyped(testContext(t), "a-job"); err != nil || was != typed {
			t.Errorf("typed %t: %t, %v", typed, was, err)
		}
	}
}

// clientKey is the key of a client that numbers its input.
const clientKey = "0b8b6c1e-2f59-4f38-9d0e-3f6d5a1c7e42"

// TestNumberedInput_TypedOnce_OverKills checks that numbered input of a client is typed once and in order, although each
// daemon is killed before the journal records it, and whatever other clients type in between.
//
// FAULT: A23
// FEATURES: R90
func TestNumberedInput_TypedOnce_OverKills(t *testing.T) {
	s := newFixture(t, journal.Options{})
	killed := t.TempDir() // the state that all kills leave
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	typed, want := "", ""
	for daemon := range 5 {
		for n := range 4 * (daemon + 1) { // from its first number on, as if none was acknowledged
			in := TypeRequest{Bytes: fmt.Appendf(nil, "%d,", n), ID: fmt.Sprint(clientKey, ".:"[n%2:n%2+1], n), FromUser: true}
			if _, err := s.TypeIn(testContext(t), in); err != nil {
				t.Fatal(err)
			}
			if n >= 4*daemon {
				want += fmt.Sprintf("%d,", n)
			}
		}
		other := TypeRequest{Bytes: []byte("other"), ID: fmt.Sprint("other-", daemon), FromUser: true}
		if _, err := s.TypeIn(testContext(t), other); err != nil {
			t.Fatal(err)
		}
		want += "other"
		typed += s.typedText()
		s.Stop()
		s = reopenSession(t, killed, s.fakeDevice.ring, journal.Options{})
	}
	if typed != want {
		t.Errorf("typed %q\nwant  %q", typed, want)
	}
}

// TestNumberedInput_TypedOnce_WhileWaiting checks that input for a program which does not read is typed once, however
// often it is repeated, and that the caller gets an answer then. An owner that ends before reports that, so that its
// client asks the next one.
//
// FAULT: A23
// FEATURES: R90
func TestNumberedInput_TypedOnce_WhileWaiting(t *testing.T) {
	s := newFixture(t, journal.Options{})
	b := &halfWriter{fakeDevice: s.fakeDevice, reads: make(chan struct{}), blocked: make(chan struct{}, 10)}
	s.typing.queue = inputqueue.NewQueue(b)
	in := TypeRequest{Bytes: []byte("abcdef"), ID: clientKey + ".0", FromUser: true}
	answers := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := s.TypeIn(testContext(t), in)
			answers <- err
		}()
	}
	<-b.blocked
	if got := s.typedText(); got != "abc" || len(answers) > 0 {
		t.Errorf("typed %q, %d callers answered", got, len(answers))
	}
	close(b.reads)
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if got := s.typedText(); got != "abcdef" {
		t.Errorf("typed %q", got)
	}

	b.reads = make(chan struct{})
	in.ID = clientKey + ".1"
	go func() {
		_, err := s.TypeIn(testContext(t), in)
		answers <- err
	}()
	<-b.blocked
	s.Stop()
	if err := <-answers; !errors.Is(err, ErrStopped) {
		t.Errorf("got error %v", err)
	}
	typed := s.typedText()
	s = reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
	if _, err := s.TypeIn(testContext(t), in); err != nil {
		t.Error(err)
	}
	if typed += s.typedText(); typed != "abcdefabcdef" {
		t.Errorf("typed %q", typed)
	}
}

// halfWriter accepts half of the input, and the rest once its program reads.
type halfWriter struct {
	*fakeDevice
	reads, blocked chan struct{}

	mu    sync.Mutex
	ended chan struct{}
}

func (b *halfWriter) TryWrite(p []byte) int { return b.fakeDevice.TryWrite(p[:len(p)/2]) }

func (b *halfWriter) Write(p []byte) (int, error) {
	b.mu.Lock()
	b.ended = make(chan struct{})
	ended := b.ended
	b.mu.Unlock()
	b.blocked <- struct{}{}
	select {
	case <-b.reads:
		return b.fakeDevice.Write(p)
	case <-ended:
		return 0, os.ErrDeadlineExceeded
	}
}

func (b *halfWriter) SetWriteDeadline(time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ended)
	return nil
}

// TestNumberedInput_SilentProgram checks a program that has printed nothing: its journal exists, without output.
//
// FAULT: A23
// FEATURES: R90
func TestNumberedInput_SilentProgram(t *testing.T) {
	s := newFixture(t, journal.Options{})
	typed := ""
	for range 3 {
		for _, id := range []string{"one", "two", "three"} {
			if _, err := s.TypeIn(testContext(t), TypeRequest{Bytes: []byte(id), ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		typed += s.typedText()
		s.Stop()
		s = reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
	}
	if typed != "onetwothree" {
		t.Errorf("typed %q", typed)
	}
}

// TestInputNote_KeptAcrossOtherInput checks that input which only the ring's note has is known after other input has
// replaced the note and daemons were killed, before its client repeats it.
//
// FAULT: A23
// FEATURES: R90
func TestInputNote_KeptAcrossOtherInput(t *testing.T) {
	s := newFixture(t, journal.Options{})
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	in := TypeRequest{Bytes: []byte("rm it\r"), ID: "an-id"}
	if _, err := s.TypeIn(testContext(t), in); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	for i := range 3 {
		s = reopenSession(t, killed, s.fakeDevice.ring, journal.Options{})
		if _, err := s.TypeIn(testContext(t), TypeRequest{Bytes: []byte("x"), ID: fmt.Sprint("other-", i)}); err != nil || s.typedText() != "x" {
			t.Errorf("other input: %q, %v", s.typedText(), err)
		}
		s.Stop()
	}
	s = reopenSession(t, killed, s.fakeDevice.ring, journal.Options{})
	if _, err := s.TypeIn(testContext(t), in); err != nil || s.typedText() != "" {
		t.Errorf("repeated: %v, typed %q", err, s.typedText())
	}
}
