//go:build unix

package agents

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestWaitForAgentWhereNoneIs waits for an agent in a session without one. The wait fails at a prompt at once, also if
// it started before the first prompt or during another command.
//
// FEATURES: R100
func TestWaitForAgentWhereNoneIs(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "sh", "--", "bash", "--norc")
	refused := func(when string) {
		t.Helper()
		if _, errOut, code := i.Try("wait", "sh", "--for", "agent=idle", "--timeout", "60s"); code == 0 || !strings.Contains(errOut, "no coding agent runs in session sh") {
			t.Errorf("%s: %d %s", when, code, errOut)
		}
	}
	refused("before the first prompt")
	i.Run("exec", "--background", "sh", "sleep 4")
	refused("before the prompt after a command")
	refused("at the prompt")
}
