package session

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/internal/typing"
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
	for range 3 { // the second one has the id from a file only
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

// A daemon that is killed after it typed and before the journal has the id leaves a note in
// the ring: the next one does not type the input again, and the journal knows from then on.
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
	s.Stop()
	s = reopen(t, killed, s.fake.ring, journal.Options{})
	again, err := s.TypeIn(testContext(t), in)
	if err != nil || again != first || s.got() != "" {
		t.Errorf("asked again: %+v, %v, typed %q; the first time %+v", again, err, s.got(), first)
	}
	other := Typing{Bytes: []byte("x"), ID: "another"} // takes the place of the note
	if _, err := s.TypeIn(testContext(t), other); err != nil || s.got() != "x" {
		t.Errorf("other input: %q, %v", s.got(), err)
	}
	s.Stop()
	s = reopen(t, killed, s.fake.ring, journal.Options{})
	if again, err = s.TypeIn(testContext(t), in); err != nil || again != first || s.got() != "" {
		t.Errorf("asked a third time: %+v, %v, typed %q", again, err, s.got())
	}
}

// Input that was refused leaves no note: it may be typed when it is asked for again.
//
// FAULT: A23
func TestRefusedInputLeavesNoNote(t *testing.T) {
	s := newFixture(t, journal.Options{})
	r := s.fake.ring
	too := Typing{Bytes: make([]byte, typing.MaxQueued+1), ID: "an-id"}
	if _, err := s.TypeIn(testContext(t), too); !errors.Is(err, ErrOverloaded) {
		t.Fatal(err)
	}
	if n, ok := r.Typing(); ok {
		t.Errorf("noted: %+v", n)
	}
}

// A line that was marked when the daemon was killed is typed by the next one if the note in
// the ring says that it was not typed yet, and not if it may have been.
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
			s.lines.tellTyped(&Line{Text: "make", ID: "a-job"})
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
		if was, err := s.Typed(testContext(t), "a-job"); err != nil || was != typed {
			t.Errorf("typed %t: %t, %v", typed, was, err)
		}
	}
}
