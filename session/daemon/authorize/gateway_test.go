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

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
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
