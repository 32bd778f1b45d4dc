package authorize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
)

// answerWith submits a line and answers its approval as the user.
func answerWith(t *testing.T, g house, a Request, answer string) api.Approval {
	t.Helper()
	p := waiting(t, g, a)
	v, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: answer})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestGrant_HoldsWhereItWasGiven checks that an answer for the session or for always, about words that mean something
// else in another directory, holds only where these were shown.
//
// FAULT: G5
func TestGrant_HoldsWhereItWasGiven(t *testing.T) {
	for _, row := range []struct {
		line, here, there string // directories below /home/u
		policy            string
		asked             bool
	}{
		{"rm -rf dist", "p", "p", "build", false},
		{"rm -rf dist", "p", "other", "build", true},
		{"rm -rf dist", "p", "p/sub", "build", true},
		{"rm -rf dist", "p", "", "build", true},
		{"git reset --hard", "p", "p", "build", false},
		{"git reset --hard", "p", "other", "build", true},
		{"git push", "p", "p/sub", "build", false},
		{"git push", "p", "other", "build", true},
		{"npm install x", "p", "other", "readonly", true},
		{"make test", "p", "other", "readonly", true},
		{"make", "p", "other", "readonly", true},
		{"bash x.sh", "p", "other", "readonly", true},
		{"sudo rm -rf dist", "p", "other", "readonly", true},
		{"rm -rf $X", "p", "other", "build", true},
		{"./x", "p", "other", "readonly", true},
		{"cd /home/u/p && rm -rf dist", "p", "p", "build", false},
		{"rm -rf /srv/old/x", "p", "other", "build", false},
		{"touch x", "p", "other", "readonly", false},
		{"systemctl restart nginx", "p", "other", "readonly", false},
		{"systemctl restart ./nginx.service", "p", "other", "readonly", true},
	} {
		dir := t.TempDir()
		g := open(t, dir)
		a := line("one", row.line, agent)
		a.Policy, a.Cwd = row.policy, filepath.Join("/home/u", row.here)
		answerWith(t, g, a, "session")
		for n := range 2 { // and again for the next daemon
			if n > 0 {
				g = open(t, dir)
			}
			b := a
			b.ID, b.Cwd = fmt.Sprint("two", n), filepath.Join("/home/u", row.there)
			_, p, err := g.Begin(t.Context(), b)
			if err != nil || (p != nil) != row.asked {
				t.Errorf("%s in %s, allowed in %s: asked %v, %v", row.line, b.Cwd, a.Cwd, p != nil, err)
			}
			if p != nil {
				p.withdraw()
			}
		}
	}
}

// FAULT: G5
func TestGrant_EndsWhenTheShellMeansSomethingElse(t *testing.T) {
	g := open(t, t.TempDir())
	a := line("one", "x dist", agent)
	a.Policy = "readonly"
	answerWith(t, g, a, "session")
	a.ID = "two"
	if _, p, err := g.Begin(t.Context(), a); err != nil || p != nil {
		t.Fatalf("the same request needs approval again: %v", err)
	}
	before := policy.Line{Text: "alias x='rm -rf'", Shell: "bash", Cwd: a.Cwd, Home: a.Home}
	a.priorState = (*policy.State)(nil).After(before, policy.RanFully)
	j := g.Judge(a)
	need := scopeOf(&a, &j)
	if len(need) != 1 || need[0].Exact != "x dist" {
		t.Fatalf("%+v", need)
	}
	need[0].Rule = g.grants[0].Rule
	if allows(&g.grants[0], &need[0]) {
		t.Error("a grant applies to another meaning of its words")
	}
}

// FAULT: G5
func TestAlways_WritesDirectory_WhenWordsAreRelative(t *testing.T) {
	for _, row := range []struct{ line, policy, cwd string }{
		{"rm -rf dist", "readonly", "/home/u/p"},
		{"git reset --hard", "build", "/home/u/p"},
		{"rm -rf /srv/old/x", "readonly", ""},
		{"touch x", "readonly", ""},
	} {
		dir := t.TempDir()
		g := open(t, dir)
		a := line("one", row.line, agent)
		a.Policy = row.policy
		if v := answerWith(t, g, a, "always"); v.RuleCwd != row.cwd {
			t.Errorf("%s: shown for %q, want %q", row.line, v.RuleCwd, row.cwd)
		}
		text, err := os.ReadFile(filepath.Join(dir, "policy.toml"))
		if err != nil || strings.Contains(string(text), "cwd = ") != (row.cwd != "") || !strings.Contains(string(text), row.cwd) {
			t.Errorf("%s: %s %v", row.line, text, err)
		}
		for there, asked := range map[string]bool{"/home/u/p": false, "/home/u/other": row.cwd != ""} {
			a.ID, a.Session, a.Cwd = there, "other", there
			_, p, err := g.Begin(t.Context(), a)
			if err != nil || (p != nil) != asked {
				t.Errorf("%s in %s: asked %v, %v", row.line, there, p != nil, err)
			}
			if p != nil {
				p.withdraw()
			}
		}
	}
}

// FAULT: G19
func TestLink_JudgedByWhereItLeads(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "home/src/p")
	if err := os.MkdirAll(filepath.Join(project, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out": home, "lnk": "in", "rc": filepath.Join(home, ".bashrc")} {
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	g := open(t, dir)
	for text, asked := range map[string]bool{
		"echo x > out/x": true, "cp a out/": true, "make -C out": true, "tar -xf a.tar -C out": true, "touch rc": true, "cd out && touch x": true,
		"echo x > lnk/x": false, "cp a lnk/": false, "make -C lnk": false, "touch in/new/x": false, "touch x": false,
	} {
		a := line(text, text, agent)
		a.Policy, a.Cwd, a.Home = "build", project, home
		if j := g.Judge(a); (j.Verdict == policy.Ask) != asked {
			t.Errorf("%s: %s (%s)", text, j.Verdict, j.Why)
		}
		if strings.ContainsAny(text, ">&") {
			continue
		}
		x := Request{ID: text, Kind: Execution, Actor: agent, Session: "s", Argv: strings.Fields(text), Cwd: project, Home: home, Policy: "build"}
		x.Path = "/usr/bin/" + x.Argv[0]
		if j := g.Judge(x); (j.Verdict == policy.Ask) != asked {
			t.Errorf("execution of %s: %s (%s)", text, j.Verdict, j.Why)
		}
	}
}
