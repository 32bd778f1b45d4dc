package authorize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// TestLinesRememberedOfASession checks that the state that earlier lines left in a shell counts for the next line, also
// in the next daemon. Unknown state needs approval.
//
// FEATURES: R60 R61 R62
func TestLinesRememberedOfASession(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	g := open(t, dir)
	if err := g.store.CreateSession(t.Context(), store.Session{ID: "s", Name: "work", State: "running", Created: began, Started: began}); err != nil {
		t.Fatal(err)
	}
	asks := 0
	verdict := func(g house, text string, since time.Time) policy.Verdict {
		t.Helper()
		asks++
		a := line(fmt.Sprint(asks), text, agent)
		a.Since = since
		ctx, cancel := context.WithCancel(t.Context())
		answer, p, _ := g.Begin(ctx, a)
		cancel()
		if p != nil {
			if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		return answer.Verdict
	}
	want := func(g house, text string, since time.Time, want policy.Verdict) {
		t.Helper()
		if v := verdict(g, text, since); v != want {
			t.Errorf("%s: %v, want %v", text, v, want)
		}
	}
	exit := 0
	ran := func(n int, text, state string) {
		t.Helper()
		c := store.Command{Session: "s", N: n, Text: text, Source: "agent:bot", State: state, Started: began.Add(time.Second), Cwd: "/home/u/p"}
		if state == store.CommandDone {
			c.ExitCode = &exit
		}
		_, err := g.store.AddCommand(t.Context(), c)
		if errors.Is(err, store.ErrCommandExists) {
			err = g.store.UpdateCommand(t.Context(), c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want(g, "$x -rf /", began, policy.Ask)
	want(g, "x=rm", began, policy.Allow)
	want(g, "$x -rf /", began, policy.Ask) // it may not have run
	ran(1, "x=rm", store.CommandRunning)
	want(g, "$x -rf /", began, policy.Ask)
	ran(1, "x=rm", store.CommandDone)
	want(g, "$x -rf /", began, policy.Deny)
	want(g, "ls", began, policy.Allow)

	g = open(t, dir)
	want(g, "$x -rf /", began, policy.Deny)
	exit = 1
	want(g, "y=$nosuch; x=ls", began, policy.Allow)
	ran(2, "y=$nosuch; x=ls", store.CommandDone) // with set -u the shell gives it up
	want(g, "$x -rf /", began, policy.Ask)
	exit = 0
	want(g, "export GIT_EDITOR=/tmp/x", began, policy.Allow)
	ran(3, "export GIT_EDITOR=/tmp/x", store.CommandDone)
	want(g, "git commit", began, policy.Ask)
	g = open(t, dir)
	want(g, "git commit", began, policy.Ask)

	ran(5, "ls", store.CommandDone) // the fourth was not recorded: by a daemon that was killed
	g = open(t, dir)
	want(g, "ls", began, policy.Ask)

	// FAULT: G1: a user's answer for the session leaves that state, in the next daemon too; what is known of other lines stays.
	a := line("vouched", "ls", agent)
	a.Since = began
	_, p, _ := g.Begin(t.Context(), a)
	if p == nil {
		t.Fatal("no approval request")
	}
	if why := p.Approval().Judgement.Why; !strings.Contains(why, "the text of command 4 was not recorded") {
		t.Errorf("the reason is %q", why)
	}
	if instead := p.Approval().Judgement.Instead; !strings.Contains(instead, "answer `session`") {
		t.Errorf("instead is %q", instead)
	}
	if _, err := g.Answer(t.Context(), p.Approval().ID, person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		want(g, "ls", began, policy.Allow)
		want(g, "touch f", began, policy.Allow)
		want(g, "git commit", began, policy.Ask)
		g = open(t, dir)
	}
	ran(7, "ls", store.CommandDone) // state lost after the answer needs approval again
	want(g, "ls", began, policy.Ask)

	want(g, "ls", began.Add(time.Hour), policy.Allow) // another shell
	want(g, "git commit", began.Add(time.Hour), policy.Allow)

	_ = g.store.Close()
	want(g, "ls", began, policy.Ask)
}

// TestLinesJudgedAgain checks that a line judged again when it is submitted takes lines submitted in between into
// account, and --yes counts no more than before.
//
// FEATURES: R60 R62
func TestLinesJudgedAgain(t *testing.T) {
	g := open(t, t.TempDir())
	began := time.Now()
	if err := g.store.CreateSession(t.Context(), store.Session{ID: "s", Name: "work", State: "running", Created: began, Started: began}); err != nil {
		t.Fatal(err)
	}
	a := line("1", "$x -rf /", agent)
	a.Since = began
	if j := g.Reevaluate(t.Context(), a); j.Verdict != policy.Ask {
		t.Errorf("a variable that was never set: %v", j.Verdict)
	}
	a.Yes = true
	if j := g.Reevaluate(t.Context(), a); j.Verdict != policy.Ask {
		t.Errorf("an agent with --yes: %v", j.Verdict)
	}
	exit := 0
	c := store.Command{Session: "s", N: 1, Text: "x=rm", Source: "agent:bot", State: store.CommandDone, Started: began.Add(time.Second), Cwd: "/home/u/p", ExitCode: &exit}
	if _, err := g.store.AddCommand(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if j := g.Reevaluate(t.Context(), a); j.Verdict != policy.Deny {
		t.Errorf("of one that was: %v (%s)", j.Verdict, j.Why)
	}
}

// TestLinesThatMeanSomethingElseByNow checks that an allowed line is not run if it means something else by then: the
// shell got other lines during the approval, or changed its directory. Lines without effect on it, and the user's own,
// do not matter.
//
// FEATURES: R62 R63 R107
func TestLinesThatMeanSomethingElseByNow(t *testing.T) {
	for _, c := range []struct {
		line, meanwhile, cwd string
		who                  identity.Actor
		refused              bool
	}{
		{"touch f; pwd", "", "", agent, false},
		{"touch f; pwd", "ls -l", "", agent, false},
		{"touch f; pwd", "y=1", "", agent, false},
		{"touch f; pwd", "touch() { echo evil > g; }", "", agent, true},
		{"touch f; pwd", "alias touch='rm -r'", "", agent, true},
		{"touch $y", "y=/home/u/other", "", agent, false}, // its content was unknown
		{"touch f; pwd", "cd /home/u/q", "/home/u/q", agent, true},
		{"touch f; pwd", "", "/home/u/p", agent, false},
		{"touch f; pwd", "touch() { echo mine > g; }", "/home/u/q", person, false},
	} {
		g := open(t, t.TempDir())
		g.c.Cwd = func(string) string { return c.cwd }
		began := time.Now()
		if err := g.store.CreateSession(t.Context(), store.Session{ID: "s", Name: "work", State: "running", Created: began, Started: began}); err != nil {
			t.Fatal(err)
		}
		a := line("1", c.line, c.who)
		a.Since, a.Policy = began, "listed"
		p := waiting(t, g, a)
		if c.meanwhile != "" {
			exit := 0
			ran := store.Command{Session: "s", N: 1, Text: c.meanwhile, Source: "agent:bot", State: store.CommandDone, Started: began.Add(time.Second), Cwd: "/home/u/p", ExitCode: &exit}
			if _, err := g.store.AddCommand(t.Context(), ran); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
			t.Fatal(err)
		}
		_, err := p.Wait(t.Context())
		if (codeOf(err) == api.CodeDenied) != c.refused || !c.refused && err != nil {
			t.Errorf("%s, meanwhile %q, now in %q: %v", c.line, c.meanwhile, c.cwd, err)
		}
		if e := asError(err); c.refused && (e.Hint == "" || !strings.Contains(e.Message, "when the approval was requested")) {
			t.Errorf("%v", err)
		}
	}
}

// TestOrdinaryWorkAfterManyLines checks that lines that never become commands of the shell, and users' lines, do not
// make ordinary work need approval.
//
// FEATURES: R61 R62
func TestOrdinaryWorkAfterManyLines(t *testing.T) {
	g := open(t, t.TempDir())
	began := time.Now()
	if err := g.store.CreateSession(t.Context(), store.Session{ID: "s", Name: "work", State: "running", Created: began, Started: began}); err != nil {
		t.Fatal(err)
	}
	asks := 0
	give := func(text string, who identity.Actor, since time.Time) Request {
		t.Helper()
		asks++
		a := line(fmt.Sprint(asks), text, who)
		a.Since = since
		if _, p, err := g.Begin(t.Context(), a); p != nil || err != nil {
			t.Fatalf("%s, line %d: %v %v", text, asks, p, err)
		}
		return a
	}
	give("cd /srv", agent, began)
	for range 2 * maxSubmitted {
		give("ls", agent, began) // no evidence that they run
	}
	for i := range 2 * maxSubmitted { // as for a program that the shell runs
		a := give(fmt.Sprintf("x=%d", i), agent, began)
		g.NotSubmitted(a.Session, a.ID)
	}
	for i := range 2 * maxSubmitted { // the session was not followed for long
		text := fmt.Sprintf("y=%d", i)
		give(text, person, began)
		c := store.Command{Session: "s", N: i + 1, Text: text, State: store.CommandDone, Started: began.Add(time.Second), Cwd: "/home/u/p"}
		if _, err := g.store.AddCommand(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	give("ls $y", agent, began)
	for i := range 2 * maxSubmitted { // which never run
		give(fmt.Sprintf("z=%d", i), person, began)
	}
	if _, p, err := g.Begin(t.Context(), Request{ID: "full", Kind: Line, Actor: agent, Session: "s", Line: "ls", Shell: "bash", Since: began}); p == nil || err != nil {
		t.Error("no approval request although the shell's state is unknown", err)
	}
	give("ls", agent, began.Add(time.Hour)) // another shell
}

// TestSecretsThatLinesAssign checks that the value of a secret is not recorded: only that a line has assigned it.
//
// FEATURES: R61 R62
func TestSecretsThatLinesAssign(t *testing.T) {
	g := open(t, t.TempDir())
	began := time.Now()
	if err := g.store.CreateSession(t.Context(), store.Session{ID: "s", Name: "work", State: "running", Created: began, Started: began}); err != nil {
		t.Fatal(err)
	}
	exit, secret := 0, store.Redacted
	for i, row := range []struct {
		text string
		want policy.Verdict
	}{
		{"export KEY=rm", policy.Deny},
		{"export KEY=ls", policy.Allow},
		{"make", policy.Ask}, // it has changed in an unknown way
		{"export KEY=`date`", policy.Ask},
	} {
		c := store.Command{
			Session: "s", N: i + 1, Text: row.text, Source: "agent:bot", State: store.CommandDone, ExitCode: &exit, Started: began, Cwd: "/home/u/p",
			Env: map[string]*string{"KEY": &secret},
		}
		if _, err := g.store.AddCommand(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		answer, _, _ := g.Begin(t.Context(), line(fmt.Sprint(i), "$KEY -rf /", agent))
		if answer.Verdict != row.want {
			t.Errorf("after %s: %v, want %v", row.text, answer.Verdict, row.want)
		}
	}
}

// TestConcurrentLines_JudgedInOrder checks that a line judged while another is about to be submitted is judged after
// that one. A line that is not submitted has no effect.
//
// FEATURES: R61 R62
func TestConcurrentLines_JudgedInOrder(t *testing.T) {
	g := open(t, t.TempDir())
	g.c.Audit = whileItIsWritten{g.said, "x=rm", func() {
		if _, p, err := g.Begin(t.Context(), line("2", "$x -rf /", agent)); p == nil || err != nil {
			t.Errorf("it is judged as if x had no value: %v", err)
		}
	}}
	began := time.Now()
	err := g.store.CreateSession(t.Context(), store.Session{ID: "s", Name: "work", State: "running", Created: began, Started: began})
	if err != nil {
		t.Fatal(err)
	}
	exit := 0
	c := store.Command{
		Session: "s", N: 1, Text: "x=ls", Source: "agent:bot", State: store.CommandDone, ExitCode: &exit, Started: began, Cwd: "/home/u/p",
	}
	if _, err := g.store.AddCommand(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, p, err := g.Begin(t.Context(), line("0", "$x -rf /", agent)); p != nil || err != nil {
		t.Fatal(p, err)
	}
	if _, p, err := g.Begin(t.Context(), line("1", "x=rm", agent)); p != nil || err != nil {
		t.Fatal(p, err)
	}
	if p := waiting(t, g, line("3", "rm -r $nothing; y=2", agent)); len(g.histories["s"].submitted) != 1 {
		t.Errorf("%s, which waits, counts: %v", p.ID(), g.histories["s"].submitted)
	}
}

// whileItIsWritten does something while the trail writes of a line.
type whileItIsWritten struct {
	Audit
	line string
	do   func()
}

func (w whileItIsWritten) RecordDecision(ctx context.Context, r Record) error {
	if r.Request.Line == w.line {
		w.do()
	}
	return w.Audit.RecordDecision(ctx, r)
}

// TestHalfALineIsRefused checks that an agent's incomplete line needs no approval: it is rejected, with a hint.
//
// FEATURES: R61 R62
func TestHalfALineIsRefused(t *testing.T) {
	g := open(t, t.TempDir())
	_, p, err := g.Begin(t.Context(), line("1", "if true; then", agent))
	var e *api.Error
	if p != nil || !errors.As(err, &e) || e.Code != api.CodeDenied || e.Policy.Rule != "incomplete" || !strings.Contains(e.Hint, "whole statement") {
		t.Errorf("%v %v", p, err)
	}
	if _, p, err := g.Begin(t.Context(), line("2", "if true; then ls; fi", agent)); p != nil || err != nil {
		t.Errorf("%v %v", p, err)
	}
	if _, p, err := g.Begin(t.Context(), line("3", "if true; then", person)); p != nil || err != nil {
		t.Errorf("a user's: %v %v", p, err)
	}
}
