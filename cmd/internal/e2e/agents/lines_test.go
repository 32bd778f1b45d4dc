//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestAgentLines runs lines as coding agents write them in bash and zsh (`ltbench detect --agent` covers all shells).
// Status, output, record and verdict equal those of the plain shell.
//
// FEATURES: R49
func TestAgentLines(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "git")
	bench := filepath.Dir(sessiontest.Build(t, "github.com/longterm-dev/longterm/cmd/ltbench"))
	for _, sh := range []string{"bash", "zsh"} {
		t.Run(sh, func(t *testing.T) {
			t.Parallel()
			i := e2e.New(t)
			i.Env = append(i.Env, "PATH="+bench+":"+os.Getenv("PATH"))
			// Without the time limit of i.Run: a slow machine needs longer.
			out, err := i.Command(t.Context(), "bench", "detect", "--agent", "--short", "--shell", sh).Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				// Under hard some harmless lines need approval; the test of their verdicts bounds their number.
				if strings.HasPrefix(line, sh+" ") && !strings.Contains(line, "the right verdict is allow") {
					t.Error(strings.TrimSpace(line))
				}
			}
		})
	}
}
