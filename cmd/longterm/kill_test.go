//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/processes"
	"github.com/longterm-dev/longterm/session/api"
)

// handler is a program that heeds SIGTERM only, and takes a while to.
const handler = `trap '' INT HUP; trap 'sleep 0.2; echo handled > %[1]s; exit 5' TERM; echo ready; while :; do sleep 0.01; done`

// Each rung of the kill ladder works alone and has the whole grace: a program that handles
// SIGTERM gets to, however it is ended.
//
// FAULT: B7
// FEATURES: R15, R16
func TestTermHandlerRuns(t *testing.T) {
	i := newInstance(t)
	i.run("config", "set", "exec.grace", "5s")
	for _, c := range []struct {
		name string
		end  func(program []string)
	}{
		{"kill", func(program []string) {
			i.run(append([]string{"new", "-n", "k", "--"}, program...)...)
			i.run("wait", "k", "--for", "text=ready", "--since", "0")
			i.run("kill", "k")
			if info := i.info("k"); info.ExitCode == nil || *info.ExitCode != 5 {
				t.Errorf("kill: it ended with %v %q", info.ExitCode, info.Signal)
			}
		}},
		{"timeout", func(program []string) { i.try(append([]string{"run", "--timeout", "1s", "--"}, program...)...) }},
	} {
		done := filepath.Join(i.dir, c.name)
		program := []string{"sh", "-c", fmt.Sprintf(handler, done)}
		if c.name == "timeout" { // INT is what a first rung is for, and no caller waits for it here
			i.run("config", "set", "exec.grace", "1s")
		}
		c.end(program)
		if b, err := os.ReadFile(done); err != nil || string(b) != "handled\n" {
			t.Errorf("%s: the handler did not run: %q, %v", c.name, b, err)
		}
	}
}

// A program that heeds nothing is killed after the grace of three rungs, not before; a shell
// at its prompt needs none of it.
//
// FAULT: B7
// FEATURES: R15
func TestGraceOfTheKillLadder(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "deaf", "--", "sh", "-c", `trap : INT TERM HUP; echo ready; while :; do sleep 0.01; done`)
	i.run("wait", "deaf", "--for", "text=ready", "--since", "0")
	began := time.Now()
	i.run("kill", "deaf", "--grace", "300ms")
	if took := time.Since(began); took < 900*time.Millisecond || took > 15*time.Second {
		t.Errorf("killed after %v, of three times 300ms", took)
	}
	if info := i.info("deaf"); info.Signal != "SIGKILL" {
		t.Errorf("it ended with %v %q", info.ExitCode, info.Signal)
	}
}

// longRunning begins a process in a terminal session of its own.
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

// What a command leaves behind is in its result, with the ended session, and in doctor's; it
// lives on until its session is killed or removed.
//
// FAULT: B9
// FEATURES: R13
func TestLeftBehind(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	for _, cgroups := range []string{"", "off"} {
		t.Run("cgroups "+cgroups, func(t *testing.T) {
			i := newInstance(t)
			i.env = append(i.env, "LONGTERM_CGROUP="+cgroups)
			file := filepath.Join(i.dir, "pid")
			for _, verb := range []string{"kill", "rm"} {
				_ = os.Remove(file)
				r := decode[api.Result](t, i.run("run", "--json", "--", "sh", "-c", fmt.Sprintf(longRunning, file)))
				pid := pidIn(t, file)
				if fmt.Sprint(r.Background) != fmt.Sprint([]int{pid}) {
					t.Errorf("background_pids %v, it is %d", r.Background, pid)
				}
				if info := i.info(r.Session); fmt.Sprint(info.Left) != fmt.Sprint([]int{pid}) {
					t.Errorf("left_pids %v, it is %d", info.Left, pid)
				}
				if list := i.run("ls"); !strings.Contains(list, "left 1 running") {
					t.Errorf("ls:\n%s", list)
				}
				if out, _, _ := i.try("doctor"); !strings.Contains(out, fmt.Sprint(pid)) {
					t.Errorf("doctor:\n%s", out)
				}
				if !processes.Alive(pid) {
					t.Error("it was ended by nobody's wish")
				}
				i.run(verb, r.Session)
				eventually(t, "its end by "+verb, func() bool { return !processes.Alive(pid) })
				i.try("rm", r.Session)
			}
			_ = os.Remove(file)
			i.run("new", "-n", "shell", "--", "sh")
			x := decode[api.Result](t, i.run("exec", "--json", "shell", fmt.Sprintf(longRunning, file)))
			if pid := pidIn(t, file); !strings.Contains(fmt.Sprint(x.Background), fmt.Sprint(pid)) {
				t.Errorf("background_pids of a line: %v, it is %d", x.Background, pid)
			}
		})
	}
}

// Many sessions end about as fast as one: the processes are looked at for all at once.
//
// FAULT: A26
func TestManySessionsAreKilledAtOnce(t *testing.T) {
	const sessions = 40
	i := newInstance(t)
	i.env = append(i.env, "LONGTERM_CGROUP=off")
	for n := range sessions {
		i.run("new", "-n", fmt.Sprint("s", n), "--", "sh", "-c", `trap "" INT; sleep 600; sleep 600`)
	}
	began := time.Now()
	i.run("daemon", "stop", "--kill-sessions")
	t.Logf("%d sessions ended in %v", sessions, time.Since(began))
	if left := processesOf(i.dir); len(left) > 0 {
		t.Errorf("processes %v live", left)
	}
}
