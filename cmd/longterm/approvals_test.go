//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// approvals are those that are pending.
func (i *instance) approvals() []api.Approval {
	return decode[[]api.Approval](i.t, i.run("approvals", "--json"))
}

// asksFor waits until so many approvals are pending.
func (i *instance) asksFor(n int) []api.Approval {
	i.t.Helper()
	var list []api.Approval
	eventually(i.t, fmt.Sprintf("%d approvals are pending", n), func() bool {
		list = i.approvals()
		return len(list) == n
	})
	return list
}

// A line and a command wait for a person while the daemon is killed, restarted and upgraded; the answer is given
// after its return, and what waited is run once, for the caller who has waited all the time.
//
// FEATURES: R63 R107
func TestApprovalsOverReplacedDaemons(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace func(i *instance)
	}{
		{"kill", func(i *instance) { _ = syscall.Kill(i.status().DaemonPID, syscall.SIGKILL) }},
		{"restart", func(i *instance) { i.run("daemon", "restart") }},
		{"upgrade", func(i *instance) { i.run("daemon", "upgrade") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := newInstance(t)
			ran := filepath.Join(i.dir, "ran")
			i.run("new", "-n", "s", "--", "sh")
			var callers sync.WaitGroup
			for name, args := range map[string][]string{
				"line":    {"exec", "s", "--policy", "readonly", "--timeout", "10s", "--", "echo x >>" + ran + ".line; echo done"},
				"command": {"run", "--policy", "readonly", "--env", "X=x", "--", "sh", "-c", "echo $X >>" + ran + ".command; echo done"},
			} {
				callers.Go(func() {
					out, errOut, code := i.try(args...)
					if code != 0 || strings.TrimSpace(out) != "done" || strings.Count(errOut, "waiting for approval") != 1 {
						t.Errorf("%s: exit status %d\n%s%s", name, code, out, errOut)
					}
					if b, err := os.ReadFile(ran + "." + name); err != nil || string(b) != "x\n" {
						t.Errorf("%s was run %d times: %v", name, strings.Count(string(b), "x"), err)
					}
				})
			}
			i.asksFor(2)
			for range 2 {
				c.replace(i)
				if list := i.asksFor(2); list[0].Count != 1 || list[1].Count != 1 {
					t.Errorf("%+v", list)
				}
			}
			if s := i.info("s"); len(s.Approvals) != 1 {
				t.Errorf("the session does not say that it needs an approval: %+v", s.Approvals)
			}
			i.run("approvals", "answer", "--all", "once")
			callers.Wait()
			if list := i.approvals(); len(list) != 0 {
				t.Errorf("%+v", list)
			}
		})
	}
}

// Who breaks off takes the asking back; nothing is run, and the history says so.
//
// FEATURES: R63
func TestApprovalIsGoneWithItsCall(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "s", "--", "sh")
	for n, args := range [][]string{
		{"exec", "s", "--policy", "readonly", "touch " + i.dir + "/made"},
		{"run", "--policy", "readonly", "--", "touch", i.dir + "/made"},
		{"new", "--policy", "readonly", "--", "touch", i.dir + "/made"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cmd := i.command(ctx, args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		i.asksFor(1)
		cancel()
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != api.ExitInterrupted {
			t.Errorf("%s: exit status %d", args[0], code)
		}
		i.asksFor(0)
		all := decode[[]api.Approval](t, i.run("approvals", "--all", "--json"))
		if len(all) != n+1 || all[n].State != "gone" {
			t.Errorf("%s: %+v", args[0], all)
		}
	}
	if _, err := os.Stat(i.dir + "/made"); err == nil {
		t.Error("what nobody allowed was run")
	}
}

// After a reboot the environment of a command that waited is gone: it is given back, clearly, and not started with
// another one.
//
// FEATURES: R63
func TestCommandWithoutItsEnvironment(t *testing.T) {
	i := newInstance(t)
	id := strings.TrimSpace(i.run("run", "--background", "--policy", "readonly", "--", "touch", i.dir+"/made"))
	i.asksFor(1)
	mark := filepath.Join(i.dir, "state", "wanted", id)
	dir, err := os.ReadFile(mark)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("nothing outlives a daemon in memory here")
	}
	if err != nil || len(dir) == 0 {
		t.Fatal(err)
	}
	if err := os.RemoveAll(string(dir)); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(i.status().DaemonPID, syscall.SIGKILL)
	eventually(t, "the job is given back", func() bool {
		j := decode[api.Job](t, i.run("jobs", "show", "--json", id))
		return j.State == "done" && j.Result.State == "lost" && strings.Contains(j.Result.Error, "give it again")
	})
	i.asksFor(0)
	if _, err := os.Lstat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its mark stays: %v", err)
	}
	if _, err := os.Stat(i.dir + "/made"); err == nil {
		t.Error("it was started")
	}
}

// A hundred lines that wait are answered by their group, and each is run once.
//
// FEATURES: R63
func TestHundredLinesWait(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "s", "--", "sh")
	for n := range 100 {
		body, err := json.Marshal(api.Exec{
			Line: fmt.Sprintf("echo x >>%s/%d", i.dir, n), Call: api.Call{Background: true}, Asking: api.Asking{Policy: "readonly"},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, code := post(t, i, "/sessions/s/exec", string(body))
		if code != http.StatusOK {
			t.Fatalf("%d: %s", code, out)
		}
		r := decode[api.Result](t, out)
		if r.State != "needs_approval" || !r.NeedsApproval || r.Approval != fmt.Sprintf("A%d", n+1) || r.Policy == nil {
			t.Fatalf("%+v", r)
		}
	}
	list := i.asksFor(100)
	if out := i.run("approvals"); !strings.Contains(out, "100 approvals in 1 group") {
		t.Errorf("%s", out)
	}
	i.run("approvals", "answer", "--group", list[0].Group, "once")
	for n := range 100 {
		var b []byte
		eventually(t, fmt.Sprintf("line %d is run", n), func() bool {
			b, _ = os.ReadFile(fmt.Sprintf("%s/%d", i.dir, n))
			return len(b) > 0
		})
		if string(b) != "x\n" {
			t.Errorf("%d was run %d times", n, strings.Count(string(b), "x"))
		}
	}
}
