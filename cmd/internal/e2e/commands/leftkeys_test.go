package commands

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestExecBehindKeys types keys that may leave text in the shell's editor. One Ctrl-C clears them before a line runs;
// input that a program has read is not reported as cleared.
//
// FEATURES: R45
func TestExecBehindKeys(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			tier.Need(t, shell)
			i := e2e.New(t)
			i.Run("new", "-n", "s", "--", shell)
			run := func(line string) {
				t.Helper()
				r := e2e.Decode[api.Result](t, i.Run("exec", "--json", "s", line))
				if r.Output != strings.TrimPrefix(line, "echo ")+"\n" || r.Cleared != "" {
					t.Errorf("%s: %q, cleared %q", line, r.Output, r.Cleared)
				}
			}
			interrupts := func() int { return strings.Count(i.Run("output", "--raw", "s"), "^C") }
			run("echo one")
			i.Run("keys", "s", "C-a")
			run("echo two")
			if n := interrupts(); n > 1 {
				t.Errorf("behind a key that edits the line is interrupted %d times", n)
			}
			before := interrupts()
			for program, keys := range map[string][]string{"cat": {"C-d"}, "less /etc/passwd": {"q"}} {
				i.Run("send", "s", program, "-e")
				i.Run("wait", "s", "--for", "input")
				i.Run(append([]string{"keys", "s"}, keys...)...)
				i.Run("wait", "s", "--for", "prompt")
				run("echo three")
			}
			if n := interrupts(); n != before {
				t.Errorf("behind keys that a program read is interrupted %d times", n-before)
			}
		})
	}
}

// TestFishDropsWhatItRefused submits a line with a syntax error to fish, which keeps it in its editor. It is cleared
// before the line's end is reported, so nothing is appended to it.
//
// FEATURES: R45
func TestFishDropsWhatItRefused(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "fish")
	i := e2e.New(t)
	i.Run("new", "-n", "f", "--", "fish")
	for range 3 {
		if out, _, code := i.Try("exec", "f", "print(1)"); code != 127 || !strings.Contains(out, "not allowed here") {
			t.Errorf("%d: %s", code, out)
		}
		i.Run("send", "f", "echo hello", "-e")
		i.Run("wait", "f", "--for", "prompt")
		if r := e2e.Decode[api.Result](t, i.Run("exec", "--json", "f", "echo a && echo b")); r.Output != "a\nb\n" || r.Cleared != "" {
			t.Errorf("%+v", r)
		}
	}
	if out := i.Run("output", "f"); strings.Count(out, "\nhello\n") != 3 {
		t.Errorf("the submitted line did not run: %s", out)
	}
}
