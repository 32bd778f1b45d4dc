package session

import (
	"strings"
	"testing"

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
