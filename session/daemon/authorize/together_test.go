package authorize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// TestLinesThatAreAnsweredTogether checks that executions of several pending lines of a session, all answered before
// the first runs, need no further approval until their line ends.
//
// FEATURES: R63 R107
func TestLinesThatAreAnsweredTogether(t *testing.T) {
	g := open(t, t.TempDir())
	const lines = 3
	var all []*Pending
	for i := range lines {
		a := line(fmt.Sprintf("job-%d", i), fmt.Sprintf("rm -f w%d", i), agent)
		a.ReportsEnd, a.Policy = true, "readonly"
		all = append(all, waiting(t, g, a))
	}
	if _, err := g.AnswerAll(t.Context(), person, api.ApprovalsAnswer{All: true, ApprovalAnswer: api.ApprovalAnswer{Answer: "once"}}); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	removes := func(i int, try string) (Answer, *Pending) {
		t.Helper()
		answer, p, err := g.Begin(t.Context(), Request{
			ID: fmt.Sprintf("execution-%d-%s", i, try), Kind: Execution, Actor: identity.Actor{UID: 1000}, Session: "s", Path: "/usr/bin/rm",
			Argv: []string{"rm", "-f", fmt.Sprintf("w%d", i)}, Cwd: "/home/u/p", Home: "/home/u", Depth: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		return answer, p
	}
	for i := range lines {
		if answer, p := removes(i, "runs"); p != nil || answer.Approval != all[i].ID() {
			t.Errorf("an execution of line %d needs approval again: %+v", i, answer)
		}
		g.LineFinished("s", fmt.Sprintf("job-%d", i))
		if i == lines-1 {
			break // of the last one something may run on
		}
		if _, p := removes(i, "has run"); p == nil {
			t.Errorf("line %d has ended, and its approval still counts", i)
		}
	}
	b := line("job-last", "ls", agent)
	b.Policy = "readonly"
	if _, p, err := g.Begin(t.Context(), b); p != nil || err != nil {
		t.Fatal(err)
	}
	if _, p := removes(lines-1, "has run"); p == nil {
		t.Error("the last line has ended, the session got another, and the old approval still counts")
	}
	for i := range 3 * maxFlights {
		a := line(fmt.Sprintf("many-%d", i), "ls", agent)
		a.ReportsEnd = true
		if _, _, err := g.Begin(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(g.flights["s"]); n != maxFlights {
		t.Errorf("%d lines are stored", n)
	}
}

// ruled returns a house with rules in a file, and a function that changes them, with modification times long ago.
func ruled(t *testing.T, rules string) (house, func(string)) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if past := time.Now().Add(-time.Hour); os.Chtimes(file, past, past) != nil {
			t.Fatal("the time of the rules cannot be set")
		}
	}
	write(rules)
	g := open(t, dir)
	return g, func(text string) {
		t.Helper()
		write(text)
		g.c.Rules = rulebook.Open(rulebook.Options{File: file}) // one that reads it at once
	}
}

// TestPendingApprovals_ReevaluatedOnRuleChange checks that pending requests are judged again when rules change: denied
// ones are rejected, allowed ones proceed, and the others stay pending.
//
// FEATURES: R61 R63
func TestPendingApprovals_ReevaluatedOnRuleChange(t *testing.T) {
	g, change := ruled(t, `ask = ["rm", "touch", "mkdir"]`)
	rm, touch, mkdir := waiting(t, g, line("j1", "rm x", person)), waiting(t, g, line("j2", "touch x", person)), waiting(t, g, line("j3", "mkdir x", person))
	g.Reconsider(t.Context())
	if n := g.Pending(); n != 3 {
		t.Fatalf("%d are pending under the rules of their requests", n)
	}
	change(`deny = ["rm"]` + "\n" + `ask = ["mkdir"]`)
	g.Reconsider(t.Context())
	_, err := rm.Wait(t.Context())
	if codeOf(err) != api.CodeDenied || !strings.Contains(err.Error(), "deny rm") || !strings.Contains(err.Error(), "approval A1") {
		t.Errorf("denied since: %v", err)
	}
	if v, err := g.Get(t.Context(), rm.ID()); err != nil || v.State != store.ApprovalWithdrawn || v.Judgement.Verdict != "deny" {
		t.Errorf("%+v %v", v, err)
	}
	if answer, err := touch.Wait(t.Context()); err != nil || answer.Verdict != policy.Allow || answer.Approval != "" {
		t.Errorf("allowed since: %+v %v", answer, err)
	}
	if v, err := g.Get(t.Context(), touch.ID()); err != nil || v.State != store.ApprovalAnswered || v.By != nil || v.Feedback != allowedByRulesFeedback {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := g.Answer(t.Context(), touch.ID(), person, api.ApprovalAnswer{Answer: "once"}); codeOf(err) != api.CodeAnswered || !strings.Contains(err.Error(), "the rules") {
		t.Errorf("%v", err)
	}
	if g.Pending() != 1 {
		t.Errorf("%d wait", g.Pending())
	}
	if _, err := g.Answer(t.Context(), mkdir.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Error(err)
	}
}

// TestAnswerToWhatIsDeniedByNow checks that an answer to a request that the rules deny by now is rejected with the
// reason, even if no other operation has noticed the rules yet. A rejection is accepted.
//
// FEATURES: R61 R63
func TestAnswerToWhatIsDeniedByNow(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		g, change := ruled(t, `ask = ["rm"]`)
		first, second := waiting(t, g, line("j1", "rm x", person)), waiting(t, g, line("j2", "rm y", person))
		if restarted {
			for _, e := range g.queue.open {
				e.rules = nil
			}
		}
		change(`deny = ["rm"]`)
		_, err := g.Answer(t.Context(), first.ID(), person, api.ApprovalAnswer{Answer: "once"})
		if codeOf(err) != api.CodeDenied || !strings.Contains(err.Error(), "deny rm") {
			t.Errorf("%v", err)
		}
		if _, err := first.Wait(t.Context()); codeOf(err) != api.CodeDenied {
			t.Errorf("caller: %v", err)
		}
		if _, err := g.Answer(t.Context(), second.ID(), person, api.ApprovalAnswer{Answer: "reject", Feedback: "no"}); err != nil {
			t.Error(err)
		}
		if _, err := second.Wait(t.Context()); codeOf(err) != api.CodeRejected {
			t.Errorf("%v", err)
		}
	}
}

// TestPlainCommands_NotStored checks that an admitted command that contains no information about its executions is not
// stored: thousands of sessions have one.
//
// FEATURES: R61
func TestPlainCommands_NotStored(t *testing.T) {
	g := open(t, t.TempDir())
	plain := Request{ID: "a", Kind: Command, Session: "s", Argv: []string{"sleep", "1"}}
	g.Started("s", plain, Answer{})
	if n := len(g.flights); n != 0 {
		t.Errorf("%d sessions have one", n)
	}
	for name, change := range map[string]func(*Request, *Answer){
		"an agent's":       func(a *Request, _ *Answer) { a.Actor.Agent = "robot" },
		"with rules":       func(a *Request, _ *Answer) { a.Policy = "readonly" },
		"with kept rules":  func(a *Request, _ *Answer) { a.Kept = "readonly" },
		"approved":         func(_ *Request, answer *Answer) { answer.Approval = "A1" },
		"an agent's token": func(a *Request, _ *Answer) { a.Actor.Policy = "readonly" },
	} {
		a, answer := plain, Answer{}
		change(&a, &answer)
		g.Started(name, a, answer)
		if g.lastFlight(name) == nil {
			t.Errorf("%s is not stored", name)
		}
		g.Started(name, plain, Answer{})
		if g.lastFlight(name) != nil {
			t.Errorf("%s is stored once the session got another line", name)
		}
	}
}

// TestState_IsShared judges lines for one shell's state concurrently, as the daemon does.
//
// FEATURES: R62
func TestState_IsShared(t *testing.T) {
	e, err := policy.New(policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := (*policy.State)(nil).After(policy.Line{Text: `f() { rm -rf /tmp/{a,b}; find . -exec ls {} \; ; }`}, policy.RanFully)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l := policy.Line{Text: "f", State: state, Cwd: "/tmp/site", Home: "/home/me"}
			for range 3 {
				if j := e.Judge(l); j.Verdict != policy.Allow {
					t.Errorf("%v (%s: %s)", j.Verdict, j.Rule, j.Why)
				}
				if after := state.After(l, policy.RanFully); after != state {
					t.Error("a call without settings has changed the state")
				}
			}
		})
	}
	wg.Wait()
}
