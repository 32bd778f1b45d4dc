//go:build unix

// Package e2e is longterm as a user has it, for tests: the program is built (with the race detector where the tests
// are), each test has an instance of its own, and what it started ends with it.
//
// The tests stand in packages by subject, each of which stays far below the ten minutes that `go test` gives one:
// crash (daemons, keepers and machines that go away), terminals (attach, the viewer, real terminals), commands (lines,
// jobs, results, events, configuration) and agents (MCP, approvals, executions). The scripts in cmd/longterm/testdata
// run with the tests of cmd/longterm.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
	"github.com/longterm-dev/longterm/session/sys"
)

// own says that this test binary is the program.
var own bool

// Main runs the tests of package main: started under the name of one of programs, such as longterm, the test binary is that
// program. Other packages use isolate.Run, and the program is built for them.
func Main(m *testing.M, programs map[string]func()) {
	own = true
	testscript.Main(isolate.Main(m), programs)
}

// Program is the path of the program under test.
func Program(t testing.TB) string {
	t.Helper()
	if own {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return exe
	}
	if RaceEnabled {
		return Build(t, "-race")
	}
	return Build(t)
}

// Build builds the program with flags of go build, once for all tests of a package.
func Build(t testing.TB, flags ...string) string {
	t.Helper()
	return sessiontest.Build(t, "github.com/longterm-dev/longterm/cmd/longterm", flags...)
}

// Instance is a longterm of a test's own: its directory, and the environment that its commands get. Everything it
// started is ended with the test.
type Instance struct {
	T   *testing.T
	Dir string
	Exe string
	Env []string
	// Patience, if there is any, is for machines that others have: a verb that has to succeed may take that long, and
	// is asked again while it lasts. Verbs that must not be asked twice want none.
	Patience time.Duration
}

// New makes an instance. Nothing is started yet.
func New(t *testing.T) *Instance {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt") // short: t.TempDir names sessions' sockets at length
	if err != nil {
		t.Fatal(err)
	}
	i := &Instance{T: t, Dir: dir, Exe: Program(t)}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "LONGTERM_") && !strings.HasPrefix(kv, "SHELL=") && !strings.HasPrefix(kv, "TMUX") {
			i.Env = append(i.Env, kv)
		}
	}
	i.Env = append(i.Env, "LONGTERM_DIR="+dir, "SHELL=/bin/sh", "PS1=$ ")
	t.Cleanup(func() {
		if t.Failed() {
			for _, log := range []string{"daemon.log", "keeper.log"} {
				if b, err := os.ReadFile(filepath.Join(dir, "state", log)); err == nil {
					t.Logf("%s:\n%s", log, Tail(b, 4000))
				}
			}
		}
		i.End()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return i
}

// Tail is the end of a text, n bytes of it.
func Tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// End ends sessions, daemon and keepers; by their pids if asking fails.
func (i *Instance) End() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := i.Command(ctx, "daemon", "stop", "--kill-sessions")
	if out, err := cmd.CombinedOutput(); err != nil {
		i.T.Logf("ending the instance: %v: %s", err, out)
		for _, pid := range Processes(i.Dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Processes finds the processes whose environment names an instance's directory.
func Processes(dir string) (pids []int) {
	all, _ := sys.PIDs()
	for _, pid := range all {
		b, err := sys.ReadEnviron(pid)
		if err == nil && bytes.Contains(b, []byte("LONGTERM_DIR="+dir+"\x00")) && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Command is a verb as a process that is not started yet.
func (i *Instance) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, i.Exe, args...)
	cmd.Args[0] = "longterm"
	cmd.Env = i.Env
	cmd.Dir = "/"
	return cmd
}

// Try runs a verb and returns its output, error output and exit status.
func (i *Instance) Try(args ...string) (stdout, stderr string, code int) {
	i.T.Helper()
	ctx, cancel := context.WithTimeout(i.T.Context(), max(i.Patience, 2*time.Minute))
	defer cancel()
	cmd := i.Command(ctx, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		i.T.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// Run runs a verb that has to succeed, and returns its output.
func (i *Instance) Run(args ...string) string {
	i.T.Helper()
	until := time.Now().Add(i.Patience)
	out, errOut, code := i.Try(args...)
	for code != 0 && time.Now().Before(until) {
		i.T.Logf("longterm %s: exit status %d, asked again\n%s", strings.Join(args, " "), code, errOut)
		PauseFor(time.Second)
		out, errOut, code = i.Try(args...)
	}
	if code != 0 {
		i.T.Fatalf("longterm %s: exit status %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// Decode reads JSON that has to be of a type.
func Decode[T any](t *testing.T, s string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// Status is what the daemon says of itself.
func (i *Instance) Status() api.Status {
	i.T.Helper()
	return Decode[api.Status](i.T, i.Run("daemon", "status", "--json"))
}

// Info is what there is to know of a session.
func (i *Instance) Info(ref string) api.Session {
	i.T.Helper()
	return Decode[api.Session](i.T, i.Run("info", ref, "--json"))
}

// Eventually polls until f holds.
func Eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute) // the daemon itself waits a minute for some callers to return
	for !f() {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
		PauseFor(2 * time.Millisecond)
	}
}

// PauseFor lets time go by where that is what is tested: kills that come at intervals.
func PauseFor(d time.Duration) { <-time.After(d) }

// FIFO makes a named pipe: what reads it waits for the test.
func FIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
