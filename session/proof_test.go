package session

import (
	"errors"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/store/journal"
)

// Other clients do not type over a line that a user has started, until the user ends it. Forced input does.
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

// Input that starts a line, such as an answer, is not appended to a partial line of any author. Keys that a program
// read one by one are no such line, and a cleared one no longer is.
//
// FEATURES: R102 R112
func TestAnswersAreNotAppended(t *testing.T) {
	s := newFixture(t, journal.Options{})
	ctx := testContext(t)
	answer := func() error {
		_, err := s.TypeIn(ctx, Typing{Bytes: []byte("y\r"), Fresh: true})
		return err
	}
	typed := func(text string, person bool) {
		t.Helper()
		if _, err := s.TypeIn(ctx, Typing{Bytes: []byte(text), Person: person}); err != nil {
			t.Fatal(err)
		}
	}
	s.print(s.Session, "Continue? [y/N] ")
	waitText(t, s.Session, "Continue?")
	typed("q", true) // the program shows nothing of it
	if err := answer(); err != nil {
		t.Errorf("to a question alone: %v", err)
	}
	for _, person := range []bool{true, false} {
		typed("no", person)
		s.print(s.Session, "no")
		waitText(t, s.Session, "Continue? [y/N] no")
		if err := answer(); !errors.Is(err, ErrHalf) {
			t.Errorf("behind what was typed: %v", err)
		}
		typed("\x15", true)
		s.print(s.Session, "\b\b\x1b[K")
		if err := answer(); err != nil {
			t.Errorf("it was cleared: %v", err)
		}
	}
	if got := s.got(); got != "qy\rno\x15y\rno\x15y\r" {
		t.Errorf("typed %q", got)
	}
}

// The check of input ends when the program has exited, for example because of it.
//
// FEATURES: R102
func TestProofEndsWithTheProgram(t *testing.T) {
	s := newFixture(t, journal.Options{})
	ctx := testContext(t)
	s.print(s.Session, "ready")
	waitText(t, s.Session, "ready")
	before, err := s.CaptureScreen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.Exited(Exit{Code: 130}, 5)
	if taken := s.ConfirmInput(ctx, before, "exit()", respond.EchoOn, time.Hour, false); ctx.Err() != nil || taken.Echoed != No {
		t.Errorf("%+v, %v", taken, ctx.Err())
	}
}
