//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestAgentsEnter_JudgesWholeLine_StartedByOthers sends Enter as an agent after input of a user, or input typed under a
// killed or restarted daemon. The whole line needs approval, also if its start is unknown.
//
// FEATURES: R60 R63
func TestAgentsEnter_JudgesWholeLine_StartedByOthers(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for name, between := range map[string]func(i *e2e.Instance){
		"a user":    nil,
		"a restart": func(i *e2e.Instance) { i.Run("daemon", "restart") },
		"a kill":    func(i *e2e.Instance) { _ = syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); i.Run("ls") },
	} {
		t.Run(name, func(t *testing.T) {
			i := e2e.New(t)
			i.Run("config", "set", "policy.agents", "readonly")
			own, agents := i.Env, append(slices.Clone(i.Env), "LONGTERM_AGENT=claude")
			file := filepath.Join(i.Dir, "made")
			i.Run("new", "-n", "s", "--", "bash", "--norc")
			i.Run("exec", "s", "true")
			as := func(env []string, args ...string) {
				i.Env = env
				i.Run(args...)
				i.Env = own
			}
			begins := agents
			if between == nil {
				begins = own
			}
			as(begins, "send", "s", "touch "+file)
			e2e.Eventually(t, "the screen shows the partial line", func() bool { return strings.Contains(i.Run("screen", "s"), "touch ") })
			if between != nil {
				between(i)
			}
			rejected(t, i, agents, file, "keys", "s", "Enter", "--force")
			i.Run("keys", "s", "C-c")
			if _, err := os.Stat(file); err == nil {
				t.Error("it ran though it was rejected")
			}
		})
	}
}

// TestClearedInput_NotJudgedWithTheLine checks that input which exec cleared is not part of the checked line.
//
// FEATURES: R60 R102
func TestClearedInput_NotJudgedWithTheLine(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "policy.agents", "readonly")
	own, agents := i.Env, append(slices.Clone(i.Env), "LONGTERM_AGENT=claude")
	file := filepath.Join(i.Dir, "made")
	i.Run("new", "-n", "s", "--", "bash", "--norc")
	i.Run("exec", "s", "true")
	i.Env = agents
	i.Run("send", "s", "echo ")
	i.Run("exec", "s", "pwd") // clears it
	i.Env = own
	rejected(t, i, agents, file, "send", "s", "touch "+file, "-e")
}

// rejected runs a verb that needs approval, with an environment, and rejects it: no file exists afterwards.
func rejected(t *testing.T, i *e2e.Instance, env []string, file string, verb ...string) {
	t.Helper()
	own := i.Env
	i.Env = env
	cmd := i.Command(t.Context(), verb...)
	i.Env = own
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pending := func() []api.Approval { return e2e.Decode[[]api.Approval](t, i.Run("approvals", "ls", "--json")) }
	e2e.Eventually(t, "an approval request is pending", func() bool { return len(pending()) == 1 })
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran unasked")
	}
	i.Run("approvals", "answer", pending()[0].ID, "reject")
	if err := cmd.Wait(); err == nil {
		t.Error("it was typed though it was rejected")
	}
}
