package authorize

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/policy"
)

// TestBehindLinks checks that words are judged by the files that their links lead to, for programs that destroy files,
// and for commands with their environment.
//
// FEATURES: R60 R107
func TestBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	for _, d := range []string{home, filepath.Join(dir, "work")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link, above := filepath.Join(dir, "work", "link"), filepath.Join(dir, "work", "above")
	for name, to := range map[string]string{link: home, above: dir, filepath.Join(dir, "tilde"): home} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(dir, "work")
	for _, c := range []struct {
		argv, want []string
	}{
		{[]string{"rm", "-rf", link + "/"}, []string{"rm", "-rf", home}},
		{[]string{"/bin/rm", "-rf", "link/."}, []string{"/bin/rm", "-rf", home}},
		{[]string{"rm", "-rf", above + "/home"}, []string{"rm", "-rf", home}},
		{[]string{"dd", "of=" + above + "/x"}, []string{"dd", "of=" + filepath.Join(dir, "x")}},
		{[]string{"rm", "-rf", link}, nil}, // the link itself
		{[]string{"rm", "-rf", "build", "none/x"}, nil},
		{[]string{"cat", link + "/"}, nil},
		{[]string{"rm"}, nil},
	} {
		if got := resolveLinks(work, c.argv); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.argv, got, c.want)
		}
	}
	g, _ := faultyHouse(t)
	for _, c := range []struct {
		ask  Request
		want policy.Verdict
	}{
		{Request{Kind: Execution, Path: "/bin/rm", Argv: []string{"rm", "-rf", link + "/"}}, policy.Deny},
		{Request{Kind: Command, Argv: []string{"rm", "-rf", "above/home"}}, policy.Deny},
		{Request{Kind: Command, Argv: []string{"rm", "-rf", "link"}}, policy.Allow},
		{Request{Kind: Command, Argv: []string{"rm", "-rf", home}, Home: filepath.Join(dir, "tilde")}, policy.Deny},
		{Request{Kind: Command, Argv: []string{"rm", "-rf", "above/home"}, Home: filepath.Join(dir, "tilde")}, policy.Deny},
		{Request{Kind: Command, Argv: []string{"git", "status"}}, policy.Allow},
		{Request{Kind: Command, Argv: []string{"git", "status"}, Settings: []string{"LD_PRELOAD=/tmp/x.so"}}, policy.Ask},
		{Request{Kind: Command, Line: "git status", Settings: []string{"LD_PRELOAD=/tmp/x.so"}}, policy.Ask},
		{Request{Kind: Command, Argv: []string{"make"}, Settings: []string{"VERBOSE=1"}}, policy.Allow},
	} {
		a := c.ask
		a.Actor, a.Cwd = agent, work
		if a.Home == "" {
			a.Home = home
		}
		if j := g.Judge(a); j.Verdict != c.want {
			t.Errorf("%+v: %v (%s)", c.ask, j.Verdict, j.Why)
		}
	}
	plain := Request{Kind: Command, Actor: agent, Argv: []string{"git", "push"}}
	with := plain
	with.Settings = []string{"GIT_SSH_COMMAND=/tmp/x"}
	if digestOf(&plain) == digestOf(&with) {
		t.Error("a request with settings equals the one without")
	}
	if !sameWords(&plain, keptOf(&plain)) || sameWords(&with, keptOf(&plain)) || sameWords(&plain, keptOf(&with)) || !sameWords(&with, keptOf(&with)) {
		t.Error("an answer for a request with settings applies to one without")
	}
	j := policy.Judgement{}
	if v := newView(1, &with, &j, nil); !slices.Equal(v.Argv, []string{"env", "GIT_SSH_COMMAND=/tmp/x", "git", "push"}) {
		t.Errorf("a user is shown %q", v.Argv)
	}
	with.Line, with.Argv = "git push", nil
	if v := newView(1, &with, &j, nil); v.Line != "export 'GIT_SSH_COMMAND=/tmp/x'; git push" {
		t.Errorf("a user is shown %q", v.Line)
	}
}

func keptOf(a *Request) *Request {
	k, _ := a.toStored()
	return &k
}
