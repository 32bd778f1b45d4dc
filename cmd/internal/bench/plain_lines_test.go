//go:build unix

package bench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestAgentLines_PlainShell checks that without longterm each line prints the output in the corpus and ends with its
// status.
func TestAgentLines_PlainShell(t *testing.T) {
	c, err := parseAgentLines(agentCorpus)
	if err != nil {
		t.Fatal(err)
	}
	tier.Need(t, "git", "bash")
	template, home := filepath.Join(t.TempDir(), "project"), t.TempDir()
	if err := c.writeFiles(template); err != nil {
		t.Fatal(err)
	}
	env := append(linesEnv(os.Environ(), home), "TERM=xterm-256color")
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
		git := exec.Command("git", args...)
		if git.Dir, git.Env = template, env; git.Run() != nil {
			t.Fatalf("git %v failed", args)
		}
	}
	for _, sh := range agentLineShells {
		if _, err := exec.LookPath(sh); err != nil || sh != "bash" && !tier.IsFull() {
			continue
		}
		t.Run(sh, func(t *testing.T) {
			t.Parallel()
			for i := range c.Lines {
				l := &c.Lines[i]
				needs := slices.ContainsFunc(l.Needs, func(p string) bool { _, err := exec.LookPath(p); return err != nil })
				if !l.canRun() || needs || !slices.Contains(l.shells(), sh) || i%12 > 0 && !tier.IsFull() {
					continue
				}
				status, printed := runPlain(t, sh, l.Line, template, env)
				if got, want := plainOutput(printed), plainOutput(l.Output); status != l.Status || got != want {
					t.Errorf("%s: status %d, output %q; the corpus has %d, %q", l.Name, status, got, l.Status, want)
				}
			}
		})
	}
}

// runPlain runs a line as a script of the shell, on a terminal, in a copy of the template.
func runPlain(t *testing.T, sh, line, template string, env []string) (status int, printed string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "line")
	if err := os.WriteFile(script, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, append(map[string][]string{"bash": {"--norc"}, "zsh": {"-f"}, "fish": {"--no-config"}}[sh], script)...)
	cmd.Dir, cmd.Env = dir, env
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	_, _ = io.Copy(&b, f) // ends with an error when the terminal closes
	err = cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), output.PlainText(b.Bytes())
}
