package authorize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// TestApproval_OffersAnswersItTakes checks that an approval offers the answers that it takes, and the hint of another
// answer names them.
//
// FAULT: G21
func TestApproval_OffersAnswersItTakes(t *testing.T) {
	g := open(t, t.TempDir())
	command := line("job-1", "$P", agent)
	command.Kind, command.Session, command.Name = Command, "", ""
	ruled := line("job-2", "git config user.email x", agent)
	for _, c := range []struct {
		ask   Request
		want  []string
		hints map[string]string // by the rejected answer
	}{
		{command, []string{"once", "reject"}, map[string]string{"session": "answer once", "always": "answer once"}},
		{line("job-3", "$P", agent), []string{"once", "session", "reject"}, map[string]string{"always": "answer once or session"}},
		{ruled, []string{"once", "session", "always", "reject"}, nil},
	} {
		c.ask.Policy = "build"
		p := waiting(t, g, c.ask)
		v := p.Approval()
		if got := v.Answers(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.ask.ID, got)
		}
		for answer, hint := range c.hints {
			_, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: answer})
			var e *api.Error
			if !errors.As(err, &e) || strings.TrimSuffix(e.Hint, ", or give a rule yourself (--rule)") != hint {
				t.Errorf("%s, %s: %+v", c.ask.ID, answer, e)
			}
		}
	}
}

// FEATURES: R63
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	ctx := t.Context()
	a := line("job-1", "touch f && echo x", agent)
	a.Policy = "readonly"
	p := waiting(t, g, a)
	v := p.Approval()
	if v.ID != "A1" || v.State != "pending" || v.Rule != "touch" || v.Risk != "low" || len(v.Prefixes) != 1 || v.Prefixes[0] != "touch" || v.Actor != agent {
		t.Fatalf("%+v", v)
	}
	if r, err := g.store.ApprovalOf(ctx, "job-1"); err != nil || r.N != 1 || r.State != store.ApprovalPending {
		t.Fatalf("published before it is recorded: %+v %v", r, err)
	}
	if got := g.Waiting("s"); len(got) != 1 || got[0] != "A1" {
		t.Errorf("%v", got)
	}

	if _, err := g.Answer(ctx, "A1", agent, api.ApprovalAnswer{Answer: "once"}); codeOf(err) != api.CodeDenied {
		t.Errorf("an agent answers: %v", err)
	}
	if _, err := g.Answer(ctx, "A1", person, api.ApprovalAnswer{Answer: "maybe"}); codeOf(err) != api.CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err := g.Answer(ctx, "A1", person, api.ApprovalAnswer{Answer: "once", Rule: "touch"}); codeOf(err) != api.CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err := g.Answer(ctx, "A1", person, api.ApprovalAnswer{Answer: "always", Rule: "deny touch"}); codeOf(err) != api.CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err := g.Answer(ctx, "a1", person, api.ApprovalAnswer{Answer: "once", Feedback: "fine"}); err != nil {
		t.Fatal(err)
	}
	answer, err := p.Wait(ctx)
	if err != nil || answer.Verdict != policy.Allow || answer.Approval != "A1" || answer.Scope != "once" || answer.Feedback != "fine" {
		t.Fatalf("%+v %v", answer, err)
	}
	if _, err := g.Answer(ctx, "A1", person, api.ApprovalAnswer{Answer: "reject"}); codeOf(err) != api.CodeAnswered || !strings.Contains(err.Error(), "once, by uid 1000") || !strings.Contains(err.Error(), "`longterm approvals show A1`") {
		t.Errorf("answered twice: %v", err)
	}
	// The same request is decided; another with the same words is not.
	if answer, p, err := g.Begin(ctx, a); err != nil || p != nil || answer.Approval != "A1" {
		t.Errorf("%+v %v %v", answer, p, err)
	}
	a.ID = "job-2"
	p = waiting(t, g, a)
	if _, err := g.Answer(ctx, "A2", person, api.ApprovalAnswer{Answer: "reject", Feedback: "use\x1b[2J mktemp"}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Wait(ctx)
	if codeOf(err) != api.CodeRejected || !strings.Contains(err.Error(), "mktemp") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%v", err)
	}
	if _, _, err := g.Begin(ctx, a); codeOf(err) != api.CodeRejected {
		t.Errorf("rejected, and requested again with the same id: %v", err)
	}

	// An answer for the session covers commands with the same first words, in this session, by this rule.
	a.ID = "job-3"
	p = waiting(t, g, a)
	if _, err := g.Answer(ctx, "A3", person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	b := line("job-4", "touch g; touch h", agent)
	b.Policy = "readonly"
	if answer, p, err := g.Begin(ctx, b); err != nil || p != nil || answer.Approval != "A3" || answer.Scope != "session" {
		t.Errorf("%+v %v %v", answer, p, err)
	}
	b.ID, b.Line = "job-5", "touch g; mkdir h"
	waiting(t, g, b).withdraw()
	b.ID, b.Line, b.Session = "job-6", "touch g", "other"
	waiting(t, g, b).withdraw()
	list := g.Grants()
	if len(list) != 1 || list[0].Prefix != "touch" || list[0].Approval != "A3" {
		t.Fatalf("%+v", list)
	}
	if err := g.Revoke(ctx, agent, list[0].ID); codeOf(err) != api.CodeDenied {
		t.Errorf("%v", err)
	}
	if err := g.Revoke(ctx, person, list[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := g.Revoke(ctx, person, list[0].ID); codeOf(err) != api.CodeNotFound {
		t.Errorf("%v", err)
	}
	b.ID, b.Session = "job-7", "s"
	p = waiting(t, g, b)

	// Always: by a rule in the file, which may be edited, but not into one about something else.
	if _, err := g.Answer(ctx, p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: "rm -rf"}); codeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "none of the programs") {
		t.Errorf("a rule about another program is accepted: %v", err)
	}
	if v, err := g.Answer(ctx, p.ID(), person, api.ApprovalAnswer{Answer: "always"}); err != nil || v.Written != "touch" {
		t.Fatalf("%+v %v", v, err)
	}
	b.ID, b.Session, b.Line = "job-8", "other", "touch elsewhere"
	if answer, p, err := g.Begin(ctx, b); err != nil || p != nil || answer.Approval != "" {
		t.Errorf("the rule does not count: %+v %v %v", answer, p, err)
	}
	all, err := g.List(ctx, Query{All: true})
	if err != nil || len(all) != 6 || all[0].ID != "A1" || all[3].State != store.ApprovalWithdrawn {
		t.Errorf("%d: %+v %v", len(all), all, err)
	}
}

// TestAlwaysByAnEditedRule checks that the rule of an "always" answer may be edited. The edited one is written and
// counts, even if it is wider, but not past a denial. If it cannot be parsed, or does not cover the command, it is not
// written, and the request stays pending.
//
// FEATURES: R61 R63
func TestAlwaysByAnEditedRule(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	asked := func(id, text string) Request {
		a := line(id, text, agent)
		a.Policy = "readonly"
		return a
	}
	p := waiting(t, g, asked("job-1", "touch f"))
	for _, rule := range []string{"touch 'f", "deny touch", ";", "touch\nrm", "ask touch", "\x00", "touch --no-create", "touch --no-create; rm", "touchf", "touch ff", "exactly touch"} {
		if v, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: rule}); codeOf(err) != api.CodeInvalid {
			t.Errorf("%q: %+v, %v", rule, v.Written, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "policy.toml")); !errors.Is(err, os.ErrNotExist) || p.Approval().State != store.ApprovalPending {
		t.Fatalf("something was written: %v; %+v", err, p.Approval())
	}
	if v, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: " touch; rm "}); err != nil || v.Written != "touch; rm" {
		t.Fatalf("%+v %v", v, err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Errorf("approval request: %v", err)
	}
	for text, want := range map[string]policy.Verdict{
		"touch --no-create g": policy.Allow, "touch g": policy.Allow, "rm g": policy.Allow, "rm -rf /": policy.Deny, "rmdir g": policy.Ask,
	} {
		if j := g.Judge(asked("job-2", text)); j.Verdict != want {
			t.Errorf("%s: %+v", text, j)
		}
	}
}

// TestAlwaysByARuleThatChangesNothing checks that a rejection names the commands that would still need approval, the
// reason, and what to change.
//
// FEATURES: R63
func TestAlwaysByARuleThatChangesNothing(t *testing.T) {
	g := open(t, t.TempDir())
	a := line("job-1", "git config user.email x@example.org && git tag v1", agent)
	a.Policy = "build"
	p := waiting(t, g, a)
	for _, c := range [][2]string{
		{"git configexactly user.email", "would have no effect"}, {"git config", "an argument"}, {"git config user.name", "would have no effect"},
	} {
		_, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: c[0]})
		if codeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
	v, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: "git config user.email"})
	if err != nil || v.Written != "git config user.email" {
		t.Fatalf("%+v %v", v, err)
	}
	a.Line = "git config user.email y"
	if j := g.Judge(a); j.Verdict != policy.Allow {
		t.Errorf("the rule that was written does not count: %+v", j)
	}
}

// TestNoRuleOfTheQuestionThatStays checks that for a line with several requirements, the error names the one that no
// rule lifts, at any position. For a rule without effect it names the requirement that the rule is about.
//
// FEATURES: R63
func TestNoRuleOfTheQuestionThatStays(t *testing.T) {
	g := open(t, t.TempDir())
	for i, c := range []struct{ line, names string }{
		{"git tag -d v1; $P", "unknown always requires"}, {"$P; git tag -d v1", "unknown always requires"}, {"curl -s x > y; $P", "unknown always requires"},
		{"ls *; curl '*'; rm -r $X", "hard:remove always requires"}, {"git tag -d v1; curl '*'", ""},
		{"go test; c1; c2; c3; c4; c5; c6; c7; c8; c9", ""}, // many rules could
	} {
		a := line(fmt.Sprint("job-", i), c.line, agent)
		a.Policy = "build"
		p := waiting(t, g, a)
		v := p.Approval()
		if v.Rule != "" || !strings.HasPrefix(v.NoRule, c.names) || c.names == "" && v.NoRule != "" {
			t.Errorf("%s: %q, %q", c.line, v.Rule, v.NoRule)
		}
		_, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always"})
		want := "no rule can allow " + p.ID() + " always: " + c.names
		if c.names == "" {
			want = "no rule is proposed for " + p.ID()
		}
		if codeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", c.line, err, want)
		}
	}
	a := line("job-x", "$P; git config user.email x", agent)
	a.Policy = "build"
	p := waiting(t, g, a)
	_, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: "git config"})
	if err == nil || !strings.Contains(err.Error(), "an argument") || strings.Contains(err.Error(), "which program") {
		t.Errorf("of git config: %v", err)
	}
}

// TestTwoAnswers checks that a thousand concurrent requests, each answered by two users at once: one answer counts, the
// other user gets its author and outcome, and callers get the answer that counted.
//
// FEATURES: R63
func TestTwoAnswers(t *testing.T) {
	g := open(t, t.TempDir())
	g.said.news = make(chan string, 5000)
	const askings = 300
	other := identity.Actor{UID: 1001}
	var answers, waits sync.WaitGroup
	got := make([]error, askings)
	for n := range askings {
		a := line(fmt.Sprint(n), fmt.Sprintf("touch f%d", n), agent)
		a.Policy = "readonly"
		p := waiting(t, g, a)
		waits.Go(func() { _, got[n] = p.Wait(t.Context()) })
	}
	list, err := g.List(t.Context(), Query{})
	if err != nil || len(list) != askings {
		t.Fatalf("%d are listed: %v", len(list), err)
	}
	errs := [2][askings]error{}
	for n := range askings {
		for k, by := range []identity.Actor{person, other} {
			answers.Go(func() {
				_, errs[k][n] = g.Answer(t.Context(), list[n].ID, by, api.ApprovalAnswer{Answer: []string{"once", "reject"}[k]})
			})
		}
	}
	answers.Wait()
	for n := range askings {
		if errs[0][n] != nil && errs[1][n] != nil { // the event would be lost
			t.Fatalf("%s: %v and %v", list[n].ID, errs[0][n], errs[1][n])
		}
	}
	waits.Wait()
	for n := range askings {
		won, lost := 0, errs[1][n]
		if errs[0][n] != nil {
			won, lost = 1, errs[0][n]
		}
		if want := [2]string{"once, by uid 1000", "reject, by uid 1001"}[won]; errs[won][n] != nil || codeOf(lost) != api.CodeAnswered || !strings.Contains(lost.Error(), want) {
			t.Fatalf("%s: %v and %v", list[n].ID, errs[0][n], errs[1][n])
		}
		if a, err := g.Get(t.Context(), list[n].ID); err != nil || a.Answer != [2]string{"once", "reject"}[won] {
			t.Fatalf("%s: %+v %v", list[n].ID, a, err)
		}
		if asked := numberIn(t, list[n].Line); (got[asked] == nil) != (won == 0) {
			t.Fatalf("%s: a waiting caller got %v", list[n].ID, got[asked])
		}
	}
	if left, _ := g.List(t.Context(), Query{}); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
}

// TestAnswer_CountsAfterDisconnect checks that an answer counts for the whole group, even if the user disconnects right
// after giving it.
//
// FEATURES: R63
func TestAnswer_CountsAfterDisconnect(t *testing.T) {
	g := open(t, t.TempDir())
	var waits []*Pending
	for n := range 20 {
		a := line(fmt.Sprint(n), fmt.Sprintf("touch f%d", n), agent)
		a.Policy = "readonly"
		waits = append(waits, waiting(t, g, a))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Answer(ctx, "A1", person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	out, err := g.AnswerAll(ctx, person, api.ApprovalsAnswer{Group: "not reading touch", ApprovalAnswer: api.ApprovalAnswer{Answer: "once"}})
	if err != nil || len(out.Answered) != 19 || len(out.Failed) != 0 {
		t.Fatalf("%d answered, %+v, %v", len(out.Answered), out.Failed, err)
	}
	for n, p := range waits {
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
}
