//go:build unix

package request

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestEnterAfterASecret checks that Enter follows a secret on a command line by default, and that a file's reply is
// typed as written.
//
// FEATURES: R53
func TestEnterAfterASecret(t *testing.T) {
	t.Setenv("PW", "hunter2")
	presses := func(list []api.RespondReply) bool { return len(list) == 2 && list[1].Value == "<Enter>" }
	pair, err := parsePair("Password=secret:env:PW")
	if err != nil || !presses(pair.Reply) {
		t.Errorf("--respond: %+v, %v", pair.Reply, err)
	}
	var r RuleFlags
	if err := (replyFlag{&r, "secret"}).Set("env:PW"); err != nil || !presses(r.rule.Reply) {
		t.Errorf("--secret: %+v, %v", r.rule.Reply, err)
	}
	if got := withoutEnter(r.rule.Reply); len(got) != 1 {
		t.Errorf("--no-enter: %+v", got)
	}
	for text, want := range map[string]bool{"": false, ", enter: false": false, ", enter: true": true} {
		file := filepath.Join(t.TempDir(), "rules.yaml")
		if err := os.WriteFile(file, []byte(`- {text: Password, reply: {secret: "env:PW"`+text+"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		rules, err := (Input{Stderr: io.Discard}).rulesFile(file)
		if err != nil || presses(rules.Rules[0].Reply) != want {
			t.Errorf("a file with%q: %+v, %v", text, rules, err)
		}
	}
}

// TestCutPair checks that a pattern may contain "=": the one after a prompt's end counts, or else the first, and an
// escaped one never does.
//
// FAULT: J
func TestCutPair(t *testing.T) {
	for in, want := range map[string][2]string{
		"a=b=c?=d": {"a=b=c?", "d"}, "Token:=abc==": {"Token:", "abc=="}, "Name=a=b": {"Name", "a=b"}, "Value [x=1] > =y": {"Value [x=1] > ", "y"},
		`a\=b=c`: {"a=b", "c"}, "re:^x=?=y": {"re:^x=?", "y"}, "Go on?=": {"Go on?", ""}, "$ =ls a=b": {"$ ", "ls a=b"}, "=x": {"", "x"},
	} {
		pattern, reply, ok := cutPair(in)
		if !ok || pattern != want[0] || reply != want[1] {
			t.Errorf("%q: %q, %q, %v", in, pattern, reply, ok)
		}
	}
	for _, in := range []string{"", "x", `a\=b`} {
		if _, _, ok := cutPair(in); ok {
			t.Errorf("%q is cut", in)
		}
	}
}

// FuzzCutPair checks that no byte of a pair is lost.
func FuzzCutPair(f *testing.F) {
	f.Add("a=b=c?=d")
	f.Fuzz(func(t *testing.T, s string) {
		pattern, reply, ok := cutPair(s)
		if lost := len(s) - len(pattern) - len(reply); ok && lost != 1+strings.Count(s[:len(s)-len(reply)-1], `\=`) || !ok && pattern != s {
			t.Errorf("%q: %q, %q, %v", s, pattern, reply, ok)
		}
	})
}
