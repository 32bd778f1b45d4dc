//go:build linux

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/processes"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// handler is a program that heeds SIGTERM only, and takes a while to.
const handler = `trap '' INT HUP; trap 'sleep 0.2; echo handled > %[1]s; exit 5' TERM; echo ready; while :; do sleep 0.01; done`

// TestTermHandlerRuns ends sessions with each step of the kill ladder. Each has its full grace time, so a handler of
// SIGTERM runs.
//
// FAULT: B7
// FEATURES: R15, R16
func TestTermHandlerRuns(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "exec.grace", "5s")
	for _, c := range []struct {
		name string
		end  func(program []string)
	}{
		{"kill", func(program []string) {
			i.Run(append([]string{"new", "-n", "k", "--"}, program...)...)
			i.Run("wait", "k", "--for", "text=ready", "--since", "0")
			i.Run("kill", "k")
			if info := i.Info("k"); info.ExitCode == nil || *info.ExitCode != 5 {
				t.Errorf("kill: it ended with %v %q", info.ExitCode, info.Signal)
			}
		}},
		{"timeout", func(program []string) { i.Try(append([]string{"run", "--timeout", "1s", "--"}, program...)...) }},
	} {
		done := filepath.Join(i.Dir, c.name)
		program := []string{"sh", "-c", fmt.Sprintf(handler, done)}
		if c.name == "timeout" { // INT is the first step of the ladder, and no caller waits for it here
			i.Run("config", "set", "exec.grace", "1s")
		}
		c.end(program)
		if b, err := os.ReadFile(done); err != nil || string(b) != "handled\n" {
			t.Errorf("%s: the handler did not run: %q, %v", c.name, b, err)
		}
	}
}

// TestGraceOfTheKillLadder ends a program that ignores signals. It is killed after the grace of three steps, not
// before; a shell at its prompt ends at once.
//
// FAULT: B7
// FEATURES: R15
func TestGraceOfTheKillLadder(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "deaf", "--", "sh", "-c", `trap : INT TERM HUP; echo ready; while :; do sleep 0.01; done`)
	i.Run("wait", "deaf", "--for", "text=ready", "--since", "0")
	began := time.Now()
	i.Run("kill", "deaf", "--grace", "300ms")
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("killed after %v, of three times 300ms", took)
	}
	if info := i.Info("deaf"); info.Signal != "SIGKILL" {
		t.Errorf("it ended with %v %q", info.ExitCode, info.Signal)
	}
}

// TestKill_GivesTimeToSave checks that the default grace gives a program time to save its data, and that kill takes no
// longer.
//
// FAULT: G11
// FEATURES: R15
func TestKill_GivesTimeToSave(t *testing.T) {
	tier.Full(t)
	i := e2e.New(t)
	for _, name := range []string{"shell", "own"} {
		saved := filepath.Join(i.Dir, name)
		program := fmt.Sprintf(`trap 'sleep 1.5; echo saved > %s; exit' TERM; trap "" INT HUP; echo ready; while :; do sleep 0.01; done`, saved)
		if name == "own" {
			i.Run("new", "-n", name, "--", "sh", "-c", program)
		} else { // it ignores TERM, and ends by HUP once it is the only process
			i.Run("new", "-n", name, "--", "bash", "--norc")
			i.Run("wait", name, "--for", "prompt", "--since", "0")
			i.Run("exec", name, "-b", "sh -c '"+strings.ReplaceAll(program, "'", `'\''`)+"'")
		}
		i.Run("wait", name, "--for", "text=ready", "--since", "0")
		began := time.Now()
		i.Run("kill", name)
		if b, err := os.ReadFile(saved); err != nil || string(b) != "saved\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if took := time.Since(began); took < 1500*time.Millisecond || took > 9*time.Second {
			t.Errorf("%s: killed after %v", name, took)
		}
	}
}

// longRunning starts a process in a separate terminal session.
const longRunning = `setsid sh -c 'echo $$ > %s; exec sleep 600' & while ! [ -s %[1]s ]; do sleep 0.01; done`

func pidIn(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	pid, perr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || perr != nil {
		t.Fatal(err, perr)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// TestLeftoverProcesses_ReportedAndKilled leaves processes behind. They are listed in the result, with the ended
// session and by doctor, and run until their session is killed or removed.
//
// FAULT: B9
// FEATURES: R13
func TestLeftoverProcesses_ReportedAndKilled(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "setsid")
	for _, cgroups := range []string{"", "off"} {
		t.Run("cgroups "+cgroups, func(t *testing.T) {
			i := e2e.New(t)
			i.Env = append(i.Env, "LONGTERM_CGROUP="+cgroups)
			file := filepath.Join(i.Dir, "pid")
			for _, verb := range []string{"kill", "rm"} {
				_ = os.Remove(file)
				r := e2e.Decode[api.Result](t, i.Run("run", "--json", "--", "sh", "-c", fmt.Sprintf(longRunning, file)))
				pid := pidIn(t, file)
				if fmt.Sprint(r.Background) != fmt.Sprint([]int{pid}) {
					t.Errorf("background_pids %v, it is %d", r.Background, pid)
				}
				if info := i.Info(r.Session); fmt.Sprint(info.LeftoverPIDs) != fmt.Sprint([]int{pid}) {
					t.Errorf("left_pids %v, it is %d", info.LeftoverPIDs, pid)
				}
				if list := i.Run("ls"); !strings.Contains(list, "left 1 running") {
					t.Errorf("ls:\n%s", list)
				}
				if out, _, _ := i.Try("doctor"); !strings.Contains(out, fmt.Sprint(pid)) {
					t.Errorf("doctor:\n%s", out)
				}
				if !processes.Alive(pid) {
					t.Error("it was ended without a request")
				}
				i.Run(verb, r.Session)
				e2e.Eventually(t, "its end by "+verb, func() bool { return !processes.Alive(pid) })
				i.Try("rm", r.Session)
			}
			_ = os.Remove(file)
			i.Run("new", "-n", "shell", "--", "sh")
			x := e2e.Decode[api.Result](t, i.Run("exec", "--json", "shell", fmt.Sprintf(longRunning, file)))
			if pid := pidIn(t, file); !strings.Contains(fmt.Sprint(x.Background), fmt.Sprint(pid)) {
				t.Errorf("background_pids of a line: %v, it is %d", x.Background, pid)
			}
		})
	}
}

// TestManySessionsAreKilledAtOnce ends many sessions about as fast as one, because their processes are scanned once.
//
// FAULT: A26
func TestManySessionsAreKilledAtOnce(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	const sessions = 40
	i := e2e.New(t)
	i.Env = append(i.Env, "LONGTERM_CGROUP=off")
	for n := range sessions {
		i.Run("new", "-n", fmt.Sprint("s", n), "--", "sh", "-c", `trap "" INT; sleep 600; sleep 600`)
	}
	began := time.Now()
	i.Run("daemon", "stop", "--kill-sessions")
	t.Logf("%d sessions ended in %v", sessions, time.Since(began))
	if left := e2e.Processes(i.Dir); len(left) > 0 {
		t.Errorf("processes %v live", left)
	}
}
