package session

import (
	"errors"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/store/journal"
)

// TestInput_Rejected_OverUsersLine checks that only forced input is typed while a user has an unfinished line.
//
// FEATURES: R102
func TestInput_Rejected_OverUsersLine(t *testing.T) {
	s := newFixture(t, journal.Options{})
	ctx := testContext(t)
	s.print(s.Session, "\x1b[?2004hready")
	waitText(t, s.Session, "ready")
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("rm -r "), FromUser: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("ls\r")}); !errors.Is(err, ErrUserTyping) {
		t.Errorf("within the user's line: %v", err)
	}
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("/\r"), FromUser: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("ls\r")}); err != nil {
		t.Errorf("after the end of the line: %v", err)
	}
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("x"), FromUser: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("y\r"), Force: true}); err != nil {
		t.Errorf("forced: %v", err)
	}
	if got := s.typedText(); got != "rm -r /\rls\rxy\r" {
		t.Errorf("typed %q", got)
	}
}

// TestAnswer_NotAppendedToPartialLine checks that input which must start a line is not appended to a partial line of any
// author. Keys that a program read one by one are no such line, nor is a cleared one.
//
// FEATURES: R102 R112
func TestAnswer_NotAppendedToPartialLine(t *testing.T) {
	s := newFixture(t, journal.Options{})
	ctx := testContext(t)
	answer := func() error {
		_, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("y\r"), MustStartLine: true})
		return err
	}
	typed := func(text string, person bool) {
		t.Helper()
		if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte(text), FromUser: person}); err != nil {
			t.Fatal(err)
		}
	}
	s.print(s.Session, "Continue? [y/N] ")
	waitText(t, s.Session, "Continue?")
	typed("q", true) // the program does not show it
	if err := answer(); err != nil {
		t.Errorf("at an empty prompt: %v", err)
	}
	for _, person := range []bool{true, false} {
		typed("no", person)
		s.print(s.Session, "no")
		waitText(t, s.Session, "Continue? [y/N] no")
		if err := answer(); !errors.Is(err, ErrPartialLine) {
			t.Errorf("behind a partial line: %v", err)
		}
		typed("\x15", true)
		s.print(s.Session, "\b\b\x1b[K")
		if err := answer(); err != nil {
			t.Errorf("after the line was cleared: %v", err)
		}
	}
	if got := s.typedText(); got != "qy\rno\x15y\rno\x15y\r" {
		t.Errorf("typed %q", got)
	}
}

// TestConfirmInput_EndsWithProgram checks that the check ends when the program has exited, for example because of the
// input.
//
// FEATURES: R102
func TestConfirmInput_EndsWithProgram(t *testing.T) {
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
