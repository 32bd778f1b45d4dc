//go:build unix

package main

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
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

// The test binary is also the program: run under the name longterm it is main, so that
// keepers and daemons started by tests are this very build. They end with the tests, however
// these end.
func TestMain(m *testing.M) {
	testscript.Main(isolate.Main(m), map[string]func(){"longterm": main})
}

// instance is a longterm of a test's own. Everything it started is ended with the test.
type instance struct {
	t   *testing.T
	dir string
	exe string
	env []string
}

func newInstance(t *testing.T) *instance {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "lt") // short: t.TempDir names sessions' sockets at length
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{t: t, dir: dir, exe: exe}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "LONGTERM_") && !strings.HasPrefix(kv, "SHELL=") && !strings.HasPrefix(kv, "TMUX") {
			i.env = append(i.env, kv)
		}
	}
	i.env = append(i.env, "LONGTERM_DIR="+dir, "SHELL=/bin/sh", "PS1=$ ")
	t.Cleanup(func() {
		if t.Failed() {
			for _, log := range []string{"daemon.log", "keeper.log"} {
				if b, err := os.ReadFile(filepath.Join(dir, "state", log)); err == nil {
					t.Logf("%s:\n%s", log, tail(b, 4000))
				}
			}
		}
		endInstance(i)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return i
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// endInstance ends sessions, daemon and keepers; by their pids if asking fails.
func endInstance(i *instance) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := i.command(ctx, "daemon", "stop", "--kill-sessions")
	if out, err := cmd.CombinedOutput(); err != nil {
		i.t.Logf("ending the instance: %v: %s", err, out)
		for _, pid := range processesOf(i.dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// processesOf finds the processes whose environment names the instance's directory.
func processesOf(dir string) []int {
	var pids []int
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range envs {
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte("LONGTERM_DIR="+dir+"\x00")) {
			pid := 0
			for _, c := range filepath.Base(filepath.Dir(path)) {
				pid = pid*10 + int(c-'0')
			}
			if pid != os.Getpid() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func (i *instance) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, i.exe, args...)
	cmd.Args[0] = "longterm"
	cmd.Env = i.env
	cmd.Dir = "/"
	return cmd
}

// try runs a verb and returns its output, error output and exit status.
func (i *instance) try(args ...string) (stdout, stderr string, code int) {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := i.command(ctx, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		i.t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// run runs a verb that has to succeed.
func (i *instance) run(args ...string) string {
	i.t.Helper()
	out, errOut, code := i.try(args...)
	if code != 0 {
		i.t.Fatalf("longterm %s: exit status %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

func decode[T any](t *testing.T, s string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

func (i *instance) status() api.Status {
	i.t.Helper()
	return decode[api.Status](i.t, i.run("daemon", "status", "--json"))
}

func (i *instance) info(ref string) api.Session {
	i.t.Helper()
	return decode[api.Session](i.t, i.run("info", ref, "--json"))
}

// eventually polls until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
		wait := time.NewTimer(2 * time.Millisecond)
		<-wait.C
	}
}
