package authorize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
)

// FEATURES: R107
func TestExecutionsOfALine(t *testing.T) {
	g := open(t, t.TempDir())
	a := line("job-1", "touch f; echo x", agent)
	a.Policy = "readonly"
	p := waiting(t, g, a)
	if _, err := g.Answer(t.Context(), "A1", person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec := func(id string, argv ...string) Request {
		return Request{ID: id, Kind: Execution, Actor: identity.Actor{UID: 1000}, Session: "s", Path: "/usr/bin/" + argv[0], Argv: argv, Cwd: "/home/u/p", Home: "/home/u", Depth: 1}
	}
	if answer, p, err := g.Begin(t.Context(), exec("e1", "touch", "f")); err != nil || p != nil || answer.Approval != "A1" {
		t.Errorf("an allowed execution needs approval again: %+v %v %v", answer, p, err)
	}
	// The user's answer also covers what was shown as allowed when its file needs approval.
	elsewhere := exec("e6", "echo", "x")
	elsewhere.Path = "/opt/x/echo"
	if answer, p, err := g.Begin(t.Context(), elsewhere); err != nil || p != nil || answer.Approval != "A1" {
		t.Errorf("a shown execution needs approval again: %+v %v %v", answer, p, err)
	}
	elsewhere.ID, elsewhere.Argv = "e7", []string{"echo", "y"}
	if _, p, err := g.Begin(t.Context(), elsewhere); err != nil || p == nil {
		t.Errorf("an execution that was not shown needs no approval: %v", err)
	}
	if _, p, err := g.Begin(t.Context(), exec("e2", "touch", "other")); err != nil || p == nil {
		t.Errorf("an unrelated execution needs none: %v", err)
	}
	if _, _, err := g.Begin(t.Context(), exec("e3", "rm", "-rf", "/")); codeOf(err) != api.CodeDenied {
		t.Errorf("%v", err)
	}
	// The next line is judged separately, and so is its --yes.
	b := line("job-2", "ls", person)
	b.Yes, b.Policy = true, "readonly"
	if _, p, err := g.Begin(t.Context(), b); err != nil || p != nil {
		t.Fatal(err)
	}
	if _, p, err := g.Begin(t.Context(), exec("e4", "mkdir", "f")); err != nil || p != nil {
		t.Errorf("--yes of the line applies to its executions: %v", err)
	}
	if _, _, err := g.Begin(t.Context(), exec("e5", "rm", "-rf", "/")); codeOf(err) != api.CodeDenied {
		t.Errorf("%v", err)
	}
}

// TestRejectedExecution checks that a process whose execution is refused tries the next directory of PATH: that needs
// no new approval, but another process does.
func TestRejectedExecution(t *testing.T) {
	g := open(t, t.TempDir())
	a := Request{ID: "e1", Kind: Execution, Actor: identity.Actor{UID: 1000, PID: 7, Agent: "bot"}, Session: "s", Path: "/usr/bin/touch", Argv: []string{"touch", "f"}, Policy: "readonly", Cwd: "/"}
	p := waiting(t, g, a)
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "reject"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); codeOf(err) != api.CodeRejected {
		t.Fatal(err)
	}
	b := a
	b.ID, b.Path = "e2", "/bin/touch"
	if _, p, err := g.Begin(t.Context(), b); codeOf(err) != api.CodeRejected || p != nil {
		t.Errorf("%v", err)
	}
	b.ID, b.Actor.PID = "e3", 8
	waiting(t, g, b).withdraw()
	b.ID, b.Actor.PID, b.Argv = "e4", 7, []string{"touch", "g"}
	waiting(t, g, b).withdraw()
}

// TestOwnExecutable_RecognisedUnderOtherNames checks that longterm is recognised by its file: an agent that runs it
// under another name needs approval too.
func TestOwnExecutable_RecognisedUnderOtherNames(t *testing.T) {
	g := open(t, t.TempDir())
	self := executable()
	if self == "" {
		t.Fatal("our own file is not recognised")
	}
	for path, want := range map[string]policy.Verdict{self: policy.Ask, "/opt/lt": policy.Allow} {
		j := g.Judge(Request{
			Kind: Execution, Actor: identity.Actor{UID: 1000, Agent: "bot"}, Path: path,
			Argv: []string{"lt", "config", "set", "policy.agents", "off"}, Cwd: "/home/u/p", Home: "/home/u",
		})
		if j.Verdict != want {
			t.Errorf("%s: %+v", path, j)
		}
	}
}

// TestExecutionsOfAnExecution checks that an allowed execution covers the executions of its words, in that process and
// below it, and nothing else.
//
// FEATURES: R107, R63
func TestExecutionsOfAnExecution(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	exec := func(id, descent string, argv ...string) Request {
		return Request{
			ID: id, Kind: Execution, Actor: agent, Session: "s", Path: "/usr/bin/" + argv[0], Argv: argv, Cwd: "/home/u/p", Home: "/home/u",
			Descent: strings.Fields(descent), Policy: "readonly",
		}
	}
	p := waiting(t, g, exec("e1", "7.1 5.1", "sh", "-c", "touch f; mkdir d"))
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 2 { // and again for the next daemon
		if n > 0 {
			g = open(t, dir)
		}
		for i, row := range []struct {
			descent, argv string
			asked         bool
		}{
			{"7.1 5.1", "touch f", false},
			{"9.1 7.1 5.1", "touch f", false},
			{"10.1 9.1 7.1 5.1", "mkdir d", false},
			{"9.1 7.1 5.1", "touch other", true},
			{"8.1 5.1", "touch f", true},     // next to it
			{"7.2 5.1", "touch f", true},     // another process, later, by its number
			{"9.1 7.1", "chmod +x f", true},  // not of its words
			{"5.1", "sh -c touch", true},     // above it
			{"", "touch f", true},            // the owner is unknown
			{"9.1 7.1 5.1", "rm -r f", true}, // not of its words
		} {
			answer, q, err := g.Begin(t.Context(), exec(fmt.Sprint("f", n, ".", i), row.descent, strings.Fields(row.argv)...))
			if err != nil || (q != nil) != row.asked || !row.asked && answer.Approval != p.ID() {
				t.Errorf("%s of %s: asked %v, %+v, %v", row.argv, row.descent, q != nil, answer, err)
			}
			if q != nil {
				q.withdraw()
			}
		}
	}
	if _, _, err := g.Begin(t.Context(), exec("f99", "7.1 5.1", "rm", "-rf", "/")); codeOf(err) != api.CodeDenied {
		t.Errorf("a denial is covered: %v", err)
	}
}

// TestHelpersOfAnInstallation checks that a program of a separate installation that was allowed for the session may run
// the helpers in that installation.
//
// FEATURES: R107, R63
func TestHelpersOfAnInstallation(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	exec := func(id, descent, path string, words ...string) Request {
		return Request{
			ID: id, Kind: Execution, Actor: agent, Session: "s", Path: path, Argv: append([]string{path}, words...), Cwd: "/home/u/p", Home: "/home/u",
			Descent: strings.Fields(descent), Policy: "build",
		}
	}
	p := waiting(t, g, exec("e1", "7.1 5.1", "/opt/tools/shims/thing", "x"))
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "session"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 2 { // and again for the next daemon
		if n > 0 {
			g = open(t, dir)
		}
		for i, row := range []struct {
			descent, path string
			asked         bool
		}{
			{"7.1 5.1", "/opt/tools/libexec/thing-which", false},
			{"9.1 7.1 5.1", "/opt/tools/lib/x/helper", false},
			{"9.1 7.1 5.1", "/opt/other/bin/other", true},
			{"9.1 7.1 5.1", "/opt/tools/../other/bin/x", true},
			{"8.1 5.1", "/opt/tools/libexec/thing-which", true}, // not run by it
			{"9.1 7.1 5.1", "/usr/bin/curl", true},
		} {
			_, q, err := g.Begin(t.Context(), exec(fmt.Sprint("f", n, ".", i), row.descent, row.path, "y"))
			if err != nil || (q != nil) != row.asked {
				t.Errorf("%s of %s: asked %v, %v", row.path, row.descent, q != nil, err)
			}
			if q != nil {
				q.withdraw()
			}
		}
	}
	for path, want := range map[string]string{
		"/opt/tools/shims/x": "/opt/tools", "/usr/local/bin/x": "", "/usr/bin/x": "", "/opt/x": "", "/home/u/p/bin/x": "", "/home/u/bin/x": "", "/tmp/x/bin/y": "/tmp/x",
		"/home/u/.tool/bin/x": "/home/u/.tool", "bin/x": "",
	} {
		if got := installation(&Request{Path: path, Home: "/home/u", Cwd: "/home/u/p"}); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
}

// TestProgramsBehindTheSystemsLinks checks that presets judge a file with a name of the system by that name. Rules
// about the file itself, or about another of its names, still hold.
//
// FEATURES: R107
func TestProgramsBehindTheSystemsLinks(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	a := Request{Kind: Execution, Actor: agent, Session: "s", Path: "/usr/lib/node_modules/npm/bin/npm-cli.js", Argv: []string{"npm", "test"}, Cwd: "/home/u/p", Home: "/home/u", Policy: "build"}
	for _, row := range []struct {
		link, argv string
		want       policy.Verdict
	}{
		{"/usr/bin/npm", "npm test", policy.Allow}, {"/usr/bin/npm", "npm publish", policy.Ask}, {"", "npm test", policy.Ask},
		// it is npm under any name
		{"/usr/bin/other", "npm test", policy.Ask}, {"/usr/bin/npm", "make test", policy.Allow},
	} {
		a.Link, a.Argv = row.link, strings.Fields(row.argv)
		if j := g.Judge(a); j.Verdict != row.want {
			t.Errorf("%+v: %+v", row, j)
		}
	}
}

// TestRulesForScriptsBehindTheSystemsLinks checks that the kernel starts an interpreter for a script with a name of the
// system. A rule about that name covers it, the proposed rule has the original words, and rules about the interpreter
// hold.
//
// FEATURES: R107
func TestRulesForScriptsBehindTheSystemsLinks(t *testing.T) {
	a := Request{
		Kind: Execution, Actor: agent, Session: "s", Path: "/usr/lib/node_modules/npm/bin/npm-cli.js", Link: "/usr/bin/npm", Cwd: "/home/u/p", Home: "/home/u", Policy: "build",
		Argv: []string{"npm", "install", "./lib"}, Scripts: [][]string{{"/usr/bin/env", "node", "/usr/bin/npm", "install", "./lib"}, {"/usr/bin/node", "/usr/bin/npm", "install", "./lib"}},
	}
	for _, row := range []struct {
		rules string
		want  policy.Verdict
	}{
		{`allow = ["npm install"]`, policy.Allow}, {`allow = ["exactly npm install ./lib"]`, policy.Allow}, {``, policy.Ask}, {`allow = ["npm ci"]`, policy.Ask},
		{"allow = [\"npm install\"]\nask = [\"node\"]", policy.Ask}, {"allow = [\"npm install\"]\ndeny = [\"node\"]", policy.Deny},
		{"allow = [\"npm install\"]\ndeny = [\"/usr/bin/node\"]", policy.Deny},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte(row.rules), 0o600); err != nil {
			t.Fatal(err)
		}
		g := open(t, dir)
		j := g.Judge(a)
		if j.Verdict != row.want {
			t.Errorf("%s: %+v", row.rules, j)
		}
		if row.rules == "" {
			if got := g.propose(&a, &j); got != "exactly npm install ./lib" {
				t.Errorf("%q is proposed; %+v", got, j)
			}
		}
	}
}

// TestGitAmongItsSubcommands checks that git runs its own subcommands by executing itself: such an execution is judged
// by git's path. A copy elsewhere is not, and rules still hold.
//
// FEATURES: R107
func TestGitAmongItsSubcommands(t *testing.T) {
	g := open(t, t.TempDir())
	for _, row := range []struct {
		path, other, argv string
		want              policy.Verdict
	}{
		{"/usr/lib/git-core/git", "/usr/bin/git", "git maintenance run --auto --quiet", policy.Allow}, {"/usr/lib/git-core/git", "/usr/bin/git", "git push", policy.Ask},
		{"/usr/lib/git-core/git", "/usr/bin/curl", "git maintenance run --auto", policy.Ask}, {"/home/u/p/git", "/usr/bin/git", "git maintenance run --auto", policy.Ask},
		{"/usr/bin/git", "", "git maintenance run --auto --quiet", policy.Ask},
	} {
		argv := strings.Fields(row.argv)
		a := Request{Kind: Execution, Actor: agent, Session: "s", Path: row.path, Argv: argv, Cwd: "/home/u/p", Home: "/home/u", Policy: "build"}
		if row.other != "" {
			a.Also = [][]string{append([]string{row.other}, argv[1:]...)}
		}
		if j := g.Judge(a); j.Verdict != row.want {
			t.Errorf("%+v: %+v", row, j)
		}
	}
}

// TestProgramsInMemory checks that a program that exists only in memory is not executed under any name, unless the
// session is not judged.
//
// FEATURES: R107
func TestProgramsInMemory(t *testing.T) {
	g := open(t, t.TempDir())
	a := Request{Kind: Execution, Actor: agent, Session: "s", Path: "/memfd:ls (deleted)", Argv: []string{"ls"}, Yes: true, Cwd: "/"}
	if j := g.Judge(a); j.Verdict != policy.Deny || !strings.Contains(j.Why, "memory") || j.Instead == "" || j.Words != "/memfd:ls (deleted) ls" {
		t.Errorf("%+v", j)
	}
	a.Path, a.Nameless = "/home/u/copy (deleted)", true
	if j := g.Judge(a); j.Verdict != policy.Deny {
		t.Errorf("a copy that was removed: %+v", j)
	}
	a.Path, a.Nameless = "/usr/bin/ls", false
	if j := g.Judge(a); j.Verdict != policy.Allow {
		t.Errorf("%+v", j)
	}
}

// TestRefusedAfterItWasAllowed checks that an execution that was rejected after a user had allowed it is rejected for
// the same process again, and that approval does not cover it.
//
// FEATURES: R107
func TestRefusedAfterItWasAllowed(t *testing.T) {
	g := open(t, t.TempDir())
	a := Request{ID: "e1", Descent: []string{"7.1"}, Kind: Execution, Actor: agent, Session: "s", Path: "/usr/bin/rm", Argv: []string{"rm", "x"}, Cwd: "/w", Policy: "readonly"}
	_, p, err := g.Begin(t.Context(), a)
	if err != nil || p == nil {
		t.Fatalf("no approval needed: %v", err)
	}
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	why := api.Errorf(api.CodeDenied, "another file")
	if err := g.Refuse(t.Context(), a, why); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	a.ID = "e2"
	if _, p, err := g.Begin(t.Context(), a); p != nil || !errors.Is(err, why) {
		t.Errorf("tried again: %v, %v", p, err)
	}
}

// TestProgramsOfAProfile checks that programs that a sandbox profile does not list are denied, or need approval.
//
// FEATURES: R67, R108
func TestProgramsOfAProfile(t *testing.T) {
	g := open(t, t.TempDir())
	a := Request{ID: "1", Kind: Execution, Actor: person, Session: "s", Path: "/usr/bin/ls", Argv: []string{"ls"}, Cwd: "/"}
	for i, row := range []struct {
		programs []string
		differ   bool
		yes      bool
		want     policy.Verdict
	}{
		{nil, false, false, policy.Allow},
		{[]string{"/usr/bin/ls", "/bin/sh"}, false, false, policy.Allow},
		{[]string{"/usr/bin"}, false, false, policy.Allow},
		{[]string{"/usr/bin/l"}, false, false, policy.Deny},
		{[]string{"/bin/ls"}, false, true, policy.Deny},
		{[]string{"/bin/ls"}, true, false, policy.Ask},
		{[]string{"/bin/ls"}, true, true, policy.Allow},
	} {
		a.Programs, a.Differ, a.Yes = row.programs, row.differ, row.yes
		if j := g.Judge(a); j.Verdict != row.want || row.want != policy.Allow && (j.Rule != "sandbox" || j.Instead == "" && row.want == policy.Deny) {
			t.Errorf("%d: %+v", i, j)
		}
	}
}

// TestChangedFile_NeedsNewApproval checks that an answer holds for the file that existed at the request: the same words
// are a new request after the file changed.
//
// FEATURES: R61 R62
func TestChangedFile_NeedsNewApproval(t *testing.T) {
	g := open(t, t.TempDir())
	tool := func(id, file string) Request {
		return Request{
			ID: id, Kind: Command, Actor: agent, Path: "./tool", File: file, Argv: []string{"./tool", "rm", "-r"}, Cwd: "/home/u/p", Home: "/home/u",
			Policy: "readonly",
		}
	}
	first := waiting(t, g, tool("1", "F1"))
	swapped := waiting(t, g, tool("2", "F2"))
	same := waiting(t, g, tool("3", "F2"))
	if first.ID() == swapped.ID() || same.ID() != swapped.ID() {
		t.Errorf("%s, %s when it was changed, %s for the same file", first.ID(), swapped.ID(), same.ID())
	}
	if n := first.Approval().Count; n != 1 {
		t.Errorf("%d wait for the answer about the first file", n)
	}
}

// TestFileIsChangedWhileNoDaemonIsThere checks that the daemon that requested approval may be killed, and the file
// changed before the next one starts.
//
// FEATURES: R64 R107
func TestFileIsChangedWhileNoDaemonIsThere(t *testing.T) {
	dir := t.TempDir()
	tool := func(file string) Request {
		return Request{ID: "1", Kind: Command, Actor: agent, Path: "/p/tool", File: file, Argv: []string{"/p/tool"}, Cwd: "/p", Home: "/home/u", Policy: "readonly"}
	}
	g := open(t, dir)
	waiting(t, g, tool("F1"))
	g.MarkStopping()
	_ = g.store.Close()

	g = open(t, dir)
	_, p, err := g.Begin(t.Context(), tool("F2"))
	if e := asError(err); p != nil || e.Code != api.CodeDenied || !strings.Contains(e.Message, "has changed since") || e.Hint == "" {
		t.Fatalf("%v %v", p, err)
	}
	if p := waiting(t, g, tool("F1")); p.ID() != "A1" {
		t.Errorf("with the original file: %s", p.ID())
	}
}

// TestProfilesAskWhateverRulesAllow checks that rules lift nothing that a sandbox profile requires: no rule is proposed
// for it, and none is written.
//
// FEATURES: R63, R67
func TestProfilesAskWhateverRulesAllow(t *testing.T) {
	for _, preset := range []string{"hard", "readonly"} { // alone, and with a preset that needs approval too
		g := open(t, t.TempDir())
		p := waiting(t, g, Request{
			ID: "e1", Kind: Execution, Actor: identity.Actor{UID: 1000, Agent: "bot"}, Session: "s", Policy: preset, Path: "/usr/bin/touch",
			Argv: []string{"touch", "f"}, Cwd: "/home/u/p", Home: "/home/u", Programs: []string{"/usr/bin/cat"}, Differ: true,
		})
		if v := p.Approval(); v.Rule != "" || !strings.Contains(v.NoRule, "does not list (/usr/bin/touch)") {
			t.Errorf("%s: rule %q is proposed, hint %q", preset, v.Rule, v.NoRule)
		}
		for _, rule := range []string{"", "touch"} {
			if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "always", Rule: rule}); codeOf(err) != api.CodeInvalid {
				t.Errorf("%s: the rule %q: %v", preset, rule, err)
			}
		}
		p.withdraw()
	}
}

// TestLinesLiftNothingOfAProfile checks that the approval of a line does not cover what a sandbox profile lacks: its
// programs need approval when they are executed.
//
// FEATURES: R63, R67
func TestLinesLiftNothingOfAProfile(t *testing.T) {
	for _, answer := range []string{"once", "session"} {
		g := open(t, t.TempDir())
		a := line("job", "touch f; id -u", agent)
		a.Policy = "readonly"
		p := waiting(t, g, a)
		if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: answer}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, argv := range [][]string{{"id", "-u"}, {"touch", "f"}} {
			p := waiting(t, g, Request{
				ID: fmt.Sprint("e", i), Kind: Execution, Actor: identity.Actor{UID: 1000}, Session: "s", Path: "/usr/bin/" + argv[0], Argv: argv,
				Cwd: "/home/u/p", Home: "/home/u", Programs: []string{"/usr/bin/cat"}, Differ: true,
			})
			if v := p.Approval(); v.Judgement.Rule != ruleSandbox {
				t.Errorf("%s, %v: approval request for %q", answer, argv, v.Judgement.Rule)
			}
			p.withdraw()
		}
	}
}

// TestExecutionOfAFileOfCommands checks that the execution of a shell with a script file is allowed if that of the
// script itself is. Code on the shell's command line and rules about the shell are judged as usual.
//
// FAULT: H7
func TestExecutionOfAFileOfCommands(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte("echo x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := open(t, t.TempDir())
	for i, row := range []struct {
		policy string
		argv   []string
		want   policy.Verdict
	}{
		{"hard", []string{"sh", "run.sh", "a"}, policy.Allow}, {"hard", []string{"bash", dir + "/run.sh"}, policy.Allow}, {"hard", []string{"sh", "-x", "run.sh"}, policy.Ask},
		{"hard", []string{"sh", "missing.sh"}, policy.Ask}, {"hard", []string{"sh", "-c", "rm -rf /"}, policy.Deny}, {"readonly", []string{"sh", "run.sh"}, policy.Ask},
	} {
		j := g.Judge(Request{ID: fmt.Sprint("e", i), Kind: Execution, Actor: agent, Session: "s", Policy: row.policy, Path: "/usr/bin/" + row.argv[0], Argv: row.argv, Cwd: dir, Home: "/home/u"})
		if j.Verdict != row.want {
			t.Errorf("%s: %q: %s (%s), want %s", row.policy, row.argv, j.Verdict, j.Why, row.want)
		}
	}
	typed := line("l1", "sh run.sh", agent)
	if typed.Cwd = dir; g.Judge(typed).Verdict != policy.Ask {
		t.Error("a line that an agent submits needs no approval")
	}
}
