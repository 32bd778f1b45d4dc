//go:build unix

package waitrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
)

func TestStatus(t *testing.T) {
	code := func(n int) *int { return &n }
	id := "0123456789"
	for _, c := range []struct {
		name string
		r    api.Result
		want int
		text string // of the message; empty: none

		named string // the session's name in the request
	}{
		{"success", api.Result{State: "exited", TimedOut: "none", ExitCode: code(0)}, 0, "", ""},
		{"its own status", api.Result{State: "exited", TimedOut: "none", ExitCode: code(3)}, 3, "", ""},
		{"a signal", api.Result{State: "signalled", TimedOut: "none", Signal: "SIGKILL"}, 137, "", ""},
		{"a wall timeout, ended", api.Result{State: "killed", TimedOut: "wall", ExitCode: code(137)}, api.ExitTimeout, "timeout after 2s (--timeout); ended", ""},
		{"an idle timeout, in the background", api.Result{State: "running", TimedOut: "idle", Job: id}, api.ExitTimeout, "no output for 1s (--idle-timeout); still running in the session; see `longterm jobs wait 01234567`", ""},
		{"never begun", api.Result{State: "waiting", TimedOut: "wall", Job: id}, api.ExitTimeout, "not started: the shell reported no prompt", ""},
		{"behind what waits", api.Result{State: "waiting", TimedOut: "wall", Job: id, Message: "Not begun: the shell runs something else, which waits for approval A7"}, api.ExitTimeout, "another command, which waits for approval A7", ""},
		{"input", api.Result{State: "needs_input", TimedOut: "none", Needs: "password", Session: id}, api.RefusedNeedsInput, "waiting for input (password); answer with `longterm send 01234567 TEXT -e`", ""},
		{"input, of a session with a name", api.Result{State: "needs_input", TimedOut: "none", Needs: "text", Session: id}, api.RefusedNeedsInput, "`longterm send e1 TEXT -e`", "e1"},
		{"a menu", api.Result{State: "needs_input", TimedOut: "none", Needs: "menu", Session: id}, api.RefusedNeedsInput, "answer with `longterm keys e1 KEY…`", "e1"},
		{"yielded", api.Result{State: "running", TimedOut: "none", Job: id}, api.ExitTimeout, "still running in the session", ""},
		{"a rule", api.Result{State: "killed", TimedOut: "none", Error: "refused", Answers: []api.RespondFiring{{Error: "refused"}}}, api.ExitOwnFailure, "ended by a response rule: refused", ""},
		{"the shell ended", api.Result{State: "ended", TimedOut: "none", Error: "gone"}, api.ExitOwnFailure, "gone", ""},
		{"a REPL", api.Result{State: "exited", TimedOut: "none", Outcome: "stable", ExitUnknown: api.ExitNone}, 0, "", ""},
		{"a shell that reports none", api.Result{State: "exited", TimedOut: "none", Outcome: "stable", ExitUnknown: api.ExitNotReported}, api.ExitOwnFailure, "exit status unknown", ""},
		{"unknown", api.Result{State: "exited", TimedOut: "none"}, api.ExitOwnFailure, "exit status unknown", ""},
		{"rules that matched nothing", api.Result{State: "killed", TimedOut: "wall", Output: "Name: bob\nChoose a fruit: ^C\n", Unused: []string{"fruit?", "Sure"}}, api.ExitTimeout,
			`timeout after 2s (--timeout): the output ends with "Choose a fruit:"; no match for --respond "fruit?", "Sure"; ended`, ""},
		{"taken back", api.Result{State: "killed", TimedOut: "none", Message: "Taken back before it began: its caller went away"}, api.ExitOwnFailure, "Taken back before it began", ""},
		{"lost", api.Result{State: "lost", TimedOut: "none"}, api.ExitOwnFailure, "exit status unknown", ""},
	} {
		err := Status(&c.r, c.named, 2*time.Second, time.Second)
		if got := exit.Status(err); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if silent := err == nil || exit.IsSilent(err); silent != (c.text == "") || !silent && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestHasInput checks that input that no command reads is noticed without reading it.
func TestHasInput(t *testing.T) {
	open := func(path string) *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := open(path)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if !hasInput(full) || hasInput(r) || hasInput(open(os.DevNull)) {
		t.Error("a file, an empty pipe, /dev/null:", hasInput(full), hasInput(r), hasInput(open(os.DevNull)))
	}
	if _, err := w.WriteString("x"); err != nil || !hasInput(r) {
		t.Errorf("a pipe with something in it: %v", err)
	}
	if _, err := full.Seek(0, 2); err != nil || hasInput(full) {
		t.Errorf("a file that was read: %v", err)
	}
}
