//go:build unix

package terminals

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestOvernight runs fifty commands of an agent and answers its approvals in the viewer, on the command line and over
// HTTP, as documented.
//
// FEATURES: R61 R63 R108 R109
func TestOvernight(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "bash", "git", "curl", "tmux", "sed", "seq")
	page, err := os.ReadFile("../../../../docs/overnight.md")
	if err != nil {
		t.Fatal(err)
	}
	i := e2e.New(t)
	work := t.TempDir()
	i.Env = append(i.Env, "HOME="+work, "GIT_CONFIG_NOSYSTEM=1", "PATH="+i.Dir+":"+os.Getenv("PATH"))
	if err := os.Symlink(i.Exe, filepath.Join(i.Dir, "longterm")); err != nil {
		t.Fatal(err)
	}
	waits := func(approval string) {
		t.Helper()
		e2e.Eventually(t, approval+" waits", func() bool { return strings.Contains(i.Run("approvals", "--json"), `"id": "`+approval+`"`) })
	}
	steps := e2e.Steps(string(page))
	if len(steps) < 12 {
		t.Fatalf("only %d commands were found", len(steps))
	}
	for _, s := range steps {
		switch {
		case s.Command == "longterm view":
			waits("A1")
			o := newOuter(t, i, 80, 24, "view")
			o.shows("! 1 to approve")
			o.after("A")
			o.shows("Approval A1", "git tag step-10", "agent night")
			o.keys("1")
			waits("A2")
			o.after("q")
			o.shows("STATUS=0")
			continue
		case strings.HasPrefix(s.Command, "curl"):
			waits("A3")
		case s.Command == "longterm output night":
			i.Run("wait", "night", "--for", "exit", "--timeout", "2m")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // for commands whose prompt is never answered
		cmd := exec.CommandContext(ctx, "bash", "-c", s.Command)
		cmd.Dir, cmd.Env = work, i.Env
		out, _ := cmd.CombinedOutput() // its output is compared
		cancel()
		if !e2e.LoosePattern(s.Prints).Match(out) {
			t.Fatalf("overnight.md:%d: %s\nprinted (status %d)\n%s\ninstead of\n%s", s.Line, s.Command, cmd.ProcessState.ExitCode(), out, strings.Join(s.Prints, "\n"))
		}
	}
	if out := i.Run("output", "night"); strings.Count(out, "\nstep ")+1 < 47 || strings.Count(out, "status ") != 1 {
		t.Errorf("of the fifty commands there is\n%s", out)
	}
}
