//go:build unix

package commands

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestBriefJSON checks the output of --json=brief.
//
// FAULT: R23
// FEATURES: R23
func TestBriefJSON(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	short := func(most int, want string, args ...string) string {
		t.Helper()
		out, _, _ := i.Try(args...)
		if len(out) > most || !strings.Contains(out, want) || strings.Contains(out, "null") {
			t.Errorf("%q: %d bytes, at most %d wanted: %s", args, len(out), most, out)
		}
		if !json.Valid([]byte(out)) {
			t.Errorf("%q is no JSON: %s", args, out)
		}
		return out
	}
	short(120, `"output":"hi\n"`, "exec", "--json=brief", "b", "echo hi")
	short(120, `"exit_code":0`, "run", "--json=brief", "--", "echo", "hi")
	short(120, `"exit_code":0`, "run", "--pipe", "--json=brief", "--", "echo", "hi")
	short(120, `"cwd_after":"/usr"`, "exec", "--json=brief", "b", "cd /usr")
	short(120, `"signal":"SIGKILL"`, "run", "--json=brief", "-c", "kill -9 $$")
	short(160, `"stderr":"e\n"`, "run", "--pipe", "--json=brief", "-c", "echo o; echo e >&2")
	short(360, `"omitted":{`, "exec", "--json=brief", "--max-output", "100", "b", "seq 1000")
	short(200, `"left_out":1`, "exec", "--json=brief", "--each", "--stop-on-error", "b", "true", "false", "true")
	short(100, `"outcome":"fired"`, "wait", "--json=brief", "--for", "prompt", "b")
	short(220, `"name":"b"`, "ls", "--json=brief")
	jobs := short(2500, `"line":"echo hi"`, "jobs", "--json=brief")
	if n := len(i.Run("jobs", "--json")); len(jobs)*2 > n {
		t.Errorf("jobs: %d bytes of %d", len(jobs), n)
	}
	screen := short(2500, `"rows":[`, "screen", "--json=brief", "b")
	if strings.Count(screen, `"997"`) != 1 {
		t.Errorf("a row is repeated: %s", screen)
	}
	var full api.Result
	if err := json.Unmarshal([]byte(i.Run("exec", "--json", "b", "echo hi")), &full); err != nil || full.Job == "" || full.State != "exited" {
		t.Errorf("--json alone has changed: %+v %v", full, err)
	}
}

// TestErrors_AreJSON_WithJSONFlag checks the JSON form of errors.
//
// FAULT: C
// FEATURES: R93
func TestErrors_AreJSON_WithJSONFlag(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, c := range []struct {
		args string
		code api.Code
		exit int
	}{
		{"screen none --json", api.CodeNotFound, api.ExitNotFound},
		{"screen --json=brief none", api.CodeNotFound, api.ExitNotFound},
		{"exec none --json -- true", api.CodeNotFound, api.RefusedNotFound},
		{"screen --json", api.CodeInvalid, api.ExitUsage},
		{"screen --nonsense --json", api.CodeInvalid, api.ExitUsage},
		{"run --json -- /does/not/exist", api.CodeNoProgram, api.ExitNoProgram},
		{"run --json --cwd /does/not/exist -- true", api.CodeInvalid, api.RefusedInvalid},
		{"wait --json --for exit none", api.CodeNotFound, api.ExitNotFound},
	} {
		out, errOut, code := i.Try(strings.Fields(c.args)...)
		var e api.Error
		if err := json.Unmarshal([]byte(errOut), &e); err != nil || e.Code != c.code || e.Message == "" || e.Hint == "" || code != c.exit || out != "" {
			t.Errorf("%s: %d, %q, %q: %v", c.args, code, out, errOut, err)
		}
	}
	if _, errOut, _ := i.Try("run", "--", "sh", "-c", "exit 3", "--json"); errOut != "" {
		t.Errorf("the command's own --json: %q", errOut)
	}
	if _, errOut, code := i.Try("exce", "b", "true"); code != api.ExitUsage || !strings.Contains(errOut, "`longterm exec`") {
		t.Errorf("mistyped: %d %q", code, errOut)
	}
	if _, errOut, code := i.Try("config", "chekc"); code != api.ExitUsage || !strings.Contains(errOut, "`longterm config check`") {
		t.Errorf("mistyped: %d %q", code, errOut)
	}
}

// TestRefusalsHaveStatusesOfTheirOwn checks the exit statuses of rejected commands.
//
// FAULT: C
// FEATURES: R93
func TestRefusalsHaveStatusesOfTheirOwn(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	i.Run("new", "-n", "busy", "--", "bash", "--norc")
	i.Run("exec", "--background", "busy", "read x < "+gate)
	i.Run("new", "-n", "asks", "--", "bash", "--norc")
	i.Run("exec", "--background", "asks", "read -p 'Name: ' x")
	i.Run("wait", "--for", "input", "asks")
	i.Run("new", "-n", "over", "--", "true")
	i.Run("wait", "--for", "exit", "over")
	for _, c := range []struct {
		want int
		args []string
	}{
		{api.RefusedNotFound, []string{"exec", "none", "true"}},
		{api.RefusedBusy, []string{"exec", "busy", "true"}},
		{api.RefusedNeedsInput, []string{"exec", "asks", "true"}},
		{api.RefusedEnded, []string{"exec", "over", "true"}},
		{api.RefusedNeedsInput, []string{"run", "--on-input", "return", "-c", "read -p 'Name: ' x"}},
		{api.ExitNoProgram, []string{"run", "--", "/does/not/exist"}},
		{api.ExitTimeout, []string{"run", "--timeout", "1s", "--", "sleep", "100"}},
	} {
		if out, errOut, code := i.Try(c.args...); code != c.want {
			t.Errorf("%q: %d, want %d: %s%s", c.args, code, c.want, out, errOut)
		}
	}
	i.Run("run", "--", "sh", "-c", "echo > "+gate)
	seen := map[int]api.Code{}
	for r := range api.Codes {
		if r.RefusedExit < api.RefusedNeedsApproval || r.RefusedExit > api.ExitInterrupted {
			t.Errorf("%s: refused with %d", r.Code, r.RefusedExit)
		}
		if r.Code == api.CodeUnauthorized { // denied as well: only a caller without the socket sees it
			continue
		}
		if other, ok := seen[r.RefusedExit]; ok && r.RefusedExit != api.RefusedConflict && r.RefusedExit != api.RefusedUnavailable {
			t.Errorf("%s and %s are both refused with %d", r.Code, other, r.RefusedExit)
		}
		seen[r.RefusedExit] = r.Code
	}
}

// TestInterruptedExecPrintsWhatThereIs interrupts exec, which prints the output so far.
//
// FAULT: B25
func TestInterruptedExecPrintsWhatThereIs(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	const line = "echo before; sleep 1000" // a shell that opens a FIFO itself takes an interrupt just before that for none
	for _, mode := range []string{"text", "json"} {
		args := []string{"exec", "b", line}
		if mode == "json" {
			args = []string{"exec", "--json", "b", line}
		}
		cmd := i.Command(t.Context(), args...)
		var out, errOut strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		i.Run("wait", "b", "--since", "0", "--for", "regexp=^before")
		for done := false; !done; { // the program has started, and not only been echoed
			list := e2e.Decode[[]api.Job](t, i.Run("jobs", "--json", "--running"))
			done = len(list) == 1 && list[0].State == "running"
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err, ok := cmd.Wait().(*exec.ExitError)
		if !ok || err.ExitCode() != api.ExitInterrupted {
			t.Fatalf("%v: %s%s", err, out.String(), errOut.String())
		}
		if !strings.Contains(out.String(), "before") || strings.Contains(errOut.String(), "context canceled") || !strings.Contains(errOut.String(), "interrupted") {
			t.Errorf("%s: %q %q", mode, out.String(), errOut.String())
		}
		if mode == "json" && (!e2e.Decode[api.Result](t, out.String()).Aborted || e2e.Decode[api.Error](t, errOut.String()).Code != api.CodeCanceled) {
			t.Errorf("%s %s", out.String(), errOut.String())
		}
		i.Run("exec", "--wait", "b", "true")
	}
}

// TestInterruptedTwice_SkipsGrace checks that a second Ctrl-C sends the next signal at once, as the hint on standard
// error states.
//
// FAULT: G11
func TestInterruptedTwice_SkipsGrace(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "exec.grace", "5m")
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	for name, args := range map[string][]string{
		"exec": {"exec", "b", `bash -c 'trap "" INT TERM HUP; echo "on"; while :; do sleep 1; done'`},
		"run":  {"run", "-n", "r", "--", "bash", "-c", `trap "" INT TERM HUP; echo "on"; trap : TERM; while :; do sleep 1; done`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := i.Command(t.Context(), args...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			session := map[string]string{"exec": "b", "run": "r"}[name]
			e2e.Eventually(t, "the command runs", func() bool {
				_, _, code := i.Try("wait", session, "--since", "0", "--for", "regexp=^on", "--timeout", "1s")
				return code == 0
			})
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			hint, err := bufio.NewReader(stderr).ReadString('\n')
			if err != nil || !strings.Contains(hint, "Ctrl-C again") {
				t.Fatalf("%q %v", hint, err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for { // one step at a time
					select {
					case <-time.After(300 * time.Millisecond):
						if cmd.Process.Signal(os.Interrupt) != nil {
							return
						}
					case <-t.Context().Done():
						return
					}
				}
			}()
			began := time.Now()
			if err, ok := cmd.Wait().(*exec.ExitError); !ok || err.ExitCode() != api.ExitInterrupted {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			<-ended
		})
	}
	if out := i.Run("exec", "--wait", "b", "echo lives"); out != "lives\n" {
		t.Errorf("the shell: %q", out)
	}
}
