//go:build unix

// Package e2e runs the real program for tests: it builds longterm (with the race detector if the tests have it), gives
// each test a separate instance, and ends what the test started.
//
// The tests are in packages by subject, each of which stays far below the ten minutes that `go test` allows: crash
// (daemons, keepers and machines that die), terminals (attach, the viewer, real terminals), commands (lines, jobs,
// results, events, configuration) and agents (MCP, approvals, executions). The scripts in cmd/longterm/testdata run
// with the tests of cmd/longterm.
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

// isProgram reports whether this test binary also runs as the program.
var isProgram bool

// Main runs the tests of package main. If the test binary is called by a name in programs, such as longterm, it runs
// that program instead. Other packages use isolate.Run, and Program builds the program for them.
func Main(m *testing.M, programs map[string]func()) {
	isProgram = true
	testscript.Main(isolate.Main(m), programs)
}

// Program returns the path of the program under test.
func Program(t testing.TB) string {
	t.Helper()
	if isProgram {
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

// Instance is a separate longterm for one test: its state directory, and the environment of its commands. Everything it
// starts ends with the test.
type Instance struct {
	T   *testing.T
	Dir string
	Exe string
	Env []string
	// Patience is how long a verb that must succeed is repeated on busy machines; 0 never repeats it. Leave it 0 for
	// verbs that must not run twice.
	Patience time.Duration
}

// New returns an instance. It starts nothing.
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

// Tail returns the last n bytes of a text.
func Tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// End ends the sessions, the daemon and the keepers. If the request fails, it kills them by their pids.
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

// Command returns a verb as a process that is not started yet.
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

// Decode reads JSON into a value of a type.
func Decode[T any](t *testing.T, s string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// Status returns the daemon's status.
func (i *Instance) Status() api.Status {
	i.T.Helper()
	return Decode[api.Status](i.T, i.Run("daemon", "status", "--json"))
}

// Info returns the facts about a session.
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

// PauseFor sleeps. It is for tests whose subject is time, such as kills at intervals.
func PauseFor(d time.Duration) { <-time.After(d) }

// FIFO creates a named pipe: a program that reads it waits until the test writes.
func FIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
