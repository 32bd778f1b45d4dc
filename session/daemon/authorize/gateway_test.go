package authorize

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store"
)

// house is a gateway with a database, rules in a file, and the published events.
type house struct {
	*Gateway
	store *store.Store
	book  *rulebook.Book
	said  *said
}

type said struct {
	mu     sync.Mutex
	events []string
	audit  []Record
	fails  error // of the audit trail
	news   chan string
}

func (s *said) PublishApproval(kind string, a *api.Approval) {
	s.mu.Lock()
	s.events = append(s.events, kind+" "+a.ID)
	s.mu.Unlock()
	s.news <- kind + " " + a.ID
}

func (s *said) RecordDecision(ctx context.Context, r Record) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return s.fails
	}
	s.audit = append(s.audit, r)
	return nil
}

func open(t *testing.T, dir string) house {
	t.Helper()
	st, err := store.Open(filepath.Join(dir, "longterm.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	h := house{store: st, said: &said{news: make(chan string, 1000)}}
	h.book = rulebook.Open(rulebook.Options{File: filepath.Join(dir, "policy.toml")})
	h.Gateway, err = Open(t.Context(), Config{
		Rules: h.book, Author: h.book, Store: st, Audit: h.said, Bus: h.said, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var (
	person = identity.Actor{UID: 1000}
	agent  = identity.Actor{UID: 1000, Agent: "bot"}
)

func line(id, text string, who identity.Actor) Request {
	return Request{ID: id, Kind: Line, Actor: who, Session: "s", Name: "work", Line: text, Shell: "bash", Cwd: "/home/u/p", Home: "/home/u"}
}

func codeOf(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// waiting starts a request that needs an answer.
func waiting(t *testing.T, g house, a Request) *Pending {
	t.Helper()
	answer, p, err := g.Begin(t.Context(), a)
	if err != nil || p == nil {
		t.Fatalf("%q does not wait for approval: %+v %v", a.Line, answer, err)
	}
	return p
}

// FEATURES: R60 R61 R62 R64
func TestVerdicts_ByCaller(t *testing.T) {
	g := open(t, t.TempDir())
	for _, row := range []struct {
		line   string
		who    identity.Actor
		policy string
		kept   string
		yes    bool
		want   policy.Verdict
	}{
		{"ls -l", person, "", "", false, policy.Allow},
		{"ls -l", agent, "", "", false, policy.Allow},
		{"rm -rf /", person, "", "", false, policy.Deny},
		{"rm -rf /", person, "", "", true, policy.Deny},
		{"rm -rf /", agent, "off", "", true, policy.Deny},
		{"rm -rf /", person, "off", "off", true, policy.Deny},
		{"rm -r $X", person, "", "", false, policy.Allow}, // he typed it
		{"rm -r $X", agent, "", "", false, policy.Ask},
		{"rm -r $X", agent, "", "", true, policy.Allow},
		{"rm -r $X", person, "hard", "", false, policy.Ask},
		{"rm -r $X", agent, "off", "", false, policy.Ask}, // it can only be stricter
		{"touch f", person, "readonly", "", false, policy.Ask},
		{"touch f", person, "", "readonly", false, policy.Ask},
		{"touch f", person, "hard", "readonly", false, policy.Ask},
		{"touch f", person, "off", "readonly", false, policy.Ask},
		{"if then (", agent, "", "", false, policy.Ask}, // a line that cannot be parsed
		{"echo 'rm -rf / is bad'", agent, "", "", false, policy.Allow},
	} {
		a := line("1", row.line, row.who)
		a.Policy, a.Kept, a.Yes = row.policy, row.kept, row.yes
		if j := g.Judge(a); j.Verdict != row.want {
			t.Errorf("%q by %s, --policy %q, kept %q, yes %v: %s (%s), not %s", row.line, row.who, row.policy, row.kept, row.yes, j.Verdict, j.Rule, row.want)
		}
	}
}

// TestQuestionsOfAllRules checks that requirements of several rule sets make one request. An answer to one requirement
// of a line does not answer the others.
//
// FEATURES: R60, R63
func TestQuestionsOfAllRules(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte("ask = [\"touch\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := open(t, dir)
	one := line("one", "touch a", agent)
	one.Policy = "readonly"
	p := waiting(t, g, one)
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"npm publish; touch a", "touch a; rm -rf sub", "mkdir d; touch a"} {
		two := line(fmt.Sprint("two", i), text, agent)
		two.Policy = "readonly"
		p := waiting(t, g, two)
		for _, c := range p.Approval().Judgement.Commands {
			if c.Verdict != "ask" {
				t.Errorf("%s: %v is shown as %s", text, c.Argv, c.Verdict)
			}
		}
		p.withdraw()
	}
}

func TestKindsWithoutAnEngine(t *testing.T) {
	g := open(t, t.TempDir())
	for _, row := range []struct {
		kind Kind
		who  identity.Actor
		want policy.Verdict
	}{
		{Reveal, person, policy.Allow}, {Reveal, agent, policy.Ask}, {Write, person, policy.Allow}, {Write, agent, policy.Ask},
		{Network, person, policy.Ask}, {Network, agent, policy.Ask}, {Execution, person, policy.Deny}, {Command, person, policy.Deny},
	} {
		if j := g.Judge(Request{Kind: row.kind, Actor: row.who, Path: "x"}); j.Verdict != row.want {
			t.Errorf("%s by %s: %s, not %s", row.kind, row.who, j.Verdict, row.want)
		}
	}
}

// TestAgentsYesAndIDs checks that --yes of an agent decides nothing, unless a user has allowed that. An answer holds
// only for its request, even if another one uses its id.
//
// FEATURES: R63
func TestAgentsYesAndIDs(t *testing.T) {
	g := open(t, t.TempDir())
	begin := func(a Request) *Pending {
		t.Helper()
		_, p, err := g.Begin(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a := line("same", "rm -r $X", agent)
	a.Yes = true
	held := begin(a)
	if held == nil {
		t.Fatal("an agent's --yes counts")
	}
	inRules := line("2", "rm -r $Y", identity.Actor{Policy: "hard"})
	if inRules.Yes = true; begin(inRules) == nil {
		t.Error("--yes counts from within a session with rules")
	}
	if _, err := g.Answer(t.Context(), held.Approval().ID, person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if begin(line("same", "rm -r $X", agent)) != nil {
		t.Error("the same line needs approval again")
	}
	if begin(line("same", "rm -r $Z", agent)) == nil {
		t.Error("an answer counts for another line with the same id")
	}
	g.c.AgentsMayUseYes = func() bool { return true }
	if a = line("3", "rm -r $V", agent); begin(a) == nil {
		t.Error("without --yes")
	}
	if a.Yes, a.ID = true, "4"; begin(a) != nil {
		t.Error("a user's configuration does not count")
	}
}

// FEATURES: R60
func TestHardRules_HoldForAllCallers(t *testing.T) {
	g := open(t, t.TempDir())
	g.book.SetDefaults(policy.Off, policy.Off)
	a := line("1", "rm -rf /", person)
	a.Yes = true
	if j := g.Judge(a); j.Verdict != policy.Deny || j.Rule != "hard:remove" {
		t.Errorf("%+v", j)
	}
	if j := g.Judge(line("1", "rm -r $X", agent)); j.Verdict != policy.Allow {
		t.Errorf("preset off needs approval: %+v", j)
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

// TestScope checks that a session scope never covers more than its text.
func TestScope(t *testing.T) {
	g := open(t, t.TempDir())
	for _, row := range []struct{ line, policy, want string }{
		{"git push origin main", "listed", "git push"},
		{"git -c alias.x=!sh push", "listed", ""},
		{"python3 -c 'print(1)'", "readonly", ""},
		{"sudo touch x", "readonly", ""},
		{"bash build.sh", "readonly", ""},
		{"make test", "readonly", "make test"},
		{"rm -r $X", "hard", ""},
		{"$cmd x", "hard", ""},
		{"npm install left-pad", "readonly", "npm install"},
		{"npm run x", "readonly", ""},
		{"docker run alpine", "readonly", ""},
		{"ls | tee /etc/x", "readonly", ""},
	} {
		a := line("1", row.line, agent)
		a.Policy = row.policy
		j := g.Judge(a)
		if j.Verdict != policy.Ask {
			t.Errorf("%q: %s", row.line, j.Verdict)
			continue
		}
		for _, s := range scopeOf(&a, &j) {
			if got := strings.Join(s.Prefix, " "); s.Exact == "" && (row.want == "" || got != row.want) || s.Exact != "" && s.Exact != row.line {
				t.Errorf("%q for the session allows %q, exactly %q; want %q", row.line, got, s.Exact, row.want)
			}
		}
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

func TestNames(t *testing.T) {
	for in, want := range map[string]int64{"A7": 7, "a7": 7, "7": 7, "A": 0, "": 0, "A-1": 0, "A0": 0, "AA99999999999999999999": 0, "x": 0} {
		if n, err := numberOf(in); n != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v", in, n, err)
		}
	}
	for in, want := range map[string]string{"/bin/bash": "bash", "-zsh": "zsh", "dash": "sh", "ksh93": "mksh", "pwsh": "powershell", "python3": ""} {
		if got := ReaderName(in); want != "" && got != want {
			t.Errorf("ReaderName(%q) = %q, want %q", in, got, want)
		}
		if got := ShellName(in); got != want {
			t.Errorf("%q is %q", in, got)
		}
	}
	g := open(t, t.TempDir())
	if err := g.Check("readonly"); err != nil {
		t.Error(err)
	}
	if err := g.Check("nosuch"); codeOf(err) != api.CodeInvalid {
		t.Error(err)
	}
	for _, r := range config.KeySpecs() { // presets of the configuration are those of the rules
		if r.Key == "policy.default" || r.Key == "policy.agents" {
			for _, p := range r.Values {
				if err := g.Check(p); err != nil {
					t.Error(err)
				}
			}
			if len(r.Values) != len(rulebook.Presets()) {
				t.Errorf("%s has %v, rules have %v", r.Key, r.Values, rulebook.Presets())
			}
		}
	}
}

// TestLinesForWhatRunsInTheShell checks that a line for a program within the shell is judged as its code, and as the
// shell's wherever that would run any of it.
//
// FEATURES: R62
func TestLinesForWhatRunsInTheShell(t *testing.T) {
	g := open(t, t.TempDir())
	for _, row := range []struct {
		line, policy string
		readers      []string
		want         policy.Verdict
	}{
		{"print(6*7)", "", nil, policy.Ask}, // no shell reads it
		{"print(6*7)", "", []string{"python3.12"}, policy.Allow},
		{"for i in range(3): print(i)", "", []string{"python3"}, policy.Allow},
		{"console.log([1, 2].map(x => x * 2))", "", []string{"node"}, policy.Allow},
		{"print(6*7)", "readonly", []string{"python3"}, policy.Ask},
		{"print(6*7)", "", []string{"no-such-program"}, policy.Ask},
		{"print(6*7)", "", []string{"ssh"}, policy.Ask},
		{"print(6*7)", "", []string{"python3", "…"}, policy.Ask},    // there are more
		{"print(6*7)", "", []string{"python3", "bash"}, policy.Ask}, // it is unknown which of them reads it
		{"print(6*7)\n", "", []string{"python3"}, policy.Ask},       // a shell may run one of the lines
		{"import os; os.system('rm -rf /')", "", []string{"python3"}, policy.Ask},
		{"require('child_process').execSync('rm -rf /')", "", []string{"node"}, policy.Ask},
		{"rm -rf /", "", []string{"python3"}, policy.Deny}, // should the shell be back
		{"rm -r $X", "", []string{"python3"}, policy.Ask},
		{`\! rm -rf /`, "", []string{"psql"}, policy.Deny},
		{"SELECT count(*) FROM t;", "", []string{"psql"}, policy.Allow},
		{"x = \"\"\"rm -rf", "", []string{"python3"}, policy.Ask}, // the shell would wait for more
		{"ls -l", "", []string{"python3"}, policy.Allow},
	} {
		a := line("1", row.line, agent)
		a.Shell, a.Policy, a.Readers = "bash", row.policy, row.readers
		if j := g.Judge(a); j.Verdict != row.want {
			t.Errorf("%q for %q, --policy %q: %s (%s: %s), not %s", row.line, row.readers, row.policy, j.Verdict, j.Rule, j.Why, row.want)
		}
	}
	a, b := line("1", "print(6*7)", agent), line("1", "print(6*7)", agent)
	b.Readers = []string{"node"}
	if digestOf(&a) == digestOf(&b) || sameWords(&a, keptOf(&b)) || sameWords(&b, keptOf(&a)) || !sameWords(&b, keptOf(&b)) {
		t.Error("an answer for one program counts for another")
	}
}
