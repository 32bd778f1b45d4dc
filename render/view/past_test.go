package view

import (
	"context"
	"errors"
	"testing"
)

type fakeHistorian struct{ past string }

func (h fakeHistorian) StartPlayback(_ context.Context, id string) (string, error) {
	if h.past == "" {
		return "", errors.New("no room")
	}
	return id + h.past, nil
}

// TestPastBesideThePresent checks that the time travel of a session opens beside it, and its pane closes when it ends.
//
// FEATURES: R117
func TestPastBesideThePresent(t *testing.T) {
	h := &fakeHistorian{}
	b := newBench(t, 80, 12, Options{Historian: h})
	b.list(running("a"), running("b"))
	b.m.Focus = "a"
	b.settle()
	b.keys("^B")
	b.call()
	b.shows("history not shown: no room")
	h.past = "-past"
	b.keys("^B")
	b.call()
	b.list(running("a"), running("b"), running("a-past"))
	if b.m.Focus != "a-past" || len(b.m.Places) != 3 || b.m.Places[1].Session != "a-past" {
		t.Fatalf("focus %s, %+v", b.m.Focus, b.m.Places)
	}
	b.list(running("a"), running("b"), exited("a-past", 0))
	if b.m.Focus == "a-past" || len(b.m.Places) != 2 {
		t.Errorf("focus %s, %+v", b.m.Focus, b.m.Places)
	}
	b.m.Focus = "b"
	b.settle()
	b.keys("^F^B")
	b.call()
	b.list(running("a"), running("b"), running("b-past"))
	if f := b.m.Places[len(b.m.Places)-1]; b.m.Focus != "b-past" || f.Session != "b-past" || !f.Float {
		t.Errorf("beside what floats: %+v", b.m.Places)
	}
}

// TestPastEndsWithItsPane checks that time travel ends with its pane, with its tab, and with the viewer, and that
// others continue.
//
// FEATURES: R117
func TestPastEndsWithItsPane(t *testing.T) {
	b := newBench(t, 80, 12, Options{Historian: &fakeHistorian{past: "-past"}})
	open := func() {
		b.list(running("a"))
		b.m.Focus = "a"
		b.settle()
		b.keys("^B")
		b.call()
		b.list(running("a"), running("a-past"))
	}
	open()
	b.keys("^c")
	b.call()
	if id := <-b.src.killed; id != "a-past" {
		t.Errorf("killed %s", id)
	}
	if b.list(running("a"), exited("a-past", 0)); len(b.m.Places) != 1 || b.m.Focus != "a" {
		t.Errorf("focus %s, %+v", b.m.Focus, b.m.Places)
	}
	open()
	closeTab(b.viewer)
	b.call()
	if id := <-b.src.killed; id != "a-past" {
		t.Errorf("with its tab: killed %s", id)
	}
	b.list(running("a"), running("a-past"))
	if b.endPlaybacks(); len(b.src.killed) != 1 || <-b.src.killed != "a-past" {
		t.Error("it continues after the viewer")
	}
	b.list(running("a"), exited("a-past", 0))
	if b.endPlaybacks(); len(b.src.killed) > 0 {
		t.Error("one that has ended is killed")
	}
	b.keys("^c")
	if b.settle(); len(b.src.killed) > 0 {
		t.Error("a session is killed by closing its pane")
	}
}
