//go:build unix

package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// approvals are those that are pending.
func approvals(i *e2e.Instance) []api.Approval {
	return e2e.Decode[[]api.Approval](i.T, i.Run("approvals", "--json"))
}

// asksFor waits until so many approvals are pending.
func asksFor(i *e2e.Instance, n int) []api.Approval {
	i.T.Helper()
	var list []api.Approval
	e2e.Eventually(i.T, fmt.Sprintf("%d approvals are pending", n), func() bool {
		list = approvals(i)
		return len(list) == n
	})
	return list
}

// TestApprovalsOverReplacedDaemons answers approvals after the daemon was killed, restarted and upgraded. The pending
// line and command run once, and their callers get the results.
//
// FEATURES: R63 R107
func TestApprovalsOverReplacedDaemons(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, c := range []struct {
		name    string
		replace func(i *e2e.Instance)
	}{
		{"kill", func(i *e2e.Instance) { _ = syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL) }},
		{"restart", func(i *e2e.Instance) { i.Run("daemon", "restart") }},
		{"upgrade", func(i *e2e.Instance) { i.Run("daemon", "upgrade") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := e2e.New(t)
			ran := filepath.Join(i.Dir, "ran")
			i.Run("new", "-n", "s", "--", "sh")
			var callers sync.WaitGroup
			for name, args := range map[string][]string{
				"line":    {"exec", "s", "--policy", "readonly", "--timeout", "10s", "--", "echo x >>" + ran + ".line; echo done"},
				"command": {"run", "--policy", "readonly", "--env", "X=x", "--", "sh", "-c", "echo $X >>" + ran + ".command; echo done"},
			} {
				callers.Go(func() {
					out, errOut, code := i.Try(args...)
					if code != 0 || strings.TrimSpace(out) != "done" || strings.Count(errOut, "waiting for approval") != 1 {
						t.Errorf("%s: exit status %d\n%s%s", name, code, out, errOut)
					}
					if b, err := os.ReadFile(ran + "." + name); err != nil || string(b) != "x\n" {
						t.Errorf("%s was run %d times: %v", name, strings.Count(string(b), "x"), err)
					}
				})
			}
			asksFor(i, 2)
			for range 2 {
				c.replace(i)
				if list := asksFor(i, 2); list[0].Count != 1 || list[1].Count != 1 {
					t.Errorf("%+v", list)
				}
			}
			if s := i.Info("s"); len(s.Approvals) != 1 {
				t.Errorf("the session does not show that it needs an approval: %+v", s.Approvals)
			}
			i.Run("approvals", "answer", "--all", "once")
			callers.Wait()
			if list := approvals(i); len(list) != 0 {
				t.Errorf("%+v", list)
			}
		})
	}
}

// TestApproval_Withdrawn_WhenCallerBreaksOff interrupts a caller with Ctrl-C or Ctrl-\ while its approval is pending.
// The request is withdrawn, nothing runs, and caller and history report that.
//
// FEATURES: R63
func TestApproval_Withdrawn_WhenCallerBreaksOff(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh")
	gone := 0
	for _, by := range []os.Signal{os.Interrupt, syscall.SIGQUIT} {
		for _, args := range [][]string{
			{"exec", "s", "--policy", "readonly", "touch " + i.Dir + "/made"},
			{"run", "--policy", "readonly", "--", "touch", i.Dir + "/made"},
			{"new", "--policy", "readonly", "--", "touch", i.Dir + "/made"},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			cmd := i.Command(ctx, args...)
			var said bytes.Buffer
			cmd.Stderr = &said
			cmd.Cancel = func() error { return cmd.Process.Signal(by) }
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			asksFor(i, 1)
			cancel()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != api.ExitInterrupted || strings.Contains(said.String(), "goroutine") {
				t.Errorf("%s, %v: exit status %d\n%s", args[0], by, code, said.String())
			}
			if args[0] == "exec" && !strings.Contains(said.String(), "interrupted; line canceled before its start") {
				t.Errorf("%v: %s", by, said.String())
			}
			asksFor(i, 0)
			gone++
			all := e2e.Decode[[]api.Approval](t, i.Run("approvals", "--all", "--json"))
			if len(all) != gone || all[gone-1].State != "gone" {
				t.Errorf("%s: %+v", args[0], all)
			}
		}
	}
	for _, job := range e2e.Decode[[]api.Job](t, i.Run("jobs", "--json")) {
		var end api.Job
		e2e.Eventually(t, "the job has ended", func() bool { // right after its approval has closed
			end = e2e.Decode[api.Job](t, i.Run("jobs", "show", job.ID, "--json"))
			return end.State == "done"
		})
		if end.Result == nil || end.Result.State != "killed" {
			t.Errorf("%+v %+v", end, end.Result)
		}
	}
	if _, err := os.Stat(i.Dir + "/made"); err == nil {
		t.Error("a command was run without an approval")
	}
}

// TestJobOfACallerThatDiedHasEnded kills a caller. Its job ends together with its approval request.
//
// FEATURES: R63
func TestJobOfACallerThatDiedHasEnded(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh")
	cmd := i.Command(t.Context(), "exec", "s", "--policy", "readonly", "touch "+i.Dir+"/made")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asksFor(i, 1)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	asksFor(i, 0)
	var jobs []api.Job
	e2e.Eventually(t, "the job has ended", func() bool {
		jobs = e2e.Decode[[]api.Job](t, i.Run("jobs", "--json"))
		return len(jobs) == 1 && jobs[0].State == "done"
	})
	if r := jobs[0].Result; r.State != "killed" || !strings.Contains(r.Message, "Taken back") {
		t.Errorf("%+v", r)
	}
}

// TestLinesApprovedTogether_RunWithoutFurtherApproval answers several pending lines at once. Each runs, and their
// executions need no further approval.
//
// FEATURES: R63 R107
func TestLinesApprovedTogether_RunWithoutFurtherApproval(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "policy.agents", "build")
	i.Run("new", "-n", "s", "--agent", "bob", "--", "bash", "--norc")
	var jobs []string
	for n := range 3 {
		file := fmt.Sprintf("%s/w%d", i.Dir, n)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, strings.TrimSpace(i.Run("exec", "s", "-b", "--agent", "bob", "rm -f "+file)))
	}
	asksFor(i, 3)
	i.Run("approvals", "answer", "--all", "once")
	for n, job := range jobs {
		e2e.Eventually(t, "the line has ended", func() bool {
			if list := approvals(i); len(list) > 0 {
				t.Fatalf("it needs approval again: %+v", list)
			}
			return e2e.Decode[api.Job](t, i.Run("jobs", "show", job, "--json")).State == "done"
		})
		if _, err := os.Stat(fmt.Sprintf("%s/w%d", i.Dir, n)); err == nil {
			t.Errorf("line %d has not run", n)
		}
	}
	if all := e2e.Decode[[]api.Approval](t, i.Run("approvals", "--all", "--json")); len(all) != 3 {
		t.Errorf("%+v", all)
	}
}

// TestRulesChangeWhileLinesWait changes the rules while lines are pending. Lines that the new rules deny are rejected,
// and lines that they allow run.
//
// FEATURES: R61 R63
func TestRulesChangeWhileLinesWait(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	rules := strings.TrimSpace(i.Run("policy", "path"))
	write := func(text string) {
		if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`ask = ["mkdir", "touch"]`)
	i.Run("new", "-n", "s", "--", "bash", "--norc")
	e2e.Eventually(t, "the rules are in effect", func() bool {
		return e2e.Decode[api.Result](t, i.Run("exec", "s", "-b", "--json", "mkdir "+i.Dir+"/first")).State == "needs_approval"
	})
	i.Run("approvals", "answer", "--all", "reject")
	var asking sync.WaitGroup
	for program, want := range map[string]struct {
		code int
		says string
	}{"mkdir": {api.RefusedDenied, "rules changed while approval A"}, "touch": {0, "waiting for approval A"}} {
		asking.Go(func() {
			_, said, code := i.Try("exec", "s", program+" "+i.Dir+"/made-by-"+program)
			if code != want.code || !strings.Contains(said, want.says) {
				t.Errorf("%s: exit status %d\n%s", program, code, said)
			}
			if _, err := os.Stat(i.Dir + "/made-by-" + program); (err == nil) != (code == 0) {
				t.Errorf("%s: %v", program, err)
			}
		})
	}
	asksFor(i, 2)
	write("deny = [\"mkdir\"]\nallow = [\"touch\"]")
	asking.Wait()
	asksFor(i, 0)
}

// TestApprovalsWatchOverReplacedDaemons kills and replaces daemons under `approvals watch`, on a terminal and
// elsewhere. The list continues.
//
// FEATURES: R63
func TestApprovalsWatchOverReplacedDaemons(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh")
	i.Run("new", "-n", "list", "--", i.Exe, "approvals", "watch")
	lines := filepath.Join(i.Dir, "lines")
	i.Run("new", "-n", "lines", "--", "sh", "-c", "exec "+i.Exe+" approvals watch >"+lines)
	for n, replace := range []func(){
		func() {},
		func() { _ = syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL) },
		func() { i.Run("daemon", "restart") },
	} {
		replace()
		i.Run("exec", "s", "-b", "--policy", "readonly", fmt.Sprintf("touch %s/%d", i.Dir, n))
		id := fmt.Sprintf("A%d ", n+1)
		e2e.Eventually(t, id+"is shown", func() bool {
			b, _ := os.ReadFile(lines)
			return strings.Contains(i.Run("screen", "list"), id) && strings.Count(string(b), id) == 1
		})
	}
	for _, s := range []string{"list", "lines"} {
		if st := i.Info(s).State; st != "running" {
			t.Errorf("%s is %s", s, st)
		}
	}
}

// TestCommandWithoutItsEnvironment reboots while a command is pending. Its environment is lost, so the request fails
// with an explanation instead of starting with another environment.
//
// FEATURES: R63
func TestCommandWithoutItsEnvironment(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	const id = "one-that-is-asked-about"
	told := make(chan string, 1)
	go func() {
		_, errOut, code := i.Try("run", "--id", id, "--policy", "readonly", "--", "touch", i.Dir+"/made")
		told <- fmt.Sprint(code, " ", errOut)
	}()
	asksFor(i, 1)
	mark := filepath.Join(i.Dir, "state", "wanted", id)
	dir, err := os.ReadFile(mark)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("memory does not outlive a daemon on this system")
	}
	if err != nil || len(dir) == 0 {
		t.Fatal(err)
	}
	if err := os.RemoveAll(string(dir)); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL)
	e2e.Eventually(t, "the daemon has returned the job", func() bool {
		j := e2e.Decode[api.Job](t, i.Run("jobs", "show", "--json", id))
		return j.State == "done" && j.Result.State == "lost" && strings.Contains(j.Result.Error, "give it again")
	})
	asksFor(i, 0)
	if _, err := os.Lstat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its mark stays: %v", err)
	}
	if _, err := os.Stat(i.Dir + "/made"); err == nil {
		t.Error("it was started")
	}
	if said := <-told; strings.HasPrefix(said, "0 ") || !strings.Contains(said, "give it again") || strings.Contains(said, "session's name") {
		t.Errorf("the waiting caller got %q", said)
	}
}

// TestManyAskingsOverReplacedDaemons creates hundreds of approval requests. They survive kill, restart and upgrade
// unchanged, are listed and answered at once, and only allowed ones run, once each.
//
// FEATURES: R63
func TestManyAskingsOverReplacedDaemons(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	const all, allowed = 512, 10
	i := e2e.New(t)
	for n := range 4 {
		i.Run("new", "-n", fmt.Sprint("s", n), "--", "sh")
	}
	c := i.HTTP()
	for n := range all {
		line := fmt.Sprintf("echo x >>%s/%d", i.Dir, n)
		if n < allowed {
			line = fmt.Sprintf("touch %s/%d; echo x >>%[1]s/%d", i.Dir, n)
		}
		body, err := json.Marshal(api.Exec{Line: line, Call: api.Call{Background: true}, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"}})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Post(e2e.URL(fmt.Sprintf("/sessions/s%d/exec", n%4)), "application/json", bytes.NewReader(body))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d: %+v, %v", n, resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	first := asksFor(i, all)
	for name, replace := range map[string]func(){
		"kill":    func() { _ = syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL) },
		"restart": func() { i.Run("daemon", "restart") },
		"upgrade": func() { i.Run("daemon", "upgrade") },
	} {
		was := i.Status().DaemonPID
		replace()
		e2e.Eventually(t, "the next daemon answers requests", func() bool {
			out, _, code := i.Try("daemon", "status", "--json")
			return code == 0 && e2e.Decode[api.Status](t, out).DaemonPID != was
		})
		for n, v := range asksFor(i, all) {
			if v.ID != first[n].ID || v.Line != first[n].Line || v.Count != 1 || !v.Asked.Equal(first[n].Asked) {
				t.Fatalf("%s: %+v, and was %+v", name, v, first[n])
			}
		}
	}
	if out := i.Run("approvals"); !strings.Contains(out, "512 approvals in ") || strings.Count(out, "\n") > 20 {
		t.Errorf("%s", out)
	}
	ids := []string{"approvals", "answer"}
	for n := range allowed {
		ids = append(ids, first[n].ID)
	}
	i.Run(append(ids, "once")...)
	i.Run("approvals", "answer", "--all", "reject")
	asksFor(i, 0)
	e2e.Eventually(t, "the approved command has run", func() bool {
		for n := range allowed {
			if b, _ := os.ReadFile(fmt.Sprint(i.Dir, "/", n)); string(b) != "x\n" {
				return false
			}
		}
		return true
	})
	for n := allowed; n < all; n++ {
		if _, err := os.Stat(fmt.Sprint(i.Dir, "/", n)); err == nil {
			t.Errorf("%d was run", n)
		}
	}
	if list := e2e.Decode[[]api.Approval](t, i.Run("approvals", "--all", "--json")); len(list) != all {
		t.Errorf("the history has %d", len(list))
	}
	i.Run("audit", "--verify")
}

// TestHundredLinesWait answers a hundred pending lines by their group. Each runs once.
//
// FEATURES: R63
func TestHundredLinesWait(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh")
	for n := range 100 {
		body, err := json.Marshal(api.Exec{
			Line: fmt.Sprintf("echo x >>%s/%d", i.Dir, n), Call: api.Call{Background: true}, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, code := i.Post("/sessions/s/exec", string(body))
		if code != http.StatusOK {
			t.Fatalf("%d: %s", code, out)
		}
		r := e2e.Decode[api.Result](t, out)
		if r.State != "needs_approval" || !r.NeedsApproval || r.Approval != fmt.Sprintf("A%d", n+1) || r.Policy == nil {
			t.Fatalf("%+v", r)
		}
	}
	list := asksFor(i, 100)
	if out := i.Run("approvals"); !strings.Contains(out, "100 approvals in 1 group") {
		t.Errorf("%s", out)
	}
	i.Run("approvals", "answer", "--group", list[0].Group, "once")
	for n := range 100 {
		var b []byte
		e2e.Eventually(t, fmt.Sprintf("line %d has run", n), func() bool {
			b, _ = os.ReadFile(fmt.Sprintf("%s/%d", i.Dir, n))
			return len(b) > 0
		})
		if string(b) != "x\n" {
			t.Errorf("%d was run %d times", n, strings.Count(string(b), "x"))
		}
	}
}
