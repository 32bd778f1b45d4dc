//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestRulesWhileTheDaemonRuns changes the rule file while the daemon runs. The daemon applies it, and uses the last
// valid rules while the file has mistakes, over a restart too. status, doctor and check report that.
//
// FEATURES: R61
func TestRulesWhileTheDaemonRuns(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	if r := i.Status().Rules; r.Using != "none" || len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
	file := filepath.Join(i.Dir, "policy.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("deny = [\"no-such-program\"]\n")
	e2e.Eventually(t, "the daemon has applied the file", func() bool { r := i.Status().Rules; return r.Using == "file" && r.Rules == 1 })
	write("deny = [\"no-such-program\"\n")
	e2e.Eventually(t, "the daemon reports the mistake", func() bool {
		r := i.Status().Rules
		return r.Using == "kept" && r.Rules == 1 && len(r.Problems) == 1 && strings.Contains(r.Problems[0], "policy.toml:")
	})
	if out, _, _ := i.Try("daemon", "status"); !strings.Contains(out, "rules  "+file+" (rejected; using the last valid version)") {
		t.Error(out)
	}
	if out, _, code := i.Try("doctor"); code == 0 || !strings.Contains(out, "✗ rules: "+file) {
		t.Errorf("%d: %s", code, out)
	}
	if _, stderr, code := i.Try("policy", "check", "ls; no-such-program"); code != 11 || !strings.Contains(stderr, file) {
		t.Errorf("%d: %s", code, stderr)
	}
	log, err := os.ReadFile(filepath.Join(i.Dir, "state", "daemon.log"))
	if err != nil || !strings.Contains(string(log), "rules are not taken") {
		t.Errorf("%v: the log has no entry for it", err)
	}
	i.Run("daemon", "restart")
	e2e.Eventually(t, "the daemon uses the last valid rules", func() bool { r := i.Status().Rules; return r.Using == "kept" && r.Rules == 1 })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the daemon uses no rule file", func() bool { return i.Status().Rules.Using == "none" })
}
