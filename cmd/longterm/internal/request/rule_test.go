//go:build unix

package request

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// On a command line Enter follows a secret unless it is told otherwise; in a file it is what is written.
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
