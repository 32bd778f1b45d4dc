package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
)

// fakeInbox is the inbox of a daemon, and records the operations on it.
type fakeInbox struct {
	mu    sync.Mutex
	list  []model.InboxEntry
	err   error
	calls []string
	fails error // of changes
}

func (f *fakeInbox) Entries(context.Context) ([]model.InboxEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), f.err
}

func (f *fakeInbox) change(id, call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	if f.fails == nil {
		f.list = slices.DeleteFunc(f.list, func(e model.InboxEntry) bool { return e.ID == id })
	}
	return f.fails
}

func (f *fakeInbox) AnswerEntry(_ context.Context, id, text string) error {
	return f.change(id, fmt.Sprintf("answer %s %q", id, text))
}

func (f *fakeInbox) MarkDone(_ context.Context, id string) error { return f.change(id, "done "+id) }

func (f *fakeInbox) Snooze(_ context.Context, id string, d time.Duration) error {
	return f.change(id, fmt.Sprint("snooze ", id, " ", d))
}

func entries() []model.InboxEntry {
	at := func(d time.Duration) time.Time { return epoch.Add(-d) }
	return []model.InboxEntry{
		{ID: "A3", Kind: model.InboxApproval, Session: "build", Name: "build", Text: "claude requests approval (high risk): git push --force → overwrites branches of the remote repository: commits that only it has are lost", Since: at(time.Minute), Command: "longterm inbox answer A3 once"},
		{ID: "I5", Kind: model.InboxQuestion, Session: "deploy", Name: "deploy", Text: "asks: Continue? [y/N]", Since: at(130 * time.Second), Answerable: true, Command: "longterm inbox answer I5 y"},
		{ID: "I8", Kind: model.InboxQuestion, Session: "notes", Name: "notes", Text: "waits for a secret: Password:", Since: at(12 * time.Second), Command: "longterm attach notes"},
		{ID: "I6", Kind: "failed", Name: "far/job", Text: "make -j8 failed with status 2 after 3m12s", Since: at(5 * time.Minute), Command: "longterm -H far why job"},
		{ID: "I7", Kind: "port", Session: "web", Name: "web", Text: "node listens on port 5173", Since: at(time.Hour), Command: "longterm open web 5173"},
	}
}

func (b *bench) ctrl(r rune) {
	b.send(tcell.NewEventKey(tcell.Key(r-'a')+tcell.KeyCtrlA, r, tcell.ModCtrl))
}

func (b *bench) down(n int) {
	for range n {
		b.send(tcell.NewEventKey(tcell.KeyDown, 0, 0))
	}
}

// TestInbox_ListsAndGoesTo checks that the list shows every entry with its session and age, the chosen one in full with
// its command. Enter goes to its session.
//
// FEATURES: R130
func TestInbox_ListsAndGoesTo(t *testing.T) {
	f := &fakeInbox{list: entries()}
	b := newBench(t, 100, 30, Options{Inbox: f, Approver: &approver{}})
	b.list(running("a"), running("web"), running("deploy"))
	b.keys("^I")
	b.shows("Inbox", "loading…")
	b.call()
	b.shows("! build ", "approval 1m00s", "? deploy ", "asks: Continue? [y/N]", "✗ far/job", "● web ", "port 1h00m", "commits that only it has are", "longterm inbox answer A3 once", "Ctrl-D done")
	b.keys("5173")
	b.shows("longterm open web 5173")
	enter(b)
	if b.overlay != nil || b.m.Focus != "web" {
		t.Errorf("focus is %s", b.m.Focus)
	}
	b.keys("^I")
	b.call()
	b.down(3)
	enter(b)
	b.shows("I6 has no session here: longterm -H far why job")
	if b.m.Focus != "web" {
		t.Errorf("focus is %s", b.m.Focus)
	}

	// An approval opens its panel, at that approval.
	b.apply(model.Update{Sessions: []model.Session{running("a"), running("build")}, Approvals: []model.Approval{approval("A2"), approval("A3")}})
	b.settle()
	b.keys("^I")
	b.call()
	enter(b)
	b.shows("Approval A3", "2 of 2")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))

	f.list, f.err = f.list[:1], errors.New("far: connection lost")
	b.keys("^I")
	b.call()
	b.shows("! unavailable", "far: connection lost", "! build")
	f.list, f.err = nil, nil
	b.keys("\x1b")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.keys("^I")
	b.call()
	b.shows("nothing needs your attention")
	b.overlay, b.o.Inbox = nil, nil
	b.keys("^I")
	b.shows("inbox unavailable")
}

// TestInbox_AnswersInPlace checks that prompts are answered in place, entries are marked and snoozed, and the list
// stays open.
//
// FEATURES: R130
func TestInbox_AnswersInPlace(t *testing.T) {
	f := &fakeInbox{list: entries()}
	b := newBench(t, 100, 30, Options{Inbox: f})
	b.list(running("a"), running("deploy"))
	b.keys("^I")
	b.call()
	b.ctrl('d')
	b.shows("A3 is pending: answer or snooze it")
	b.down(1)
	b.ctrl('r')
	b.shows("to deploy:", "asks: Continue? [y/N]")
	b.keys("yes")
	enter(b)
	if strings.Contains(b.term.Text(), "Continue?") {
		t.Error("the answered question is still listed")
	}
	b.call()
	b.call()
	b.shows("I5: answered", "longterm attach notes")
	b.ctrl('r')
	b.shows("I8 is answered in its terminal; Enter jumps there")
	b.down(1)
	b.ctrl('r')
	b.shows("I6 is not a question; Ctrl-D marks it as done")
	b.ctrl('d')
	b.call()
	b.call()
	b.shows("I6: done")
	b.ctrl('s')
	b.shows("hide I7 for: 1h")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.shows("node listens on port 5173")
	b.ctrl('s')
	b.keys("0")
	enter(b)
	b.shows(`"1h0": invalid duration`)
	f.fails = errors.New("the daemon is away")
	b.ctrl('s')
	enter(b)
	b.call()
	b.call()
	b.shows("I7: the daemon is away", "node listens on port 5173") // it is back
	if got, want := fmt.Sprint(f.calls), `[answer I5 "yes" done I6 snooze I7 1h0m0s]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestInbox_KeepsChoice_WhenListChanges checks that the chosen entry stays chosen while others arrive, and that a key
// for one that has just left reaches no other.
//
// FEATURES: R130
func TestInbox_KeepsChoice_WhenListChanges(t *testing.T) {
	f := &fakeInbox{list: entries()[3:]}
	b := newBench(t, 100, 30, Options{Inbox: f})
	b.list(running("a"))
	b.keys("^I")
	b.call()
	b.shows("longterm -H far why job")
	f.list = entries()
	b.tick()
	b.call()
	b.shows("! build", "longterm -H far why job")
	b.inbox.list = entries()[:3]
	b.handle(tcell.NewEventKey(tcell.KeyCtrlD, 'd', tcell.ModCtrl)) // before the change was drawn
	if len(f.calls) > 0 {
		t.Errorf("%v: the key was meant for I6", f.calls)
	}
	b.settle()
	b.ctrl('d')
	b.call()
	b.call()
	b.shows("I8: done")
}
