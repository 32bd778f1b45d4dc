//go:build unix

package agents

import (
	"bufio"
	"runtime"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPrompt_ReportedAtOnceAndAfterRestart runs a program that waits for input without printing. Status commands report
// that at once, and again after a restart of the daemon.
//
// FEATURES: R42
func TestPrompt_ReportedAtOnceAndAfterRestart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to find the reading process")
	}
	i := e2e.New(t)
	i.Run("new", "-n", "silent", "--", "cat")
	i.Run("new", "-n", "asks", "--", "bash", "--norc")
	if _, errOut, code := i.Try("exec", "--on-input", "return", "asks", "read -p 'Name: ' x"); code != api.RefusedNeedsInput {
		t.Fatalf("%d %s", code, errOut)
	}
	seen := func(when string) {
		t.Helper()
		for _, name := range []string{"silent", "asks"} {
			e2e.Eventually(t, name+" waits for input "+when, func() bool {
				n := i.Info(name).Needs
				return n != nil && n.Kind == "text"
			})
		}
		if _, errOut, code := i.Try("exec", "asks", "true"); code != api.RefusedNeedsInput {
			t.Errorf("a line %s: %d %s", when, code, errOut)
		}
	}
	seen("from the beginning")
	i.Run("daemon", "restart")
	seen("after a restart")
}

// TestWhatToDoAboutALineThatAsks times out on a line that waits for input. The error reports that and how to answer. An
// unknown exit status does not refer users to the daemon's log.
//
// FEATURES: R93
func TestWhatToDoAboutALineThatAsks(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	_, errOut, code := i.Try("exec", "--timeout", "4s", "b", "read -p 'Name: ' x; sleep 100")
	if code != api.ExitTimeout || !strings.Contains(errOut, "waiting for input (text): answer with `longterm send ") {
		t.Errorf("%d %s", code, errOut)
	}
	job := e2e.Decode[[]api.Job](t, i.Run("jobs", "b", "--json"))[0]
	if _, errOut, code = i.Try("jobs", "wait", "--timeout", "50ms", job.ID); code != api.ExitTimeout ||
		strings.Contains(errOut, "context") || !strings.Contains(errOut, "longterm jobs show") {
		t.Errorf("%d %s", code, errOut)
	}
	i.Run("new", "-n", "c", "--", "cat")
	i.Run("wait", "c", "--for", "input")
	out, errOut, code := i.Try("exec", "--json", "c", "hello")
	if r := e2e.Decode[api.Result](t, out); code != 0 || errOut != "" || r.ExitCode != nil || r.Outcome != "stable" {
		t.Errorf("%d %s %s", code, out, errOut)
	}
}

// TestHintOfInput_WhileWaiting checks that run and exec print on standard error that the program waits for input, and
// the command that answers it.
//
// FAULT: J
func TestHintOfInput_WhileWaiting(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	for _, args := range [][]string{{"exec", "b", "read -p 'Name: ' x; echo got $x"}, {"run", "-n", "r", "--", "bash", "-c", "read -p 'Name: ' x; echo got $x"}} {
		session := map[string]string{"exec": "b", "run": "r"}[args[0]]
		cmd := i.Command(t.Context(), args...)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stderr).ReadString('\n')
		if want := "longterm: waiting for input (text): answer with `longterm send " + session + " TEXT -e`\n"; err != nil || line != want {
			t.Errorf("%q %v, want %q", line, err, want)
		}
		i.Run("send", session, "-e", "me")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", args[0], err)
		}
	}
}
