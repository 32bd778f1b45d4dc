package session

import (
	"errors"
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
)

// Nobody else types over a line that a person has begun, until the person ends it; what is forced does.
//
// FEATURES: R102
func TestNothingIsTypedOverAPersonsLine(t *testing.T) {
	s := newFixture(t, journal.Options{})
	ctx := testContext(t)
	s.print(s.Session, "\x1b[?2004hready")
	waitText(t, s.Session, "ready")
	if _, err := s.TypeIn(ctx, Typing{Bytes: []byte("rm -r "), Person: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TypeIn(ctx, Typing{Bytes: []byte("ls\r")}); !errors.Is(err, ErrBegun) {
		t.Errorf("typed over: %v", err)
	}
	if _, err := s.TypeIn(ctx, Typing{Bytes: []byte("/\r"), Person: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TypeIn(ctx, Typing{Bytes: []byte("ls\r")}); err != nil {
		t.Errorf("the line was ended: %v", err)
	}
	if _, err := s.TypeIn(ctx, Typing{Bytes: []byte("x"), Person: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TypeIn(ctx, Typing{Bytes: []byte("y\r"), Force: true}); err != nil {
		t.Errorf("forced: %v", err)
	}
	if got := s.got(); got != "rm -r /\rls\rxy\r" {
		t.Errorf("typed %q", got)
	}
}
