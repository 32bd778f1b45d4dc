package policycheck

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// stage replaces a file by another.
func stage(t testing.TB, now, then string) *Rehearser {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"now.toml": now, "then.toml": then} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	then = filepath.Join(dir, "then.toml")
	f, _, err := rulebook.ReadFile(then)
	if err != nil {
		t.Fatal(err)
	}
	return &Rehearser{
		Now: rulebook.Open(rulebook.Options{File: filepath.Join(dir, "now.toml")}), Tested: rulebook.Open(rulebook.Options{File: then}),
		File: f, Home: "/home/me",
	}
}

func past(all []store.HistoryCommand, err error) iter.Seq2[store.HistoryCommand, error] {
	return func(yield func(store.HistoryCommand, error) bool) {
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(store.HistoryCommand{}, err)
		}
	}
}

// FEATURES: R108
func TestRehearsal(t *testing.T) {
	s := stage(t, "deny = [\"curl\"]\n", "ask = [\"git push\", \"nothing\"]\ndeny = [\"docker\"]\n[[sections]]\nagents = [\"c*\"]\npreset = \"readonly\"\nsessions = [\"s*\"]\n")
	var all []store.HistoryCommand
	add := func(agent, name, text string, argv ...string) {
		n := len(all) + 1
		if text == "" {
			n = 0
		}
		all = append(all, store.HistoryCommand{Session: "id-" + name, Name: name, Argv: argv, Shell: text != "", Agent: agent, N: n, Text: text, Cwd: "/tmp"})
	}
	add("", "s1", "", "bash")
	all[0].Shell = true
	for range 3 {
		add("", "s1", "git push origin", "bash")
		add("", "s1", "ls", "bash")
	}
	add("", "s1", "make && docker ps", "bash")
	add("", "s2", "", "docker", "run", "x")
	add("", "s1", "curl x", "zsh")
	add("", "s1", "$X", "bash") // a user needs no approval
	add("claude", "s1", "make", "bash")
	add("claude", "t1", "make", "bash")
	r, err := s.Rehearse(t.Context(), past(all, nil))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range r.Groups {
		got = append(got, fmt.Sprintf("%s>%s %s %d %s", g.Was, g.Now, g.Rule, g.Count, g.Examples[0].Line))
	}
	want := "allow>deny deny docker 2 make && docker ps\nallow>ask ask git push 3 git push origin\nallow>ask not reading 1 make\ndeny>allow deny curl 1 curl x"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	if r.Commands != 12 || r.Changed != 7 || len(r.Unused) != 1 || r.Unused[0].Rule != "ask nothing" || r.Unused[0].Line != 1 {
		t.Errorf("%+v", r)
	}
	if e := r.Groups[1].Examples; len(e) != 1 || e[0].N != 6 { // the last of those that are the same
		t.Errorf("%+v", e)
	}
	var b strings.Builder
	r.Write(&b)
	for _, want := range []string{"deny, was allow: 2 commands  deny docker: rule deny docker\n  s1 8  make && docker ps\n  s2 started  docker run x\n", "ask nothing: decides none of them", "12 commands of the history; the verdict changes for 7\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nhas no %s", b.String(), want)
		}
	}
	s.Agent = "claude" // as if it had run all of it
	if r, err = s.Rehearse(t.Context(), past(all, nil)); err != nil || r.Changed != 7 || len(r.Groups) != 4 {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := s.Rehearse(t.Context(), past(all, errors.New("damaged"))); err == nil {
		t.Error("an interrupted history counts as complete")
	}
}

// TestRehearsalOfTheAuditTrail checks that executions, and rejected lines, count as parts of the audit trail: a rule
// that decided one of them is in use.
//
// FEATURES: R108
func TestRehearsalOfTheAuditTrail(t *testing.T) {
	const rules = "deny = [\"git push --force\"]\n"
	s := stage(t, rules, rules+"[[sections]]\nagents = [\"night\"]\npreset = \"build\"\n")
	of := identity.Actor{Agent: "night"}
	s.Trail = []audit.Record{
		{Kind: audit.Line, Actor: of, Name: "work", Line: "git push --force", Cwd: "/srv/p", Verdict: "deny"},
		{Kind: audit.Line, Actor: of, Name: "work", Line: "curl z", Cwd: "/srv/p", Verdict: "allow"}, // it is in the history
		{Kind: audit.Execution, Actor: of, Name: "work", Path: "/usr/bin/curl", Argv: []string{"curl", "x"}, Cwd: "/srv/p", Verdict: "allow"},
		{Kind: audit.Execution, Actor: of, Name: "work", Path: "/usr/bin/curl", Argv: []string{"curl", "y"}, Cwd: "/srv/p", Verdict: "ask"}, // its answer has a separate record
		{Kind: audit.Execution, Actor: of, Name: "work", Path: "/usr/bin/ls", Argv: []string{"ls"}, Cwd: "/srv/p", Verdict: "allow"},
		{Kind: audit.Answer, Verdict: "approved"},
	}
	r, err := s.Rehearse(t.Context(), past(nil, nil))
	if err != nil || r.Commands != 0 || r.Executions != 2 || r.Refused != 1 || r.Changed != 1 || len(r.Unused) != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	var b strings.Builder
	r.Write(&b)
	const want = "  work executed  /usr/bin/curl x\n0 commands of the history, 2 executions and 1 rejected line of the audit log; the verdict changes for 1\n"
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("%s\nhas no %s", b.String(), want)
	}
}

// TestRehearsalOfWhatAnAnswerCovers checks that a user who allowed a line is not asked about its executions again, nor
// about what a shown execution starts. All others count.
//
// FEATURES: R108
func TestRehearsalOfWhatAnAnswerCovers(t *testing.T) {
	s := stage(t, "", "[[sections]]\nagents = [\"night\"]\npreset = \"build\"\n")
	s.Agent = "night"
	person := identity.Actor{UID: 1}
	line := func(session, text string) audit.Record {
		return audit.Record{Kind: audit.Line, Actor: person, Session: session, Name: session, Line: text, Cwd: "/srv/p", Verdict: "allow"}
	}
	run := func(session, path string, parent []string, argv ...string) audit.Record {
		return audit.Record{Kind: audit.Execution, Actor: person, Session: session, Name: session, Path: path, Argv: argv, Parent: parent, Cwd: "/srv/p", Verdict: "allow"}
	}
	bash := []string{"bash"}
	s.Trail = []audit.Record{
		line("a", "curl x; make"), run("a", "/usr/bin/curl", bash, "curl", "x"), run("a", "/usr/bin/make", bash, "make"),
		run("a", "/usr/bin/curl", []string{"make"}, "curl", "y"), // not named by the line
		run("b", "/usr/bin/curl", bash, "curl", "x"),             // of another session
		line("a", "sudo rm z"), run("a", "/usr/bin/sudo", bash, "sudo", "rm", "z"), run("a", "/usr/bin/rm", []string{"sudo", "rm", "z"}, "rm", "z"),
		line("a", "make"), run("a", "/usr/bin/curl", bash, "curl", "x"), // the line of the approval has ended
		run("a", "/usr/bin/sudo", bash, "sudo", "rm", "q"), run("a", "/usr/bin/rm", []string{"sudo", "rm", "q"}, "rm", "q"),
		run("a", "/usr/bin/rm", bash, "rm", "q"), // not started by sudo
		{Kind: audit.Command, Actor: person, Job: "J", Argv: []string{"/usr/bin/curl", "c"}, Cwd: "/srv/p", Verdict: "allow"}, // a new session is started for it
		run("c", "/usr/bin/curl", nil, "curl", "c"),
		{Kind: audit.End, Session: "c", Job: "J"},
	}
	r, err := s.Rehearse(t.Context(), past(nil, nil))
	if err != nil || r.Executions != 11 || r.Covered != 5 || r.Changed != 5 {
		t.Fatalf("%+v %v", r, err)
	}
	var b strings.Builder
	r.Write(&b)
	for _, want := range []string{"ask, was allow: 5 commands", "\n5 executions are not counted as asked: covered by the answer to their line ", "  (showing the last 4 of 5)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nhas no %s", b.String(), want)
		}
	}
}

// TestAnswerNamesWhatAPresetAsks checks that the reason of a preset's requirement names the line of the file that sets
// it, and the word that leads out of the project.
//
// FEATURES: R61
func TestAnswerNamesWhatAPresetAsks(t *testing.T) {
	s := stage(t, "preset = \"build\"\n", "")
	for line, why := range map[string]string{"cp a /srv/x": ": /srv/x is outside of the project", "echo x > /srv/y": "outside of the working directory: /srv/y", "curl x": ""} {
		e, src := s.Now.For(rulebook.Subject{Agent: "a", Cwd: "/home/me/p", Home: "/home/me"})
		j := e.Judge(policy.Line{Text: line, Cwd: "/home/me/p", Home: "/home/me"})
		a := AnswerOf(j, src.Preset)
		a.Locate(j, src)
		if a.Verdict != "ask" || filepath.Base(a.File) != "now.toml" || a.Line != 1 || !strings.Contains(a.Why, why) {
			t.Errorf("%s: %+v", line, a)
		}
	}
}

// TestAnswer_ReasonsPerCommand checks that each command of a line that is not allowed has a reason.
//
// FEATURES: R61
func TestAnswer_ReasonsPerCommand(t *testing.T) {
	e, err := policy.New(policy.Options{Preset: policy.Build, Rules: []policy.Rule{
		{Program: "git", Words: []string{"tag"}, Decision: policy.Ask, Why: "a tag is seen by everybody", Instead: "leave it to me"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := AnswerOf(e.Judge(policy.Line{Text: "rm -rf build && curl -s x && git tag v1", Cwd: "/srv/p"}), policy.Build)
	var b strings.Builder
	a.Write(&b)
	const want = "  ask    git tag v1\n         a tag is seen by everybody (ask git tag)\n         instead: leave it to me\n"
	if !strings.Contains(b.String(), want) || strings.Count(b.String(), "not known to only read") != 1 {
		t.Errorf("%s\nhas no %s", b.String(), want)
	}
}

// TestAnswer_NamesInvisibleCharacters checks that invisible characters and changes of direction in a line are named, as
// in approval requests.
//
// FEATURES: R61
func TestAnswer_NamesInvisibleCharacters(t *testing.T) {
	e, err := policy.New(policy.Options{Preset: policy.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	a := AnswerOf(e.Judge(policy.Line{Text: "git push \u202eevas; git tag a\u200b", Cwd: "/srv/p"}), policy.ReadOnly)
	var b strings.Builder
	a.Write(&b)
	if text := b.String(); strings.ContainsAny(text, "\u202e\u200b") || strings.Count(text, "push <U+202E>evas") != 2 || !strings.Contains(text, "tag a<U+200B>") {
		t.Errorf("printed: %q", text)
	}
}

// BenchmarkRehearse rehearses 100,000 commands of a history, most of them repeated.
func BenchmarkRehearse(b *testing.B) {
	s := stage(b, "preset = \"build\"\n", "preset = \"build\"\ndeny = [\"git push\"]\n")
	var all []store.HistoryCommand
	for i := range 100_000 {
		all = append(all, store.HistoryCommand{
			Session: fmt.Sprint(i / 1000), Name: "s", Argv: []string{"bash"}, Shell: true, N: i%1000 + 1, Cwd: "/tmp",
			Text: fmt.Sprintf("cd src%d && git push origin main%d | tee log", i%10, i%10_000/10),
		})
	}
	for b.Loop() {
		if _, err := s.Rehearse(b.Context(), past(all, nil)); err != nil {
			b.Fatal(err)
		}
	}
}
