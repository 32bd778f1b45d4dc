//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
)

// asked returns the next approval request.
func asked(t *testing.T, events <-chan api.Event) api.Approval {
	t.Helper()
	return *until(t, events, "somebody is asked", func(e *api.Event) bool { return e.Kind == "approval" }).Approval
}

// settled waits until an approval is answered or closed, and returns its state.
func settled(t *testing.T, events <-chan api.Event, id string) string {
	t.Helper()
	return until(t, events, id+" is settled", func(e *api.Event) bool {
		return e.Approval != nil && e.Approval.ID == id && e.Kind != "approval"
	}).Kind
}

// recorded waits until a job exists: an approval is published just before.
func (r *running) recorded(job string) {
	r.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for range 6000 {
		if a := r.ask("GET", "/jobs/"+job, nil); a.status == http.StatusOK {
			return
		}
		<-look.C
	}
	r.t.Fatalf("there is no job %s", job)
}

func (r *running) answer(approval, how, feedback string) {
	r.t.Helper()
	get[api.Approval](r, "POST", "/approvals/"+approval+"/answer", api.ApprovalAnswer{Answer: how, Feedback: feedback})
}

// ran is how often a command ran that adds a line to a file.
func ran(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

// noting returns a command that needs approval and records in a file that it ran.
func noting(dir, file string, c api.Call) api.Run {
	return api.Run{Call: c, NewSession: api.NewSession{
		Argv: []string{"sh", "-c", "echo ran >> " + file + "; exit 6"}, Cwd: dir, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"},
	}}
}

// TestCommandsThatWaitForAPerson checks that a command that needs approval runs once when allowed, and never otherwise.
// Callers return as they requested, and a withdrawn request is closed.
//
// FEATURES: R63 R1
func TestCommandsThatWaitForAPerson(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	events := r.events(t)
	for _, c := range []struct {
		name   string
		call   api.Call
		answer string // of the user; "": none is given
		then   func(job string)
		first  string // state in the caller's answer; "": rejected with code
		code   api.Code
		want   string // state of the job in the end
		times  int
	}{
		{"waited for and allowed", api.Call{}, "once", nil, "exited", "", "exited 6", 1},
		{"waited for and rejected", api.Call{}, "reject", nil, "", api.CodeRejected, "denied null", 0},
		{"in the background and allowed", api.Call{Background: true}, "once", nil, "needs_approval", "", "exited 6", 1},
		{"in the background and rejected", api.Call{Background: true}, "reject", nil, "needs_approval", "", "denied null", 0},
		{"a caller that yields", api.Call{YieldMS: 1}, "once", nil, "needs_approval", "", "exited 6", 1},
		{"stopped meanwhile", api.Call{}, "", func(job string) { r.ask("POST", "/jobs/"+job+"/stop", api.JobStop{}) }, "", api.CodeCanceled, "killed null", 0},
		{"sent to the background meanwhile", api.Call{}, "once", func(job string) {
			if j := get[api.Job](r, "POST", "/jobs/"+job+"/background", nil); j.State != "needs_approval" {
				t.Errorf("it is %s", j.State)
			}
		}, "needs_approval", "", "exited 6", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := strings.ReplaceAll(c.name, " ", "-")
			c.call.Job = uuid.NewString()
			done := make(chan answer, 1)
			go func() { done <- r.ask("POST", "/run", noting(dir, file, c.call)) }()
			a := asked(t, events)
			if a.Kind != "command" || a.State != "pending" || a.Risk == "" || a.Judgement.Rule == "" || a.Session != "" {
				t.Errorf("approval request: %+v", a)
			}
			r.recorded(c.call.Job)
			var first answer
			if c.then != nil {
				c.then(c.call.Job)
				first = <-done
			} else if c.call.Background || c.call.YieldMS > 0 {
				first = <-done
				if j := get[api.Job](r, "GET", "/jobs/"+c.call.Job, nil); j.State != "needs_approval" || j.Approval != a.ID {
					t.Errorf("before the answer: %+v", j)
				}
				if e := r.refused("DELETE", "/jobs/"+c.call.Job, nil); e.Code != api.CodeRunning {
					t.Errorf("forgotten before its start: %+v", e)
				}
			}
			if c.answer != "" {
				r.answer(a.ID, c.answer, "not today")
			}
			if first.status == 0 {
				first = <-done
			}
			var res api.Result
			var refused api.Error
			if c.first == "" {
				_ = json.Unmarshal(first.body, &refused)
				if first.status == http.StatusOK || refused.Code != c.code {
					t.Errorf("answered %d %s, want %s", first.status, first.body, c.code)
				}
			} else if err := json.Unmarshal(first.body, &res); err != nil || res.State != c.first || res.Approval != a.ID {
				t.Errorf("answered %d %s, want %s by %s", first.status, first.body, c.first, a.ID)
			}
			j := r.job(c.call.Job)
			if got := exitOf(j.Result); got != c.want {
				t.Errorf("the job is %s, want %s: %+v", got, c.want, j.Result)
			}
			if c.answer == "reject" && !strings.Contains(j.Result.Error, "not today") {
				t.Errorf("the user's comment is lost: %+v", j.Result)
			}
			if n := ran(t, filepath.Join(dir, file)); n != c.times {
				t.Errorf("it ran %d times, want %d", n, c.times)
			}
			if list := get[[]api.Approval](r, "GET", "/approvals", nil); len(list) != 0 {
				t.Errorf("pending still: %+v", list)
			}
			if e := r.refused("POST", "/approvals/"+a.ID+"/answer", api.ApprovalAnswer{Answer: "once"}); e.Code != api.CodeAnswered {
				t.Errorf("answered twice: %+v", e)
			}
		})
	}
}

// TestApproval_WithdrawnOnDisconnect checks that the request of a caller whose connection breaks is withdrawn, unless
// the caller asked to continue in the background.
//
// FEATURES: R63
func TestApproval_WithdrawnOnDisconnect(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	events := r.events(t)
	for _, c := range []struct{ onTimeout, settled, want string }{
		{"", "approval-gone", "killed null"},
		{"background", "approval-answered", "exited 6"},
	} {
		t.Run("on timeout "+c.onTimeout, func(t *testing.T) {
			job := uuid.NewString()
			body, err := json.Marshal(noting(dir, "by"+c.onTimeout, api.Call{Job: job, OnTimeout: c.onTimeout}))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", "http://daemon"+api.Version+"/run", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if resp, err := r.http.Do(req); err == nil {
					_ = resp.Body.Close()
				}
			}()
			a := asked(t, events)
			r.recorded(job)
			cancel()
			<-gone
			if c.onTimeout == "background" {
				r.answer(a.ID, "once", "")
			}
			if how := settled(t, events, a.ID); how != c.settled {
				t.Errorf("%s, want %s", how, c.settled)
			}
			j := r.job(job)
			if got := exitOf(j.Result); got != c.want {
				t.Errorf("the job is %s, want %s: %+v", got, c.want, j.Result)
			}
		})
	}
}

// TestApprovalsOverARestart checks that requests pending when the daemon ends stay pending under the next, with the
// same id, and run once when allowed: commands, with an environment that is on no disk, and lines, which are typed only
// then.
//
// FEATURES: R63 R66
func TestApprovalsOverARestart(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	events := r.events(t)
	approvals := map[string]string{}
	for _, job := range []string{"allowed", "rejected", "stopped", "robbed"} {
		x := noting(dir, job, api.Call{Job: job, Background: true})
		x.Argv[2] = "echo $TOKEN >> " + job + "; exit 6"
		x.Env = []string{"TOKEN=kept-in-memory-" + job, "PATH=" + os.Getenv("PATH")}
		get[api.Result](r, "POST", "/run", x)
		approvals[job] = asked(t, events).ID
	}
	for _, job := range []string{"line-allowed", "line-rejected"} {
		res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{
			Call: api.Call{Job: job, Background: true}, Line: "echo x >> " + job + "; (exit 7)", Wait: true, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"},
		})
		if res.State != "needs_approval" {
			t.Fatalf("%s is %s", job, res.State)
		}
		approvals[job] = asked(t, events).ID
	}
	r.leave()
	if found := filesWith(t, filepath.Dir(r.dirs.State), "kept-in-memory-allowed"); len(found) > 0 {
		t.Errorf("the environment is stored in %v", found)
	}
	r.loseWanted("robbed")
	next := startDaemon(t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel

	open := map[string]bool{}
	for _, a := range get[[]api.Approval](r, "GET", "/approvals", nil) {
		open[a.ID] = a.State == "pending"
	}
	for job, id := range approvals {
		if open[id] != (job != "robbed") {
			t.Errorf("%s: its approval %s is pending: %v", job, id, open[id])
		}
	}
	for _, job := range []string{"allowed", "line-allowed"} {
		r.answer(approvals[job], "once", "")
	}
	for _, job := range []string{"rejected", "line-rejected"} {
		r.answer(approvals[job], "reject", "no")
	}
	get[api.Job](r, "POST", "/jobs/stopped/stop", api.JobStop{})
	for job, want := range map[string]struct{ state, wrote string }{
		"allowed": {"exited 6", "kept-in-memory-allowed\n"}, "rejected": {"denied null", ""}, "stopped": {"killed null", ""},
		"robbed": {"lost null", ""}, "line-allowed": {"exited 7", "x\n"}, "line-rejected": {"denied null", ""},
	} {
		j := r.job(job)
		if got := exitOf(j.Result); got != want.state {
			t.Errorf("%s is %s, want %s: %+v", job, got, want.state, j.Result)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, job)); string(b) != want.wrote {
			t.Errorf("%s wrote %q, want %q", job, b, want.wrote)
		}
		if job == "robbed" && !strings.Contains(j.Result.Error, "give it again") {
			t.Errorf("the error has no hint: %+v", j.Result)
		}
	}
	if left, err := os.ReadDir(filepath.Join(r.dirs.State, "wanted")); err == nil && len(left) > 0 {
		t.Errorf("environments left: %v", left)
	}
	r.again()
	if n := ran(t, filepath.Join(dir, "allowed")) + ran(t, filepath.Join(dir, "line-allowed")); n != 2 {
		t.Errorf("both ran %d times after another restart, want 2", n)
	}
}

// TestAgents_CannotAnswerApprovals checks that an agent cannot answer approvals or revoke grants, and needs approval
// for what a user may just do. A session grant reaches its next lines, also after a restart, until it is revoked.
//
// FEATURES: R63 R61
func TestAgents_CannotAnswerApprovals(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	exec := func(r *running, line string) api.Result {
		t.Helper()
		return get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{
			Line: line, Wait: true, ApprovalOptions: api.ApprovalOptions{Policy: "readonly", OnApproval: "return"},
		})
	}
	bot := r.as("bot")
	first := exec(bot, "touch one")
	if first.State != "needs_approval" || first.Policy == nil || first.Policy.Verdict != "ask" {
		t.Fatalf("an agent's line: %+v", first)
	}
	answer := api.ApprovalAnswer{Answer: "session"}
	for _, path := range []string{"/approvals/" + first.Approval + "/answer"} {
		if e := bot.refused("POST", path, answer); e.Code != api.CodeDenied {
			t.Errorf("an agent answers: %+v", e)
		}
	}
	if e := bot.refused("POST", "/approvals/answer", api.ApprovalsAnswer{All: true, ApprovalAnswer: answer}); e.Code != api.CodeDenied {
		t.Errorf("an agent answers all: %+v", e)
	}
	get[api.Approval](r, "POST", "/approvals/"+first.Approval+"/answer", answer)
	if j := r.job(first.Job); exitOf(j.Result) != "exited 0" {
		t.Errorf("allowed: %+v", j.Result)
	}
	for i := range 2 {
		if res := exec(r.as("bot"), fmt.Sprint("touch more", i)); res.State != "exited" || res.Approval != first.Approval {
			t.Errorf("allowed for the session: %+v", res)
		}
		r.again()
	}
	grants := get[[]api.Grant](r, "GET", "/grants", nil)
	if len(grants) != 1 || grants[0].Name != "shell" {
		t.Fatalf("grants: %+v", grants)
	}
	if e := r.as("bot").refused("DELETE", "/grants/"+grants[0].ID, nil); e.Code != api.CodeDenied {
		t.Errorf("an agent takes one back: %+v", e)
	}
	get[any](r, "DELETE", "/grants/"+grants[0].ID, nil)
	again := exec(r.as("bot"), "touch last")
	if again.State != "needs_approval" {
		t.Errorf("revoked: %+v", again)
	}
	if a := r.as(strings.Repeat("x", 500)).ask("GET", "/approvals", nil); a.status != http.StatusUnprocessableEntity || !bytes.Contains(a.body, []byte("short name")) {
		t.Errorf("a label that is none: %d %s", a.status, a.body)
	}
	get[api.Session](r, "POST", "/sessions/shell/kill", api.Kill{GraceMS: 50})
	if j := r.job(again.Job); j.Result.State == "running" || j.Result.State == "needs_approval" {
		t.Errorf("its shell has ended, and it is %s", j.Result.State)
	}
	if _, err := os.Stat(filepath.Join(dir, "last")); err == nil {
		t.Error("it ran nevertheless")
	}
}

// filesWith are the files below a directory that have a text in them.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(text)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

// loseWanted removes the state that is kept in memory for a pending command, as a shutdown of the machine does.
func (r *running) loseWanted(job string) {
	r.t.Helper()
	marks, err := filepath.Glob(filepath.Join(r.dirs.State, "*", job))
	if err != nil || len(marks) != 1 {
		r.t.Fatalf("%v %v", marks, err)
	}
	place, err := os.ReadFile(marks[0])
	if err == nil {
		err = os.Remove(filepath.Join(string(place), "env"))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
