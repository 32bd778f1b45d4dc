package authorize

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/policy"
)

// TestVerdicts checks that an allowed verdict is cached by all its inputs: any difference is judged again. Denials and
// requirements are judged each time.
//
// FEATURES: R107
func TestVerdicts(t *testing.T) {
	engine, err := policy.New(policy.Options{Preset: policy.Hard, Rules: []policy.Rule{{Name: "deny curl", Program: "curl", Decision: policy.Deny}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := reflect.TypeFor[policy.Line]().NumField(); n != 8 {
		t.Errorf("a line has %d fields: is the new one in the cache's key?", n)
	}
	var v verdicts
	base := policy.Line{Cwd: "/p", Home: "/home/u", Shell: "bash", Account: "/home/u"}
	allowed := v.judgeArgv(engine, "/usr/bin/cat", []string{"cat", "f"}, base)
	if allowed.Verdict != policy.Allow || v.count != 1 {
		t.Fatalf("%+v, %d remembered", allowed, v.count)
	}
	if again := v.judgeArgv(engine, "/usr/bin/cat", []string{"cat", "f"}, base); !reflect.DeepEqual(again, allowed) || v.count != 1 {
		t.Errorf("%+v, %d remembered", again, v.count)
	}
	others := []func(l *policy.Line){
		func(l *policy.Line) { l.Cwd = "/q" }, func(l *policy.Line) { l.Home = "/home/v" }, func(l *policy.Line) { l.Shell = "sh" },
		func(l *policy.Line) { l.Account = "/home/v" }, func(l *policy.Line) { l.Installed = true },
		func(l *policy.Line) { l.Cwd, l.Home = "/p/home", "/u" },
	}
	for i, other := range others {
		l := base
		other(&l)
		v.judgeArgv(engine, "/usr/bin/cat", []string{"cat", "f"}, l)
		if v.count != i+2 {
			t.Errorf("%+v gets the verdict of %+v", l, base)
		}
	}
	for _, words := range [][]string{{"cat", "f", ""}, {"cat f"}, {"cat", "f", "g"}, {"ca", "tf"}} {
		before := v.count
		if v.judgeArgv(engine, "/usr/bin/cat", words, base); v.count != before+1 {
			t.Errorf("%q gets the verdict of another line", words)
		}
	}
	before := v.count
	for _, words := range [][]string{{"curl", "x"}, {"rm", "-rf", "/"}} {
		for range 2 {
			if j := v.judgeArgv(engine, "/usr/bin/"+words[0], words, base); j.Verdict != policy.Deny || j.Why == "" {
				t.Errorf("%q: %+v", words, j)
			}
		}
	}
	laxer, err := policy.New(policy.Options{Preset: policy.Hard})
	if err != nil {
		t.Fatal(err)
	}
	if j := v.judgeArgv(laxer, "/usr/bin/curl", []string{"curl", "x"}, base); j.Verdict != policy.Allow || v.count != before+1 {
		t.Errorf("%+v, %d remembered", j, v.count-before)
	}
	if j := v.judgeArgv(engine, "/usr/bin/curl", []string{"curl", "x"}, base); j.Verdict != policy.Deny {
		t.Errorf("a line allowed by other rules is allowed: %+v", j)
	}
	v.judgeArgv(engine, "/usr/bin/cat", []string{"cat", strings.Repeat("x", maxVerdictBytes)}, base)
	if v.count != before+1 {
		t.Error("long words are remembered")
	}
	for i := range 2 * maxVerdicts {
		v.judgeArgv(engine, "/usr/bin/cat", []string{"cat", fmt.Sprint(i)}, base)
	}
	if v.count > maxVerdicts {
		t.Errorf("%d are remembered", v.count)
	}
	for range 2 * maxEnginesKept {
		e, err := policy.New(policy.Options{Preset: policy.Hard})
		if err != nil {
			t.Fatal(err)
		}
		v.judgeArgv(e, "/usr/bin/cat", []string{"cat"}, base)
	}
	if len(v.byEngine) > maxEnginesKept {
		t.Errorf("%d engines are kept", len(v.byEngine))
	}
	var none *verdicts
	if j := none.judgeArgv(engine, "/usr/bin/curl", []string{"curl", "x"}, base); j.Verdict != policy.Deny {
		t.Errorf("%+v", j)
	}
}

// TestVerdictsFollowTheRules checks that an execution that was allowed before a rule was written is denied by that
// rule.
//
// FEATURES: R107
func TestVerdictsFollowTheRules(t *testing.T) {
	dir := t.TempDir()
	g := open(t, dir)
	a := Request{Kind: Execution, Actor: agent, Session: "s", Name: "work", Path: "/usr/bin/rev", Argv: []string{"rev", "f"}, Cwd: dir, Home: "/home/u", Real: true}
	for range 2 {
		if j := g.Judge(a); j.Verdict != policy.Allow {
			t.Fatalf("%+v", j)
		}
	}
	if g.verdicts.count == 0 {
		t.Fatal("it is not remembered")
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte("deny = [\"rev\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if j := g.Judge(a); j.Verdict != policy.Deny {
		t.Errorf("%+v", j)
	}
}
