//go:build unix

package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestTour runs the commands of the tour in the documentation.
//
// FEATURES: R2, R36, R50
func TestTour(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	bash := tier.Path(t, "bash")
	page, err := os.ReadFile("../../../../docs/tour.md")
	if err != nil {
		t.Fatal(err)
	}
	i := e2e.New(t)
	if err := os.Symlink(i.Exe, filepath.Join(i.Dir, "longterm")); err != nil {
		t.Fatal(err)
	}
	steps := e2e.Steps(string(page))
	if len(steps) < 20 {
		t.Fatalf("only %d commands were found", len(steps))
	}
	work := t.TempDir()
	status := 0
	for _, s := range steps {
		cmd := exec.CommandContext(t.Context(), bash, "-c", fmt.Sprintf("(exit %d)\n%s", status, s.Command))
		cmd.Dir = work
		cmd.Env = append(i.Env, "PATH="+i.Dir+":"+os.Getenv("PATH"), "SHELL="+bash, "HOME="+work)
		out, _ := cmd.CombinedOutput() // its status is $? of the next one
		status = cmd.ProcessState.ExitCode()
		if !e2e.LoosePattern(s.Prints).Match(out) {
			t.Fatalf("tour.md:%d: %s\nprinted (status %d)\n%s\ninstead of\n%s", s.Line, s.Command, status, out, strings.Join(s.Prints, "\n"))
		}
	}
	for _, m := range regexp.MustCompile(`\]\((pictures/[^)]+)\)`).FindAllStringSubmatch(string(page), -1) {
		if st, err := os.Stat(filepath.Join("../../../../docs", m[1])); err != nil || st.Size() > 150_000 {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}
