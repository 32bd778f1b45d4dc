package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// approver fakes callers that request approval.
type approver struct {
	answers chan string
	fails   bool
}

func (a *approver) Answer(_ context.Context, ids []string, r overlays.Reply) error {
	if a.fails {
		return errors.New("the daemon is away")
	}
	a.answers <- fmt.Sprint(ids, " ", r.Answer)
	return nil
}

func approval(id string) model.Approval {
	return model.Approval{ID: id, Requester: "agent claude", Session: "b", Name: "b", What: "git push " + id, Group: "push", Asked: epoch, Count: 1}
}

// ask sets the pending approvals. Session b is the one that waits for them.
func (b *bench) ask(ended []model.EndedApproval, list ...model.Approval) {
	b.t.Helper()
	s := running("b")
	if len(list) > 0 {
		s.Needs = model.NeedsApproval
	}
	b.apply(model.Update{Sessions: []model.Session{running("a"), s}, Approvals: list, Ended: ended})
	b.settle()
}

// TestApprovals checks that a new approval is announced and takes no keys: they still reach the session. The panel
// opens on request.
//
// FEATURES: R63 R80
func TestApprovals(t *testing.T) {
	a := &approver{answers: make(chan string, 9)}
	b := newBench(t, 100, 24, Options{Approver: a})
	b.ask(nil)
	b.keys("^A")
	b.shows("no pending approvals")
	b.keys("^1")
	b.ask(nil, approval("A1"))
	b.shows("Ctrl-Space A to approve: git push A1, requested by agent claude")
	b.keys("1")
	if in := b.streams["a"].input(t); in.Key == nil || in.Key.Text != "1" {
		t.Errorf("the key went to another session: %+v", in)
	}
	b.shows("! 1 to approve (Ctrl-Space A)", "! 1 to approve", "needs approval")
	b.ask(nil, approval("A1"), approval("A2"), approval("A3"))
	b.shows("Ctrl-Space A to approve: 2 more commands")
	b.ask(nil, approval("A1"), approval("A3"))
	b.shows("Ctrl-Space A to approve: git push A3, requested by agent claude")
	b.ask(nil, approval("A1"), approval("A2"), approval("A3"))

	b.keys("^A")
	b.shows("Approval A1", "1 of 3", "git push A1")
	b.streams["a"].none(t)
	b.keys("1")
	b.call()
	if got := <-a.answers; got != "[A1] once" {
		t.Errorf("answered: %s", got)
	}
	b.shows("A1: allowed once", "Approval A2")
	b.keys("a")
	b.keys("1")
	b.call()
	if got := <-a.answers; got != "[A2 A3] once" {
		t.Errorf("answered: %s", got)
	}
	b.shows("2 approvals: allowed once")
	if b.overlay != nil {
		t.Error("the panel is open and empty")
	}
	b.ask(nil)
	if len(b.answered) != 0 || b.m.Alerts["b"].Kind != model.AlertNone {
		t.Errorf("left over: %v, %v", b.answered, b.m.Alerts)
	}
}

// TestApprovalsWaitOn checks that an approval that cannot be answered stays pending, that one answered elsewhere names
// its author, and that Escape answers nothing.
//
// FEATURES: R63 R80
func TestApprovalsWaitOn(t *testing.T) {
	a := &approver{answers: make(chan string, 9), fails: true}
	b := newBench(t, 80, 24, Options{Approver: a})
	b.ask(nil)
	b.ask(nil, approval("A1"))
	b.keys("^A1")
	b.call()
	b.shows("A1 not answered: the daemon is away")
	b.keys("^A")
	b.shows("Approval A1")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	if b.overlay != nil || len(b.pendingApprovals()) != 1 {
		t.Error("Escape does more than to close")
	}
	b.keys("^A")
	b.ask([]model.EndedApproval{{ID: "A1", How: "rejected by uid 0: too early"}}, approval("A2"))
	b.shows("git push A1", "rejected by uid 0: too early; press any key")
	b.keys("x")
	b.shows("Approval A2")
	b.ask([]model.EndedApproval{{ID: "A2", How: "allowed once by uid 0"}})
	b.shows("allowed once by uid 0; press any key")
	b.keys("x")
	if b.overlay != nil {
		t.Error("the panel is open without an approval")
	}
	if b.apply(model.Update{Unavailable: "gone"}); b.m.ApprovalOutcome("A2") == "" {
		t.Error("a daemon that is away makes forget")
	}
}

// TestApprovalsAtLittle checks that on the smallest terminals the count is shown and the panel works, also without
// sessions.
//
// FEATURES: R63
func TestApprovalsAtLittle(t *testing.T) {
	a := &approver{answers: make(chan string, 9)}
	b := newBench(t, 20, 5, Options{Approver: a})
	b.apply(model.Update{})
	b.apply(model.Update{Approvals: []model.Approval{approval("A1")}})
	b.settle()
	b.keys("A")
	b.shows("A1  1/1", "git push A1", "1onc 2ses 3alw 4no")
	b.keys("2")
	b.call()
	if got := <-a.answers; got != "[A1] session" {
		t.Errorf("answered: %s", got)
	}
	b = newBench(t, 80, 24, Options{})
	b.ask(nil)
	b.ask(nil, approval("A1"))
	b.shows("! 1 to approve")
	b.keys("^A")
	b.shows("approvals cannot be answered here")

	b = newBench(t, 80, 24, Options{Approver: a, LiveOptions: LiveOptions{Alerts: model.Alerts{NoApproval: true}}})
	b.ask(nil)
	b.ask(nil, approval("A1"))
	if slices.Contains([]model.AlertKind{model.AlertApproval, model.AlertInput}, b.m.Alerts["b"].Kind) || b.message != "" {
		t.Errorf("announced although disabled: %q", b.message)
	}
	b.shows("! 1 to approve")
}

// TestAnnouncedApprovalsGo checks that the announcement of an approval is removed when it is answered elsewhere, and
// other messages stay.
//
// FEATURES: R63
func TestAnnouncedApprovalsGo(t *testing.T) {
	b := newBench(t, 100, 24, Options{Approver: &approver{}})
	b.ask(nil)
	b.ask(nil, approval("A1"))
	b.shows("Ctrl-Space A to approve: git push A1")
	b.ask(nil)
	if text := b.term.Text(); strings.Contains(text, "to approve") || strings.Contains(text, "git push") {
		t.Errorf("it is still announced:\n%s", text)
	}
	b.ask(nil, approval("A2"))
	b.message = "copied 3 characters"
	b.ask(nil)
	b.shows("copied 3 characters")
}
