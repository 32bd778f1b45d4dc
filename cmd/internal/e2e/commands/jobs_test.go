//go:build unix

package commands

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// jobOf is the job with an id.
func jobOf(i *e2e.Instance, id string) api.Job {
	i.T.Helper()
	return e2e.Decode[api.Job](i.T, i.Run("jobs", "show", "--json", id))
}

// TestBackgroundLine starts a line in the background and reads its result later.
//
// FEATURES: R18, R88
func TestBackgroundLine(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	id := strings.TrimSpace(i.Run("exec", "--background", "b", "echo begun; read x < "+gate+"; echo got $x; (exit 5)"))
	i.Run("wait", "b", "--for", "text=begun")
	if out := i.Run("jobs", "--running"); !strings.Contains(out, "background") || !strings.Contains(out, id[:8]) {
		t.Errorf("jobs: %s", out)
	}
	if out := i.Run("jobs", "read", id); out != "begun\n" {
		t.Errorf("read while it runs: %q", out)
	}
	if _, errOut, code := i.Try("jobs", "wait", "--timeout", "50ms", id[:6]); code != api.ExitTimeout {
		t.Errorf("wait for a job that runs: %d %s", code, errOut)
	}
	if _, errOut, code := i.Try("jobs", "rm", id); code != api.ExitConflict || !strings.Contains(errOut, "has not ended") {
		t.Errorf("forget a job that runs: %d %s", code, errOut)
	}
	i.Run("run", "--", "sh", "-c", "echo now > "+gate)
	out, _, code := i.Try("jobs", "wait", id)
	if code != 5 || !strings.Contains(out, "exited, status 5") {
		t.Errorf("wait: %d %s", code, out)
	}
	if out := i.Run("jobs", "read", "--tail", "1", id); out != "got now\n" {
		t.Errorf("read: %q", out)
	}
	i.Run("jobs", "rm", id)
	if _, errOut, code := i.Try("jobs", "show", id); code != api.ExitNotFound {
		t.Errorf("a forgotten job: %d %s", code, errOut)
	}
}

// TestBackgroundCommand starts a command in the background and reads its result later.
//
// FEATURES: R1, R15, R18
func TestBackgroundCommand(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	id := strings.TrimSpace(i.Run("run", "--background", "-n", "bg", "--", "sh", "-c", "trap '' INT TERM HUP; echo one; while :; do sleep 1; done"))
	i.Run("wait", "bg", "--for", "text=one")
	i.Run("jobs", "stop", id)
	j := jobOf(i, id)
	if j.State != "done" || j.Result.State != "killed" || j.Result.Signal != "SIGKILL" || j.Result.Output != "one\n" {
		t.Errorf("stopped: %+v %+v", j, j.Result)
	}
	i.Run("info", "bg") // it is kept as long as the job
	i.Run("jobs", "rm", id)
	if _, _, code := i.Try("info", "bg"); code != api.ExitNotFound {
		t.Errorf("the session of a forgotten job still exists")
	}
}

// TestMoveToBackground moves a call to the background while its caller waits. The caller returns.
//
// FEATURES: R17
func TestMoveToBackground(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	for _, args := range [][]string{
		{"exec", "--json", "b", "echo moved; read x < " + gate},
		{"run", "--json", "-n", "r", "--", "sh", "-c", "echo moved; read x < " + gate},
	} {
		type answer struct {
			out  string
			code int
		}
		done := make(chan answer, 1)
		go func() {
			out, _, code := i.Try(args...)
			done <- answer{out, code}
		}()
		session := map[string]string{"exec": "b", "run": "r"}[args[0]]
		e2e.Eventually(t, "the command has started", func() bool {
			out, _, code := i.Try("wait", session, "--for", "text=moved", "--timeout", "1s")
			return code == 0 || strings.Contains(out, "moved")
		})
		id := e2e.Decode[[]api.Job](t, i.Run("jobs", "--running", "--json"))[0].ID
		i.Run("jobs", "background", id)
		got := <-done
		r := e2e.Decode[api.Result](t, got.out)
		if got.code != api.ExitTimeout || r.State != "running" || !r.InBackground || r.Job != id || strings.TrimSpace(r.Output) != "moved" {
			t.Errorf("%s: %d %+v", args[0], got.code, r)
		}
		i.Run("run", "--", "sh", "-c", "echo now > "+gate)
		i.Run("jobs", "wait", id)
	}
}

// TestRunYields checks that run returns after --yield while the command continues.
//
// FEATURES: R18
func TestRunYields(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	out, errOut, code := i.Try("run", "--yield", "200ms", "-n", "slow", "--", "sh", "-c", "echo begun; read x <"+gate)
	if out != "begun\n" || code != api.ExitTimeout || !strings.Contains(errOut, "still running in the session") {
		t.Errorf("%d %q %s", code, out, errOut)
	}
	if out := i.Run("jobs", "--running"); !strings.Contains(out, "background") {
		t.Errorf("jobs: %s", out)
	}
	i.Run("run", "--", "sh", "-c", "echo now >"+gate)
	i.Run("wait", "slow", "--for", "exit")
	if out := i.Run("run", "--yield", "1m", "--", "echo", "soon"); out != "soon\n" {
		t.Errorf("%q", out)
	}
}

// TestJobsWaitForAll waits for several jobs.
//
// FEATURES: R18
func TestJobsWaitForAll(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	first := strings.TrimSpace(i.Run("run", "-b", "--", "sh", "-c", "exit 3"))
	last := strings.TrimSpace(i.Run("run", "-b", "--", "sh", "-c", "read x <"+gate+"; exit 4"))
	i.Run("run", "--", "sh", "-c", "echo now >"+gate)
	out, errOut, code := i.Try("jobs", "wait", first, last)
	if code != 4 || !strings.Contains(out, "status 3") || !strings.Contains(out, "status 4") {
		t.Errorf("%d %s %s", code, out, errOut)
	}
	if out := i.Run("jobs"); !strings.Contains(out, "exited(3)") {
		t.Errorf("jobs: %s", out)
	}
}

// TestJobsReadJSON reads the output of a job as JSON.
//
// FEATURES: R18
func TestJobsReadJSON(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	id := strings.TrimSpace(i.Run("run", "-b", "-n", "r", "--", "seq", "3"))
	i.Run("wait", "r", "--for", "exit")
	i.Run("jobs", "wait", id)
	if j := e2e.Decode[api.Job](t, i.Run("jobs", "read", "--json", "--tail", "2", id)); j.Result == nil || j.Result.Output != "2\n3\n" {
		t.Errorf("%+v", j.Result)
	}
}

// TestFlags_RejectedWithoutRequiredFlag checks that flags without effect are rejected.
//
// FEATURES: R16
func TestFlags_RejectedWithoutRequiredFlag(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, c := range []struct{ args, want string }{
		{"run --background --notify bell -- true", "longterm jobs wait"},
		{"run --encoding latin1 -- true", "--pipe"},
		{"run --parse -- true", "--json"},
		{"run --on-timeout foo -- true", "use one of kill, background"},
		{"run --on-input foo -- true", "use one of wait, return"},
		{"render --json --format svg /dev/null", "--json and --format svg"},
	} {
		_, errOut, code := i.Try(strings.Fields(c.args)...)
		if code != api.ExitUsage || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: %d %s", c.args, code, errOut)
		}
	}
}

// TestBatch runs several lines in one call.
//
// FEATURES: R19
func TestBatch(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	out, _, code := i.Try("exec", "--each", "b", "cd /usr", "pwd; (exit 3)", "echo last")
	if out != "/usr\nlast\n" || code != 0 {
		t.Errorf("%d %q", code, out)
	}
	out, errOut, code := i.Try("exec", "--each", "--stop-on-error", "b", "echo 1", "(exit 3)", "echo 2")
	if out != "1\n" || code != 3 || !strings.Contains(errOut, "1 line not run") {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	r := e2e.Decode[api.Batched](t, i.Run("exec", "--json", "--each", "b", "echo a", "X=1"))
	if len(r.Results) != 2 || r.Results[0].Output != "a\n" || *r.Results[0].ExitCode != 0 || r.Results[1].Output != "" || r.Results[1].Command != r.Results[0].Command+1 {
		t.Errorf("%+v", r)
	}
}

// TestClockBounds checks that the daemon applies the timeouts: R16.
//
// FAULT: A9, B25
// FEATURES: R16
func TestClockBounds(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	for _, c := range []struct{ args, want string }{
		{"run --timeout 100ms -- sleep 600", "timeout after 100ms (--timeout): ended"},
		{"run --timeout -1s -- true", "not be negative"},
		{"run --idle-timeout -1s -- true", "not be negative"},
	} {
		_, errOut, code := i.Try(strings.Fields(c.args)...)
		if code == 0 || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: %d %s", c.args, code, errOut)
		}
	}
	for _, args := range []string{
		"run --timeout 0 --idle-timeout 0 -- true", "run --timeout 301s -- true", "exec --timeout 0 b true", "exec --wait --timeout 2h b true",
		"exec --background --timeout 0 --wait b true", "exec --background --timeout 25h --wait b true",
	} {
		i.Run(strings.Fields(args)...)
	}
	if out, code := i.Post("/sessions/b/exec", `{"line":"true","wait":true,"timeout_ms":0,"idle_timeout_ms":0}`); code != 200 || !strings.Contains(out, `"exit_code":0`) {
		t.Errorf("no limit by HTTP: %d %s", code, out)
	}
	if out, code := i.Post("/sessions/b/exec", `{"line":"true","timeout_ms":-1}`); code != 422 {
		t.Errorf("a negative limit by HTTP: %d %s", code, out)
	}
	out, errOut, code := i.Try("run", "--timeout", "3s", "--on-timeout", "background", "-n", "left", "--", "sh", "-c", "echo first; read x")
	if code != api.ExitTimeout || out != "first\n" || !strings.Contains(errOut, "still running in the session") {
		t.Errorf("left in the background: %d %q %s", code, out, errOut)
	}
	i.Run("send", "left", "-e", "x")
	i.Run("wait", "left", "--for", "exit")
}

// TestJobsOverARestart kills the daemon under running, waiting and background lines. None is lost, none runs twice, and
// waiting callers get the results.
//
// FEATURES: R18, R90
func TestJobsOverARestart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gates, log := []string{e2e.FIFO(t), e2e.FIFO(t), e2e.FIFO(t)}, filepath.Join(t.TempDir(), "log")
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	line := func(n int) string {
		return fmt.Sprintf("echo line %d >> %s; read x < %s; echo got $x; (exit %d)", n, log, gates[n], n)
	}
	type answer struct {
		out  string
		code int
	}
	fore := make(chan answer, 1)
	go func() {
		out, _, code := i.Try("exec", "b", line(1))
		fore <- answer{out, code}
	}()
	e2e.Eventually(t, "the first line runs", func() bool { return strings.Contains(i.Run("jobs", "--running"), "running") && busy(i, "b") })
	second := strings.TrimSpace(i.Run("exec", "--background", "--wait", "b", line(2)))
	command := strings.TrimSpace(i.Run("run", "--background", "--", "sh", "-c", "read x < "+gates[0]+"; echo command; exit 9"))
	for range 3 {
		i.Run("ls") // starts a daemon
		if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(e2e.Decode[[]api.Job](t, i.Run("jobs", "--running", "--json"))); n != 3 {
		t.Fatalf("%d jobs after the restart", n)
	}
	for _, gate := range gates[1:] {
		i.Run("run", "--", "sh", "-c", "echo now > "+gate)
	}
	i.Run("run", "--", "sh", "-c", "echo now > "+gates[0])
	if got := <-fore; got.code != 1 || got.out != "got now\n" {
		t.Errorf("the line that a caller waits for: %+v", got)
	}
	for id, want := range map[string]int{second: 2, command: 9} {
		if out, errOut, code := i.Try("jobs", "wait", id); code != want {
			t.Errorf("job %s: %d %s %s, want %d", id, code, out, errOut, want)
		}
	}
	if out := i.Run("run", "--", "cat", log); out != "line 1\nline 2\n" {
		t.Errorf("lines were run: %q", out)
	}
}

// busy reports whether a session's shell runs a command.
func busy(i *e2e.Instance, name string) bool {
	s := i.Info(name)
	return s.Shell != nil && s.Shell.Phase == "running"
}

// TestPool checks that warm shells are used oldest first, once, and replaced. A shell that died or that a user has used
// is not used.
//
// FEATURES: R20
func TestPool(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Env = append(i.Env, "SHELL=/bin/bash")
	warm := func() []api.Session {
		return e2e.Decode[[]api.Session](t, i.Run("ls", "--json", "--label", "longterm.pool"))
	}
	used := map[int]bool{}
	full := func() {
		e2e.Eventually(t, "the pool is full", func() bool {
			list := warm() // those that were used are in it until they have ended
			return len(list) == 5 && !slices.ContainsFunc(list, func(s api.Session) bool {
				return used[s.PID] || s.Shell == nil || s.Shell.Phase != "prompt" || s.State != "running"
			})
		})
	}
	r := e2e.Decode[api.Result](t, i.Run("run", "--warm", "--json", "-c", "LEFT=over; cd /usr; pwd"))
	if r.Output != "/usr\n" || *r.ExitCode != 0 || r.CwdAfter != "/usr" {
		t.Errorf("in a new shell: %+v", r)
	}
	used[r.PID] = true
	full()
	before := warm()
	for n, want := range before[:2] {
		r := e2e.Decode[api.Result](t, i.Run("run", "--warm", "--json", "-c", "echo $LEFT$PWD"))
		used[r.PID] = true
		if r.Output != "/\n" || r.PID != want.PID {
			t.Errorf("%d: %q in %d, the oldest is %d", n, r.Output, r.PID, want.PID)
		}
	}
	if out := i.Run("ls"); !strings.Contains(out, "no sessions") {
		t.Errorf("warm shells are listed: %s", out)
	}
	full()
	before = warm()
	i.Run("kill", before[0].ID)
	i.Run("exec", before[1].ID, "cd /usr")
	i.Run("send", before[2].ID, "-e", "sleep 1000 &")
	i.Run("wait", before[2].ID, "--for", "command")
	r = e2e.Decode[api.Result](t, i.Run("run", "--warm", "--json", "-c", "pwd"))
	if r.Output != "/\n" || r.PID != before[3].PID {
		t.Errorf("%q in %d; %d is dead, %d elsewhere, %d has a job", r.Output, r.PID, before[0].PID, before[1].PID, before[2].PID)
	}
	used[r.PID] = true
	for _, s := range before[:3] {
		used[s.PID] = true
	}
	if _, errOut, code := i.Try("run", "--warm", "--", "true"); code != api.RefusedInvalid || !strings.Contains(errOut, "is given a line") {
		t.Errorf("a command for a warm shell: %d %s", code, errOut)
	}
	if _, _, code := i.Try("run", "--warm", "-c", "(exit 9)"); code != 9 {
		t.Errorf("status %d", code)
	}
	// Those that a daemon leaves are ended by the next one.
	i.Run("daemon", "restart")
	e2e.Eventually(t, "the old warm shells have ended", func() bool { return len(warm()) == 0 })
}

// TestForeign submits lines to a program without command marks. It finds their end by evidence, and their status is
// unknown. A nested shell has a status that longterm cannot see, so exec fails.
//
// FAULT: H3
// FEATURES: R40, R41, R42, R47
func TestForeign(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	python := lookPath(t, "python3")
	i := e2e.New(t)
	i.Run("new", "-n", "py", "--", python, "-q")
	for _, c := range []struct{ line, want string }{
		{"print(1+1)", "2\n"}, {"x = 5", ""}, {"print(x)", "5\n"}, {"1/0", "ZeroDivisionError"},
	} {
		out, _, _ := i.Try("exec", "--json", "--wait", "py", c.line)
		r := e2e.Decode[api.Result](t, out)
		if r.State != "exited" || r.ExitCode != nil || r.Quality != "none" || !strings.Contains(r.Output, c.want) || c.want == "" && r.Output != "" || r.ExitUnknown != api.ExitNone {
			t.Errorf("%s: %+v", c.line, r)
		}
	}
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	i.Run("send", "b", "-e", python+" -q")
	if _, errOut, code := i.Try("exec", "b", "true"); code != api.RefusedNeedsInput && code != api.RefusedBusy || !strings.Contains(errOut, "the shell is busy") {
		t.Errorf("right after a line was typed: %d %s", code, errOut)
	}
	if out, errOut, code := i.Try("exec", "--foreign", "--wait", "b", "print(7)"); out != "7\n" || code != 0 {
		t.Errorf("line for the program in the shell: %d %q %s", code, out, errOut)
	}
	i.Run("send", "b", "-e", "exit()")
	if out := i.Run("exec", "--wait", "b", "echo back"); out != "back\n" {
		t.Errorf("the shell again: %q", out)
	}
	i.Run("send", "b", "-e", "sh")
	i.Try("exec", "--foreign", "--wait", "b", "cd /usr")
	out, _, code := i.Try("exec", "--json", "--foreign", "b", "cd bin; export A=1")
	if code != api.ExitOwnFailure {
		t.Errorf("a line in a shell in the shell: %d", code)
	}
	if r := e2e.Decode[api.Result](t, out); r.ExitUnknown != api.ExitNotReported || r.Guess == nil || r.Guess.Cwd != "/usr/bin" || *r.Guess.Env["A"] != "1" || r.Guess.Confidence != "likely" {
		t.Errorf("a guess from lines: %+v", r.Guess)
	}
	i.Run("new", "-n", "deaf", "--", "sleep", "1000")
	if _, errOut, code := i.Try("exec", "deaf", "true"); code != api.RefusedBusy || !strings.Contains(errOut, "does not wait for a line") {
		t.Errorf("a program that does not read: %d %s", code, errOut)
	}
}

// TestIncompleteLines submits lines that a shell would continue to read.
//
// FEATURES: R12
func TestIncompleteLines(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "dash", "ksh", "mksh"} {
		t.Run(shell, func(t *testing.T) {
			lookPath(t, shell)
			i := e2e.New(t)
			i.Run("new", "-n", "s", "--", shell)
			var lines []string
			if shell == "bash" || shell == "zsh" { // other shells get such a text in quotes, and report its errors
				lines = []string{"echo one\necho 'open", "cat <<X\nopen"}
			}
			for _, line := range append(lines, "echo 'open", "if true; then", "cat <<X") {
				if shell == "fish" {
					line = strings.Replace(strings.Replace(line, "; then", "", 1), "cat <<X", "begin", 1)
				}
				if out, errOut, code := i.Try("exec", "s", line); code != api.RefusedInvalid || !strings.Contains(errOut, "line incomplete") {
					t.Errorf("%s: %d %q %s", line, code, out, errOut)
				}
			}
			if out := i.Run("exec", "s", "echo lives"); out != "lives\n" {
				t.Errorf("afterwards: %q", out)
			}
		})
	}
}

// TestIncompleteLinesBehindASlowHook submits several lines to a shell that enables bracketed paste long after its
// prompt. They are pasted nevertheless: quoted as one text they would be a failing command instead of a rejected one.
//
// FEATURES: R7
func TestIncompleteLinesBehindASlowHook(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	lookPath(t, "zsh")
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "zsh")
	i.Run("exec", "s", "zle-line-init() { sleep 1.5 }; zle -N zle-line-init")
	for range 2 { // the second one right behind the prompt that the first one leaves
		if out, errOut, code := i.Try("exec", "s", "echo one\necho 'open"); code != api.RefusedInvalid || !strings.Contains(errOut, "line incomplete") {
			t.Errorf("%d %q %s", code, out, errOut)
		}
	}
}

// TestRefusedLines submits a line that the shell rejects. The result reports that, and the next line is not affected.
//
// FEATURES: R7, R12
func TestRefusedLines(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	said := map[string]string{"bash": "bash: syntax error", "zsh": "zsh: parse error", "fish": "fish: Unexpected"}
	for shell, want := range said {
		t.Run(shell, func(t *testing.T) {
			lookPath(t, shell)
			i := e2e.New(t)
			i.Run("new", "-n", "s", "--", shell)
			lines := []string{"echo a; )", "echo a\n\necho b; )"} // fish draws the latter more than once
			for _, line := range lines {
				out, _, _ := i.Try("exec", "--json", "s", line)
				r := e2e.Decode[api.Result](t, out)
				if r.ExitCode == nil || *r.ExitCode == 0 || shell+line != "fish"+lines[1] && strings.Count(r.Output, "; )") > 1 || !strings.Contains(r.Output, want) {
					t.Errorf("%q: %+v", line, r)
				}
				if out := i.Run("exec", "s", "echo fine"); out != "fine\n" {
					t.Errorf("after %q: %q", line, out)
				}
			}
		})
	}
}

// TestLinesAfterLeftovers checks that input left by a program or the user does not get into the next line.
//
// FEATURES: R6, R7
func TestLinesAfterLeftovers(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tests := []struct{ shells, line, next, want string }{
		{"bash zsh fish dash ksh mksh", `printf '\033[?2004h'`, "echo fine", "fine\n"},
		{"dash ksh mksh", `printf '\033[?2004h'`, "echo 'a\nb'", "a\nb\n"},
		{"bash zsh fish dash ksh mksh", "stty -echo", "echo fine", "fine\n"},
		{"zsh", "PS1=; PS2=", "echo 'a\nb'", "a\nb\n"},
		{"bash zsh fish dash ksh mksh", "true", "echo 'a\tb'", "a\tb\n"},
		{"bash zsh fish dash ksh mksh", "true", "\techo 'a\n\tb'", "a\n\tb\n"},
	}
	for _, shell := range []string{"bash", "zsh", "fish", "dash", "ksh", "mksh"} {
		t.Run(shell, func(t *testing.T) {
			lookPath(t, shell)
			i := e2e.New(t)
			for _, tt := range tests {
				if !slices.Contains(strings.Fields(tt.shells), shell) {
					continue
				}
				i.Run("new", "-n", "s", "--", shell)
				i.Run("exec", "s", tt.line)
				if out := i.Run("exec", "s", tt.next); out != tt.want {
					t.Errorf("after %q: %q printed %q, want %q", tt.line, tt.next, out, tt.want)
				}
				i.Run("rm", "--force", "s")
			}
		})
	}
}

// lookPath is where a program is; the test is skipped without it.
func lookPath(t *testing.T, name string) string {
	t.Helper()
	return tier.Path(t, name)
}

// TestCallerDisconnect_EndsOnlyItsJob disconnects a caller without a request. Only its job ends.
//
// FEATURES: R14, R15
func TestCallerDisconnect_EndsOnlyItsJob(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	for _, args := range [][]string{
		{"exec", "b", "echo begun; sleep 1000"},
		{"run", "-n", "r", "--", "sh", "-c", "echo begun; sleep 1000"},
	} {
		cmd := i.Command(t.Context(), args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var id string
		e2e.Eventually(t, "the command runs", func() bool {
			list := e2e.Decode[[]api.Job](t, i.Run("jobs", "--running", "--json"))
			if len(list) == 1 && list[0].State == "running" {
				id = list[0].ID
			}
			return id != ""
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		e2e.Eventually(t, "the job is done", func() bool { return jobOf(i, id).State == "done" })
		if r := jobOf(i, id).Result; r.State != "killed" || !r.Aborted {
			t.Errorf("%s: %+v", args[0], r)
		}
	}
	if out := i.Run("exec", "b", "echo lives"); out != "lives\n" {
		t.Errorf("the shell: %q", out)
	}
}

// TestWaitBrokenOff interrupts a wait, or lets it time out. The job is not affected.
//
// FEATURES: R43
func TestWaitBrokenOff(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := i.Command(ctx, "wait", "b", "--for", "text=never", "--for", "exit")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the client waits for the daemon", func() bool { return connected(cmd.Process.Pid) })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	// As a shell has it: early on the signal itself ends it.
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || st.Signal() != syscall.SIGINT && st.ExitStatus() != 128+int(syscall.SIGINT) {
		t.Errorf("interrupted: %v, %s", cmd.ProcessState, &errOut)
	}
	if _, errOut, code := i.Try("wait", "b", "--for", "text=never", "--timeout", "20ms"); code != api.ExitTimeout || !strings.Contains(errOut, "the session is still running") {
		t.Errorf("a wait that ran out: %d %s", code, errOut)
	}
	if out := i.Run("exec", "b", "echo lives"); out != "lives\n" {
		t.Errorf("afterwards: %q", out)
	}
	if help := i.Run("wait", "--help"); !strings.Contains(strings.Join(strings.Fields(help), " "), "no limit; for agents exec.timeout") {
		t.Errorf("the limit is not reported: %s", help)
	}
}

// connected reports whether a process has an open socket.
func connected(pid int) bool {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			return true
		}
	}
	return false
}

// TestMovedOverARestart restarts the daemon under a job in the background. The job stays there, with the background's
// timeouts.
//
// FEATURES: R17, R18
func TestMovedOverARestart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.Try("run", "-n", "r", "--", "sh", "-c", "echo begun; read x < "+gate+"; exit 9")
	}()
	e2e.Eventually(t, "the command runs", func() bool { return len(e2e.Decode[[]api.Job](t, i.Run("jobs", "--running", "--json"))) == 1 })
	id := e2e.Decode[[]api.Job](t, i.Run("jobs", "--running", "--json"))[0].ID
	i.Run("jobs", "background", id)
	<-done
	for range 2 {
		i.Run("ls") // starts a daemon
		if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if j := jobOf(i, id); j.State != "running" || !j.Background {
		t.Errorf("under the next daemon: %+v", j)
	}
	i.Run("run", "--", "sh", "-c", "echo now > "+gate)
	if out, errOut, code := i.Try("jobs", "wait", id); code != 9 {
		t.Errorf("it ended with %d: %s %s", code, out, errOut)
	}
}

// TestRecordsHoldNoSecrets runs a temporary command. Its output is removed with its session; the job's record contains
// short output for comparisons, and never a secret.
//
// FEATURES: R5, R127
func TestRecordsHoldNoSecrets(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Env = append(i.Env, "API_TOKEN=hunter2hunter2")
	i.Run("run", "--", "sh", "-c", "echo token $API_TOKEN")
	list := e2e.Decode[[]api.Job](t, i.Run("jobs", "--json"))
	if len(list) != 1 || !strings.HasPrefix(jobOf(i, list[0].ID).Result.Output, "token ") {
		t.Errorf("%+v", list)
	}
	files, err := filepath.Glob(filepath.Join(i.Dir, "state", "*.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || bytes.Contains(b, []byte("hunter2hunter2")) {
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
	}
	if _, errOut, code := i.Try("jobs", "read", list[0].ID); code != api.ExitNotFound || !strings.Contains(errOut, "removed with its session") {
		t.Errorf("read: %d %s", code, errOut)
	}
}

// TestSecretIsInNoFile checks that a secret typed by a response rule is in no file: neither in the job's record nor in
// the history.
//
// FEATURES: R53
func TestSecretIsInNoFile(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	i.Env = append(i.Env, "PW=hunter2hunter2") // 14 bytes; the client's, not the shell's
	out, errOut, code := i.Try("exec", "b", "--respond", "Password: =secret:env:PW", `read -s -p "Password: " x; echo; echo ${#x}`)
	if code != 0 || !strings.HasSuffix(out, "\n14\n") {
		t.Fatalf("%d %q %s", code, out, errOut)
	}
	i.Run("daemon", "restart") // everything is written
	err := filepath.WalkDir(filepath.Join(i.Dir, "state"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("it is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
