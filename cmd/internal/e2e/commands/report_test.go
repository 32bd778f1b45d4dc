//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestResultAsLabelledText checks the labelled text form of a result.
//
// FAULT: F
// FEATURES: R2
func TestResultAsLabelledText(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--cwd", "/usr", "--", "bash", "--norc")
	want := "Command: (echo hi; exit 3)\nDirectory: /usr\nOutput: hi\nError: (none)\nExit Code: 3\nSignal: (none)\nBackground PIDs: (none)\n"
	if out, _, code := i.Try("exec", "--format", "text", "b", "(echo hi; exit 3)"); out != want || code != 3 {
		t.Errorf("exec: %d %q", code, out)
	}
	out, _, code := i.Try("run", "--format", "text", "--cwd", "/usr", "-c", "kill -9 $$")
	want = "Command: kill -9 $$\nDirectory: /usr\nOutput: (none)\nError: Ended by signal SIGKILL\nExit Code: (none)\nSignal: SIGKILL\nBackground PIDs: (none)\n"
	if out != want || code != 137 {
		t.Errorf("run: %d %q", code, out)
	}
}

// TestMessagesAndHints checks messages and hints on standard error.
//
// FAULT: F
func TestMessagesAndHints(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	out, _, _ := i.Try("run", "--json", "--timeout", "1s", "--", "sleep", "100")
	if r := e2e.Decode[api.Result](t, out); r.Message != "Killed by timeout (1s)" {
		t.Errorf("%s", out)
	}
	if r := e2e.Decode[api.Result](t, i.Run("run", "--json", "-c", "true && cd /usr")); !strings.Contains(r.Hint, "longterm exec") {
		t.Errorf("no hint: %+v", r)
	}
	if r := e2e.Decode[api.Result](t, i.Run("run", "--json", "-c", "cd /usr && pwd")); r.Hint != "" || r.Message != "" {
		t.Errorf("a needless hint: %+v", r)
	}
}

// TestRunEach runs a batch in a new terminal. State lasts from line to line, and nothing is left afterwards.
//
// FAULT: F
// FEATURES: R19
func TestRunEach(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	out, errOut, code := i.Try("run", "--each", "--stop-on-error", "cd /usr; X=5", "echo $X; pwd", "(exit 4)", "echo never")
	if out != "5\n/usr\n" || code != 4 || !strings.Contains(errOut, "1 line not run") {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	if out := i.Run("ls"); !strings.Contains(out, "no sessions") {
		t.Errorf("left behind: %s", out)
	}
}

// TestUnreadInput_Reported checks the hint about standard input that a command did not read.
//
// FAULT: C
func TestUnreadInput_Reported(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	run := func(name string, args ...string) string {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd := i.Command(t.Context(), args...)
		var out strings.Builder
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		return out.String()
	}
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gate := e2e.FIFO(t)
	i.Run("new", "--", "sh", "-c", "while test -e "+gate+"; do echo > "+gate+"; done")
	if out := run(file, "run", "--", "sh", "-c", "read x < "+gate); !strings.Contains(out, "--pipe") {
		t.Errorf("no message: %q", out)
	}
	if out := run(file, "run", "--pipe", "--", "cat"); out != "hi\n" {
		t.Errorf("--pipe: %q", out)
	}
	if out := run(os.DevNull, "run", "--", "echo", "x"); out != "x\n" {
		t.Errorf("/dev/null: %q", out)
	}
	_ = os.Remove(gate)
}

// TestFlagsAfterALine checks that a flag of exec after LINE is rejected instead of becoming part of LINE.
//
// FAULT: C
func TestFlagsAfterALine(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	if _, errOut, code := i.Try("exec", "b", "echo x", "--timeout", "5m"); code != api.ExitUsage || !strings.Contains(errOut, "after LINE") {
		t.Errorf("%d %q", code, errOut)
	}
	for want, args := range map[string][]string{
		"x --timeout 5m\n": {"exec", "b", "--", "echo", "x", "--timeout", "5m"},
		"x -n\n":           {"exec", "b", "echo", "x", "-n"},
		"y\n":              {"exec", "--timeout", "5m", "b", "echo", "y"},
		"z\n":              {"exec", "b", "--timeout", "5m", "echo z"},
		"--json\n":         {"exec", "b", "echo --json"},
	} {
		if out := i.Run(args...); out != want {
			t.Errorf("%q: %q", args, out)
		}
	}
}
