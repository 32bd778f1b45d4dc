package authorize

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/internal/retryqueue"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

var errFull = errors.New("no space left on device")

// faulty is a store in which one kind of operation fails, after some that do not.
type faulty struct {
	Store
	mu    sync.Mutex
	fails string
	after int
	light bool // approvals are not written at all
}

// failing makes an operation fail from the nth call on; "" ends that.
func (f *faulty) failing(op string, after int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails, f.after = op, after
}

func (f *faulty) fault(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails != op {
		return nil
	}
	if f.after--; f.after >= 0 {
		return nil
	}
	return errFull
}

func (f *faulty) PutApproval(ctx context.Context, a store.Approval, asking string) error {
	if err := f.fault("put"); err != nil || f.light {
		return err
	}
	return f.Store.PutApproval(ctx, a, asking)
}

func (f *faulty) ApprovalOf(ctx context.Context, asking string) (store.Approval, error) {
	if err := f.fault("find"); err != nil {
		return store.Approval{}, err
	}
	return f.Store.ApprovalOf(ctx, asking)
}

func (f *faulty) AddGrant(ctx context.Context, g store.Grant) (int64, error) {
	if err := f.fault("grant"); err != nil {
		return 0, err
	}
	return f.Store.AddGrant(ctx, g)
}

func (f *faulty) DeleteGrant(ctx context.Context, n int64) error {
	if err := f.fault("revoke"); err != nil {
		return err
	}
	return f.Store.DeleteGrant(ctx, n)
}

// faultyHouse returns a gateway over such a store.
func faultyHouse(t *testing.T) (house, *faulty) {
	t.Helper()
	h := open(t, t.TempDir())
	f := &faulty{Store: h.store}
	g, err := Open(t.Context(), Config{Rules: h.book, Author: h.book, Store: f, Audit: h.said, Bus: h.said, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h.Gateway = g
	return h, f
}

// told returns the number of events of a kind so far.
func (s *said) told(event string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e == event {
			n++
		}
	}
	return n
}

// TestAnswersThatCannotBeWritten checks that an answer that cannot be stored was not given: callers keep waiting,
// nothing is allowed by it, not even in part, and it can be given again.
//
// FEATURES: R63 R93
func TestAnswersThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		answer, fails string
		after         int
	}{
		{"once", "put", 0}, {"session", "put", 0}, {"session", "grant", 0}, {"session", "grant", 1}, {"always", "put", 0},
	} {
		t.Run(fmt.Sprint(c.answer, " ", c.fails, " ", c.after), func(t *testing.T) {
			g, disk := faultyHouse(t)
			a := line("job", "touch f; mkdir d", agent)
			a.Policy = "readonly"
			p := waiting(t, g, a)
			type end struct {
				answer Answer
				err    error
			}
			ended := make(chan end, 1)
			go func() {
				answer, err := p.Wait(t.Context())
				ended <- end{answer, err}
			}()
			disk.failing(c.fails, c.after)
			ans := api.ApprovalAnswer{Answer: c.answer}
			if c.answer == "always" {
				ans.Rule = "touch"
			}
			if _, err := g.Answer(t.Context(), p.ID(), person, ans); codeOf(err) != api.CodeStorage {
				t.Fatalf("answered on a disk that is full: %v", err)
			}
			select {
			case e := <-ended:
				t.Fatalf("a waiting caller got an event: %+v", e)
			default:
			}
			if n := len(g.said.audit); n > 0 && g.said.audit[n-1].Answer && g.said.audit[n-1].Rule != ruleNotKept {
				t.Errorf("the audit ends with an answer that does not hold: %+v", g.said.audit[n-1])
			}
			if v := p.Approval(); v.State != "pending" || v.Answer != "" {
				t.Errorf("it is %s, answered %q", v.State, v.Answer)
			}
			if list := g.Grants(); len(list) != 0 {
				t.Errorf("grants are left: %+v", list)
			}
			if n := g.said.told("approval-answered " + p.ID()); n != 0 {
				t.Errorf("its answer was published %d times", n)
			}
			b := a
			b.ID = "job-2"
			disk.failing("", 0)
			if c.answer != "always" { // a rule that was written stays in its file
				waiting(t, g, b).withdraw()
			}
			if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
				t.Fatalf("the disk has space again: %v", err)
			}
			if e := <-ended; e.err != nil || e.answer.Verdict != policy.Allow || e.answer.Scope != "once" {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestNoOnAFullDisk checks that a rejection counts even if neither disk nor audit log accept it: callers are rejected,
// later queries find it, and it is written later, at the latest when the daemon ends.
//
// FEATURES: R63 R93
func TestNoOnAFullDisk(t *testing.T) {
	for name, leaves := range map[string]bool{"there is room": false, "the daemon ends": true} {
		synctest.Test(t, func(t *testing.T) {
			g, disk := faultyHouse(t)
			a := line("job", "touch f; mkdir d", agent)
			a.Policy = "readonly"
			p := waiting(t, g, a)
			disk.failing("put", 0)
			g.said.fails = errFull
			v, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "reject", Feedback: "not now"})
			if err != nil || v.State != "answered" || !strings.Contains(v.Note, "written down once") {
				t.Fatalf("%s: %+v, %v", name, v, err)
			}
			if _, err := p.Wait(t.Context()); codeOf(err) != api.CodeRejected {
				t.Errorf("waiting caller: %v", err)
			}
			if _, again, err := g.Begin(t.Context(), a); codeOf(err) != api.CodeRejected || again != nil {
				t.Errorf("repeated request: %v", err)
			}
			if now, err := g.Get(t.Context(), p.ID()); err != nil || now.Answer != "reject" {
				t.Errorf("query: %+v, %v", now, err)
			}
			if list, err := g.List(t.Context(), Query{All: true}); err != nil || len(list) != 1 || list[0].Answer != "reject" {
				t.Errorf("list: %+v, %v", list, err)
			}
			if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); codeOf(err) != api.CodeAnswered {
				t.Errorf("answered once more: %v", err)
			}
			time.Sleep(2 * retryqueue.RetryInterval)
			if row, err := disk.Store.Approval(t.Context(), p.e.n); err != nil || row.State != store.ApprovalPending {
				t.Errorf("without space: %+v, %v", row, err)
			}
			disk.failing("", 0)
			if leaves {
				g.MarkStopping()
			} else {
				time.Sleep(retryqueue.RetryInterval)
				synctest.Wait()
			}
			if row, err := disk.Store.Approval(t.Context(), p.e.n); err != nil || row.State != store.ApprovalAnswered {
				t.Errorf("%s: %+v, %v", name, row, err)
			}
		})
	}
}

// TestAskingsThatCannotBeWritten checks that requests that cannot be recorded are not made, those that cannot be looked
// up are not allowed, and a revoked grant no longer counts even if the revocation cannot be stored. Each error names
// the disk, and nothing remains once there is space again.
//
// FEATURES: R63 R93
func TestAskingsThatCannotBeWritten(t *testing.T) {
	g, disk := faultyHouse(t)
	a := line("job", "touch f", agent)
	a.Policy = "readonly"
	for _, op := range []string{"put", "find"} {
		disk.failing(op, 0)
		answer, p, err := g.Begin(t.Context(), a)
		if codeOf(err) != api.CodeStorage || p != nil || answer.Verdict == policy.Allow {
			t.Errorf("%s fails: %+v, %v", op, answer, err)
		}
		if list, err := g.List(t.Context(), Query{}); err != nil || len(list) != 0 {
			t.Errorf("%s fails, and there is %+v, %v", op, list, err)
		}
		if g.said.told("approval A1") != 0 {
			t.Errorf("%s fails, and an approval is pending", op)
		}
	}
	disk.failing("", 0)
	p := waiting(t, g, a)
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	disk.failing("revoke", 0)
	grant := g.Grants()[0].ID
	if err := g.Revoke(t.Context(), person, grant); codeOf(err) != api.CodeStorage || !strings.Contains(err.Error(), "grant revoked, but") {
		t.Errorf("revoked, and not written: %v", err)
	}
	if list := g.Grants(); len(list) != 0 {
		t.Errorf("it counts: %+v", list)
	}
	disk.failing("", 0)
	g.unpersisted.retry()
	if list, err := disk.Grants(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("the next daemon finds %+v, %v", list, err)
	}
	// The approval is closed when its callers have left, even if that cannot be stored.
	b := line("job-2", "touch f", agent)
	b.Policy = "readonly"
	p = waiting(t, g, b)
	disk.failing("put", 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := g.Waiting("s"); len(got) != 0 {
		t.Errorf("pending still: %v", got)
	}
}

// TestAsManyAsCanWait checks that the number of pending approvals is bounded. A repeated request joins the existing
// one, and a closed one frees its place.
//
// FEATURES: R63 R93
func TestAsManyAsCanWait(t *testing.T) {
	g, disk := faultyHouse(t)
	disk.light = true
	g.said.news = make(chan string, 3*maxPending)
	ask := func(n int, text string) (*Pending, error) {
		a := line(fmt.Sprint("job-", n), text, agent)
		a.Policy = "readonly"
		_, p, err := g.Begin(t.Context(), a)
		return p, err
	}
	var first *Pending
	for n := range maxPending {
		p, err := ask(n, fmt.Sprint("touch f", n))
		if err != nil || p == nil {
			t.Fatalf("%d: %v", n, err)
		}
		if n == 0 {
			first = p
		}
	}
	_, err := ask(maxPending, "touch another")
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeLimit || e.Hint == "" {
		t.Errorf("one more: %v", err)
	}
	if p, err := ask(maxPending+1, "touch f7"); err != nil || p == nil || p.Approval().Count != 2 {
		t.Errorf("the same as one: %v", err)
	}
	if p, err := ask(7, "touch f7"); err != nil || p == nil || p.Approval().Count != 2 {
		t.Errorf("one of them again: %v", err)
	}
	first.withdraw()
	if p, err := ask(maxPending+2, "touch another"); err != nil || p == nil {
		t.Errorf("there is space again: %v", err)
	}
}

// TestCallersComeAndGo checks that callers that leave while an answer is given either get it or have given up; none
// gets another answer, and none keeps waiting.
//
// FEATURES: R63
func TestCallersComeAndGo(t *testing.T) {
	g, _ := faultyHouse(t)
	for round := range 20 {
		var callers sync.WaitGroup
		for n := range 8 {
			a := line(fmt.Sprint("job-", round, "-", n%3), fmt.Sprint("touch f", round), agent) // some with the same id
			a.Policy = "readonly"
			p := waiting(t, g, a)
			ctx, cancel := context.WithCancel(t.Context())
			if n == 7 {
				callers.Go(func() {
					if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
						t.Error(err)
					}
				})
			} else if n%2 == 0 {
				callers.Go(cancel)
			}
			callers.Go(func() {
				defer cancel()
				switch answer, err := p.Wait(ctx); {
				case err == nil && (answer.Verdict != policy.Allow || answer.Approval != p.ID()):
					t.Errorf("got %+v", answer)
				case err != nil && (n%2 != 0 || !errors.Is(err, context.Canceled)):
					t.Errorf("caller %d: %v", n, err)
				}
			})
		}
		callers.Wait()
		g.mu.Lock()
		left := len(g.queue.open) + len(g.queue.requests) + len(g.queue.digests)
		g.mu.Unlock()
		if left != 0 {
			t.Fatalf("round %d: %d are left", round, left)
		}
	}
}

// TestApproval_SameID_WhileAnswering checks that a request repeated with the same id while its answer is stored gets
// that answer; it is not published a second time.
//
// FEATURES: R63
func TestApproval_SameID_WhileAnswering(t *testing.T) {
	g, _ := faultyHouse(t)
	for round := range 200 {
		a := line(fmt.Sprint("job-", round), fmt.Sprint("touch f", round), agent)
		a.Policy = "readonly"
		first := waiting(t, g, a)
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := g.Answer(t.Context(), first.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if answer, err := g.Admit(t.Context(), a); err != nil || answer.Approval != first.ID() {
				t.Errorf("again: %+v %v", answer, err)
			}
		})
		both.Wait()
		if g.Pending() > 0 {
			t.Fatalf("round %d: requested a second time", round)
		}
	}
}
