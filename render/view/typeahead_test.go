package view

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
)

// textOf returns the text that the next n keys and pastes typed into a session.
func textOf(t *testing.T, s *fakeStream, n int) (text string) {
	t.Helper()
	for range n {
		switch in := s.input(t); {
		case in.Key != nil && in.Key.Text != "":
			text += in.Key.Text
		case in.Key != nil:
			text += "\r"
		case in.Paste != nil:
			text += "<" + *in.Paste + ">"
		}
	}
	return text
}

// TestTypeAhead_ReachesSession_WhenTypedBeforeTheList checks that keys and pastes before the first list of sessions
// reach the focused session, in order, and are no commands.
//
// FAULT: G8
func TestTypeAhead_ReachesSession_WhenTypedBeforeTheList(t *testing.T) {
	enter, pasteBegin, pasteEnd := tcell.NewEventKey(tcell.KeyEnter, 0, 0), tcell.NewEventPaste(true), tcell.NewEventPaste(false)
	for name, o := range map[string]Options{"all": {}, "one": {Only: []string{"a"}}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 80, 24, o)
			b.keys("nq?")
			b.send(enter, pasteBegin, tcell.NewEventKey(tcell.KeyRune, 'p', 0), pasteEnd)
			b.list(running("a"))
			b.keys("z")
			if got := textOf(t, b.streams["a"], 6); got != "nq?\r<p>z" || b.quit {
				t.Errorf("%q reached the session, quit %v", got, b.quit)
			}
		})
	}
}

// TestTypeAhead_IsNoCommand_WhenNoSessionRuns checks that in a viewer without sessions, text that was typed ahead
// starts and quits nothing, and that keys after the prefix have their effect.
//
// FAULT: G8
func TestTypeAhead_IsNoCommand_WhenNoSessionRuns(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.src.made = "fresh"
	b.keys("nqn")
	b.list()
	b.keys("q")
	if b.quit || b.typeAhead.starting != 0 {
		t.Fatalf("quit %v, %d sessions are started", b.quit, b.typeAhead.starting)
	}
	b.keys("^nls")
	b.call()
	b.list(running("fresh"))
	if got := textOf(t, b.streams["fresh"], 2); got != "ls" {
		t.Errorf("%q reached the session", got)
	}
}

// TestTypeAhead_WaitsForStartedSession checks that text typed after a command that starts a session waits for it, also
// while it is not in the list yet.
//
// FAULT: G8
func TestTypeAhead_WaitsForStartedSession(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	b.src.made = "fresh"
	b.keys("^nx")
	b.call()
	b.keys("y")
	b.streams["a"].none(t)
	b.list(running("a"), running("fresh"))
	b.keys("z")
	if got := textOf(t, b.streams["fresh"], 3); got != "xyz" {
		t.Errorf("%q reached the session", got)
	}
	b.src.made = ""
	b.keys("^nrm")
	b.call() // it could not be started
	b.keys("k")
	if got := textOf(t, b.streams["fresh"], 1); got != "k" {
		t.Errorf("%q was meant for the session that was not started", got)
	}
	b.streams["a"].none(t)
	b.src.made = "gone"
	b.keys("^nv")
	b.call()
	b.ring() // it never arrives
	b.keys("w")
	if got := textOf(t, b.streams["fresh"], 1); got != "w" {
		t.Errorf("%q after waiting for too long", got)
	}
}

// TestTypeAhead_WaitsForHost checks that keys for a session of a host that has not answered wait.
//
// FAULT: G8
func TestTypeAhead_WaitsForHost(t *testing.T) {
	b := newBench(t, 80, 24, Options{Only: []string{"far/a"}})
	b.keys("n")
	b.apply(model.Update{Unreachable: []model.Unreachable{{Host: "far", Why: "no answer yet", NeverReached: true}}})
	b.keys("q")
	far := running("far/a")
	far.Host = "far"
	b.list(far)
	if got := textOf(t, b.streams["far/a"], 2); got != "nq" || b.quit {
		t.Errorf("%q reached the session, quit %v", got, b.quit)
	}
}

// TestTypeAhead_Quits_WhenNoListComes checks that the keys that quit work without any list of sessions.
//
// FAULT: G8
func TestTypeAhead_Quits_WhenNoListComes(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.keys("q^q")
	if b.quit {
		t.Fatal("it quit at once")
	}
	b.ring()
	if !b.quit {
		t.Error("it does not quit")
	}
}
