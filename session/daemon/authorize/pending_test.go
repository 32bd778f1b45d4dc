package authorize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store"
)

// FEATURES: R63 R107
func TestApprovalsOutliveTheDaemon(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	a := line("job-1", "rm -r $X", agent)
	p := waiting(t, g, a)
	other := line("job-2", "rm -r $X", agent)
	waiting(t, g, other)
	if v := p.Approval(); v.Count != 2 || v.Rule != "" || v.NoRule != "hard:remove always requires approval: "+v.Judgement.Why {
		t.Errorf("%+v", v)
	}
	g.MarkStopping()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_ = g.store.Close()

	g = open(t, dir)
	if list, err := g.List(t.Context(), Query{}); err != nil || len(list) != 1 || list[0].Count != 2 || list[0].ID != "A1" {
		t.Fatalf("%+v %v", list, err)
	}
	p = waiting(t, g, a)
	if p.ID() != "A1" {
		t.Errorf("repeated, it is %s", p.ID())
	}
	if _, err := g.Answer(t.Context(), "A1", person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if answer, err := p.Wait(t.Context()); err != nil || answer.Verdict != policy.Allow {
		t.Errorf("%+v %v", answer, err)
	}
	_ = g.store.Close()

	g = open(t, dir)
	for _, id := range []string{"job-1", "job-2"} { // a caller that was late finds the answer
		if answer, p, err := g.Begin(t.Context(), line(id, "rm -r $X", agent)); err != nil || p != nil || answer.Approval != "A1" {
			t.Errorf("%s: %+v %v %v", id, answer, p, err)
		}
	}
	if p := waiting(t, g, line("job-3", "rm -r $X", agent)); p.ID() != "A2" {
		t.Errorf("a number is given twice, or an answer: %s", p.ID())
	}
	g.dropUnrepeated()
	if list, _ := g.List(t.Context(), Query{}); len(list) != 1 {
		t.Errorf("a held one was dropped: %+v", list)
	}
}

// TestAbandonedApproval_Closed checks that a request is closed when its callers have left, and that is published.
func TestAbandonedApproval_Closed(t *testing.T) {
	g := open(t, t.TempDir())
	a := line("job-1", "rm -r $X", agent)
	p := waiting(t, g, a)
	second := waiting(t, g, line("job-2", "rm -r $X", agent))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if v, err := g.Get(t.Context(), "A1"); err != nil || v.State != "pending" || v.Count != 1 {
		t.Errorf("another still waits: %+v %v", v, err)
	}
	if _, err := second.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if v, err := g.Get(t.Context(), "A1"); err != nil || v.State != store.ApprovalWithdrawn || v.Ended == nil {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := g.Answer(t.Context(), "A1", person, api.ApprovalAnswer{Answer: "once"}); codeOf(err) != api.CodeAnswered || !strings.Contains(err.Error(), "A1 is closed") {
		t.Errorf("%v", err)
	}
	if want := []string{"approval A1", "approval-gone A1"}; fmt.Sprint(g.said.events) != fmt.Sprint(want) {
		t.Errorf("%v", g.said.events)
	}
}

// TestAskingsHaveTheirOwnMinute checks that a request made after a daemon's start has its full minute to be repeated,
// not the remainder of the minute of earlier requests.
//
// FEATURES: R63
func TestAskingsHaveTheirOwnMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, t.TempDir())
		defer g.store.Close()
		asks := func(id string) {
			a := line(id, "touch f", agent)
			a.Policy = "readonly"
			waiting(t, g, a).Release()
		}
		left := func() int {
			synctest.Wait()
			list, err := g.List(t.Context(), Query{})
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		time.Sleep(grace - time.Second)
		asks("1")
		time.Sleep(grace - time.Second)
		if n := left(); n != 1 {
			t.Errorf("%d are left before its minute is over", n)
		}
		time.Sleep(2 * time.Second)
		if n := left(); n != 0 {
			t.Errorf("%d are left after it", n)
		}
	})
}

// numberIn is the number of a line of the test.
func numberIn(t *testing.T, line string) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(line, "touch f%d", &n); err != nil {
		t.Fatal(line, err)
	}
	return n
}

// FEATURES: R63
func TestHundredAskings(t *testing.T) {
	g := open(t, t.TempDir())
	var done sync.WaitGroup
	allowed := make(chan string, 200)
	for i := range 100 {
		for _, program := range []string{"touch", "mkdir"} {
			a := line(fmt.Sprint(program, i), fmt.Sprintf("%s f%d", program, i), agent)
			a.Policy = "readonly"
			p := waiting(t, g, a)
			done.Go(func() {
				if _, err := p.Wait(t.Context()); err == nil {
					allowed <- program
				} else if codeOf(err) != api.CodeRejected {
					t.Error(err)
				}
			})
		}
	}
	out, err := g.AnswerAll(t.Context(), person, api.ApprovalsAnswer{Group: "not reading touch", ApprovalAnswer: api.ApprovalAnswer{Answer: "once"}})
	if err != nil || len(out.Answered) != 100 || len(out.Failed) != 0 {
		t.Fatalf("%d answered, %+v, %v", len(out.Answered), out.Failed, err)
	}
	// One answer for the session answers all that it allows.
	list, _ := g.List(t.Context(), Query{})
	if _, err := g.Answer(t.Context(), list[0].ID, person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	if list, _ := g.List(t.Context(), Query{}); len(list) != 0 {
		t.Errorf("%d allowed ones need approval", len(list))
	}
	done.Wait()
	if len(allowed) != 200 {
		t.Errorf("%d of 200 were allowed", len(allowed))
	}
	if _, err := g.AnswerAll(t.Context(), person, api.ApprovalsAnswer{Group: "x", All: true}); codeOf(err) != api.CodeInvalid {
		t.Error(err)
	}
	if _, err := g.AnswerAll(t.Context(), person, api.ApprovalsAnswer{IDs: []string{"A1"}, ApprovalAnswer: api.ApprovalAnswer{Answer: "once"}}); codeOf(err) != api.CodeAnswered {
		t.Error(err)
	}
}

// TestHugeAskings checks that huge requests are truncated but still distinct, and an answer to another one does not
// cover them.
func TestHugeAskings(t *testing.T) {
	tier.Full(t)
	dir := t.TempDir()
	g := open(t, dir)
	a := line("1", "touch f\x00 "+strings.Repeat("x", 1<<20), agent)
	a.Policy = "readonly"
	waiting(t, g, a)
	b := a
	b.ID, b.Line = "2", a.Line+"y"
	p := waiting(t, g, b)
	c := Request{ID: "3", Kind: Execution, Actor: agent, Session: "s", Path: "/usr/bin/touch", Policy: "readonly", Cwd: "/"}
	for range 100_000 {
		c.Argv = append(c.Argv, "touch")
	}
	if v := waiting(t, g, c).Approval(); len(v.Argv) > maxWords+1 || len(v.Judgement.Commands) > maxShown {
		t.Errorf("%d words, %d commands", len(v.Argv), len(v.Judgement.Commands))
	}
	list, _ := g.List(t.Context(), Query{})
	if len(list) != 3 {
		t.Fatalf("%d requests are distinct", len(list))
	}
	for _, v := range list {
		r, err := g.store.Approval(t.Context(), must(numberOf(v.ID)))
		if err != nil || len(r.Body) > 300<<10 {
			t.Errorf("%s: %d bytes are stored, %v", v.ID, len(r.Body), err)
		}
	}
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	b.ID = "4"
	if _, p, err := g.Begin(t.Context(), b); err != nil || p != nil {
		t.Errorf("an allowed request needs approval again: %v", err)
	}
	if v, _ := g.Get(t.Context(), "A1"); v.State != "pending" {
		t.Errorf("the answer to another let it pass: %+v", v.Answer)
	}
}

func must(n int64, err error) int64 {
	if err != nil {
		panic(err)
	}
	return n
}

// TestAuditFails checks that an action that the audit log cannot record is not done.
func TestAuditFails(t *testing.T) {
	g := open(t, t.TempDir())
	g.said.fails = errors.New("no space left")
	for name, a := range map[string]Request{"allowed": line("1", "ls", person), "asked": line("2", "rm -r $X", agent)} {
		if _, p, err := g.Begin(t.Context(), a); codeOf(err) != api.CodeStorage || p != nil {
			t.Errorf("%s: %v %v", name, p, err)
		}
	}
	if _, _, err := g.Begin(t.Context(), line("3", "rm -rf /", person)); codeOf(err) != api.CodeDenied {
		t.Errorf("%v", err)
	}
	if list, _ := g.List(t.Context(), Query{}); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	g.said.fails = nil
	waiting(t, g, line("4", "rm -r $X", agent))
	g.said.fails = errors.New("no space left")
	list, _ := g.List(t.Context(), Query{})
	if _, err := g.Answer(t.Context(), list[0].ID, person, api.ApprovalAnswer{Answer: "once"}); codeOf(err) != api.CodeStorage {
		t.Errorf("%v", err)
	}
	g.said.fails = nil
	if _, err := g.Answer(t.Context(), list[0].ID, person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Errorf("it can no longer be answered: %v", err)
	}
	var verdicts []string
	for _, r := range g.said.audit {
		verdicts = append(verdicts, fmt.Sprintf("%s %v", r.Verdict, r.Answer))
	}
	if got := strings.Join(verdicts, ", "); got != "ask false, allow true" {
		t.Errorf("audit: %s", got)
	}
}

// TestStoreFails checks that on a full disk, requests that cannot be recorded are not published.
func TestStoreFails(t *testing.T) {
	g := open(t, t.TempDir())
	_ = g.store.Close()
	if _, p, err := g.Begin(t.Context(), line("1", "rm -r $X", agent)); codeOf(err) != api.CodeStorage || p != nil {
		t.Errorf("%v", err)
	}
	if len(g.queue.open) != 0 || len(g.queue.requests) != 0 {
		t.Error("something waits that is on no record")
	}
}
