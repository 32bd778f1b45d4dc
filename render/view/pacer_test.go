package view

import (
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
)

// TestPacer checks that output is drawn at a limited rate, and the result of user actions at once.
func TestPacer(t *testing.T) {
	ms := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }
	var p framePacer
	for _, c := range []struct {
		at     int // ms
		urgent bool
		cost   time.Duration // of the drawing before
		rung   bool          // the wait has ended
		draw   bool
		wait   time.Duration
	}{
		{at: 0, draw: true},
		{at: 2, wait: minGap - 2*time.Millisecond},
		{at: 3}, // the timer runs
		{at: 4, urgent: true, draw: true},
		{at: 5}, // it still runs
		{at: 8, rung: true, urgent: true, draw: true},
		{at: 9, wait: minGap - time.Millisecond},
		{at: 16, rung: true, urgent: true, draw: true},
		{at: 30, cost: 10 * time.Millisecond, wait: 6 * time.Millisecond}, // drawing is slow: half the time stays free
		{at: 36, rung: true, cost: 10 * time.Millisecond, wait: 20 * time.Millisecond},
		{at: 60, rung: true, urgent: true, draw: true},
		{at: 69, draw: true},
	} {
		p.cost = c.cost
		if c.rung {
			p.waitEnded(ms(c.at))
		}
		p.urgent = c.urgent
		if draw, wait := p.due(ms(c.at)); draw != c.draw || wait != c.wait {
			t.Errorf("at %d ms: draw %v, wait %v; want %v, %v", c.at, draw, wait, c.draw, c.wait)
		}
	}
}

// TestPacerOfEchoes checks that output of sessions is delayed for a moment while an echo is expected, that the echo is
// drawn at once, whatever was drawn before it, and that a key without a visible effect draws nothing.
func TestPacerOfEchoes(t *testing.T) {
	ms := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }
	const wait = -1
	var p framePacer
	for _, c := range []struct {
		at    int
		what  string
		draws int // 1; 0: not; wait: later
	}{
		{0, "output", 1},
		{20, "key", 0},
		{21, "output", wait}, // of another session
		{22, "echo", 1},
		{23, "output", 1}, // it waits for no key
		{40, "rung", 1},
		{60, "key", 0},
		{61, "echo", 1},
		{62, "key", 0},
		{63, "echo", 1},
		{80, "key", 0},
		{86, "key", 0},
		{87, "output", wait},
		{88, "rung", 1}, // it had no result, and keys do not delay it
	} {
		switch c.what {
		case "key":
			p.noteTyped(ms(c.at))
		case "output":
			p.noteOutput(false)
		case "echo":
			p.noteOutput(true)
		case "rung":
			p.waitEnded(ms(c.at))
			p.urgent = true // as any timer requests
		}
		draw, later := p.due(ms(c.at))
		if draw != (c.draws == 1) || later > 0 != (c.draws == wait) {
			t.Errorf("at %d ms, %s: draw %v, later %v", c.at, c.what, draw, later)
		}
	}
}

// TestOnlyWhatIsSeenIsDrawn checks that a key that goes to a session and changes nothing on the screen draws nothing:
// its echo will. Any other effect of a key is drawn at once.
func TestOnlyWhatIsSeenIsDrawn(t *testing.T) {
	key := func(r rune) tcell.Event { return tcell.NewEventKey(tcell.KeyRune, r, 0) }
	prefix := tcell.NewEventKey(tcell.KeyCtrlSpace, 0, tcell.ModCtrl)
	for _, c := range []struct {
		name   string
		before func(b *bench)
		event  tcell.Event
		unseen bool
	}{
		{"a key", func(*bench) {}, key('x'), true},
		{"Enter", func(*bench) {}, tcell.NewEventKey(tcell.KeyEnter, 0, 0), true},
		{"the prefix", func(*bench) {}, prefix, false},
		{"the prefix for the session", func(b *bench) { b.send(prefix) }, prefix, false},
		{"under a message", func(b *bench) { b.message = "so" }, key('x'), false},
		{"under the welcome", func(b *bench) { b.welcome = true }, key('x'), false},
		{"read-only", func(b *bench) { b.keys("^e") }, key('x'), false},
		{"in copy mode", func(b *bench) { b.keys("^s") }, key('k'), false},
		{"that is not typed in copy mode", func(b *bench) { b.keys("^s") }, tcell.NewEventKey(tcell.KeyF5, 0, 0), false},
		{"with an alert", func(b *bench) { b.m.Alerts["b"] = model.Alert{Kind: model.AlertBell} }, key('x'), false},
		{"for what has ended", func(b *bench) { b.list(exited("a", 0), running("b")) }, key('x'), false},
		{"of all panes", func(b *bench) { b.keys("^y") }, key('x'), true},
		{"focus", func(*bench) {}, tcell.NewEventFocus(true), false},
		{"size", func(*bench) {}, tcell.NewEventResize(80, 12), false},
	} {
		b := newBench(t, 80, 12, Options{})
		b.list(running("a"), running("b"))
		b.m.Focus = "a"
		b.settle()
		c.before(b)
		b.pacer = framePacer{}
		b.handleAndDraw(c.event)
		if draw, _ := b.pacer.due(epoch); draw == c.unseen {
			t.Errorf("%s: drawn %v", c.name, draw)
		}
	}
}
