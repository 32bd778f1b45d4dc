package authorize

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
)

// TestScriptsAreJudgedOnce checks that for a first line "#!/usr/bin/env bash", env executes the script itself: rules
// about bash apply.
//
// FEATURES: R107
func TestScriptsAreJudgedOnce(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	a := Request{
		Kind: Execution, Actor: agent, Session: "s", Path: "/usr/bin/bash", Argv: []string{"bash", "/home/u/p/shim", "x"}, Script: true,
		Cwd: "/home/u/p", Home: "/home/u",
	}
	if j := g.Judge(a); j.Verdict != policy.Allow {
		t.Errorf("%s: %s", j.Verdict, j.Why)
	}
	a.Policy = "readonly"
	if j := g.Judge(a); j.Verdict != policy.Ask {
		t.Errorf("readonly: %s", j.Verdict)
	}
	a.Policy, a.Script = "", false
	if j := g.Judge(a); j.Verdict != policy.Ask {
		t.Errorf("bash with a file that was not judged: %s", j.Verdict)
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte("deny = [\"bash\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Script = true
	if j := open(t, dir).Judge(a); j.Verdict != policy.Deny {
		t.Errorf("bash is denied: %s", j.Verdict)
	}
}

// TestBounds checks that a program that uses the whole screen is denied on pipes, and a session outside the allowed
// directories, for any rules and --yes.
//
// FEATURES: R65 R72
func TestBounds(t *testing.T) {
	g := open(t, t.TempDir())
	for _, c := range []struct {
		ask  Request
		want string
	}{
		{Request{Kind: Line, Line: "sudo vim x", Pipe: true}, "screen"}, {Request{Kind: Line, Line: "sudo vim x"}, ""},
		{Request{Kind: Command, Argv: []string{"top"}, Pipe: true, Yes: true}, "screen"}, {Request{Kind: Command, Argv: []string{"top", "-b"}, Pipe: true}, ""},
		{Request{Kind: Command, Line: "a | less", Pipe: true, Policy: "off"}, "screen"}, {Request{Kind: Command, Line: "less x | cat", Pipe: true}, ""},
		{Request{Kind: Execution, Path: "/usr/bin/vim", Argv: []string{"vim"}, Pipe: true}, ""},
	} {
		c.ask.Actor = person
		if j := g.Judge(c.ask); j.Rule != c.want || (j.Verdict == policy.Deny) != (c.want != "") || (j.Instead == "") != (c.want == "") {
			t.Errorf("%q %q: %s %s", c.ask.Line, c.ask.Argv, j.Verdict, j.Rule)
		}
	}
	g.c.CheckStartDir = func(dir string) error {
		if dir == "/in" {
			return nil
		}
		return api.Errorf(api.CodeDenied, "not in %s", dir).WithHint("go in")
	}
	for _, c := range []struct {
		ask  Request
		want policy.Verdict
	}{
		{Request{Kind: Command, Line: "ls", Cwd: "/out"}, policy.Deny}, {Request{Kind: Command, Line: "ls", Cwd: "/out", Yes: true}, policy.Deny},
		{Request{Kind: Command, Line: "ls", Cwd: "/in"}, policy.Allow}, {Request{Kind: Line, Line: "ls", Cwd: "/out"}, policy.Allow},
	} {
		c.ask.Actor = person
		if j := g.Judge(c.ask); j.Verdict != c.want || j.Verdict == policy.Deny && (j.Rule != "roots" || j.Instead != "go in") {
			t.Errorf("%+v: %+v", c.ask, j)
		}
	}
}

// TestShimsStepsAreCovered checks that the steps of a version manager's shim need no further approval. A
// similar-looking program does.
//
// FEATURES: R63 R107
func TestShimsStepsAreCovered(t *testing.T) {
	asked := func(words ...string) []policy.Command { return []policy.Command{{Argv: words, Verdict: policy.Ask}} }
	allowed := []shownCommand{{argv: []string{"python3", "-c", "x"}}}
	for _, words := range [][]string{
		{"python3", "-c", "x"}, {"/h/.pyenv/libexec/pyenv", "exec", "python3", "-c", "x"}, {"/h/.pyenv/libexec/pyenv-exec", "python3", "-c", "x"},
		{"/h/.pyenv/versions/3.12/bin/python3", "-c", "x"},
	} {
		if !allowsAll(allowed, asked(words...), "/h") {
			t.Errorf("%q needs approval again", words)
		}
	}
	for _, words := range [][]string{
		{"/tmp/.pyenv/libexec/pyenv", "exec", "python3", "-c", "x"}, {"/h/.pyenv/libexec/pyenv", "exec", "python3", "-c", "y"},
		{"/h/.pyenv/libexec/pyenv", "python3", "-c", "x"}, {"/h/x", "exec", "python3", "-c", "x"}, {"/h/.pyenv/libexec/pyenv-exec"},
	} {
		if allowsAll(allowed, asked(words...), "/h") {
			t.Errorf("%q needs no approval", words)
		}
	}
}
