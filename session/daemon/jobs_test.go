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
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// serve runs a daemon whose sessions end with the test.
func serve(t *testing.T) *running {
	t.Helper()
	r := startDaemon(t, testDirs(t))
	t.Cleanup(func() {
		if c, err := http.NewRequest("POST", "http://daemon"+api.Version+"/stop", strings.NewReader(`{"kill_sessions":true}`)); err == nil {
			c.Header.Set("Content-Type", "application/json")
			last := startDaemon(t, r.dirs)
			if resp, err := last.http.Do(c); err == nil {
				_ = resp.Body.Close()
			}
		}
	})
	t.Cleanup(func() { r.leave() })
	return r
}

// leave ends the daemon; its sessions continue.
func (r *running) leave() {
	r.t.Helper()
	r.cancel()
	if err := <-r.ended; err != nil {
		r.t.Errorf("the daemon: %v", err)
	}
	r.ended <- nil
}

// again is the daemon after this one.
func (r *running) again() *running {
	r.t.Helper()
	r.leave()
	next := startDaemon(r.t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel
	return r
}

// bashSession is a shell at its prompt.
func bashSession(t *testing.T, r *running, name, cwd string) {
	t.Helper()
	bash := tier.Path(t, "bash")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{bash, "--norc"}, Cwd: cwd})
	if w := r.wait(name, api.Condition{Kind: "prompt"}); w.Outcome != "fired" {
		t.Fatalf("no prompt: %+v", w)
	}
}

func (r *running) wait(session string, c ...api.Condition) api.Waited {
	r.t.Helper()
	return get[api.Waited](r, "POST", "/sessions/"+session+"/wait", api.Wait{Conds: c})
}

// job is a job once it has ended.
func (r *running) job(id string) api.Job {
	r.t.Helper()
	return get[api.Job](r, "GET", "/jobs/"+id+"?await_ms=50000", nil)
}

// refused makes a request that has to fail, and is why it does.
func (r *running) refused(method, path string, body any) api.Error {
	r.t.Helper()
	a := r.ask(method, path, body)
	var e api.Error
	if a.status == http.StatusOK {
		r.t.Errorf("%s %s is done: %s", method, path, a.body)
	} else if err := json.Unmarshal(a.body, &e); err != nil {
		r.t.Errorf("%s %s: %s", method, path, a.body)
	}
	return e
}

// gate is a FIFO that a program reads a line from: writing to it waits until the program is there.
func gate(t *testing.T, dir, name string) (open func(line string)) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(line string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
}

func exitOf(res *api.Result) string {
	if res == nil {
		return "no result"
	}
	code := "null"
	if res.ExitCode != nil {
		code = fmt.Sprint(*res.ExitCode)
	}
	return res.State + " " + code
}

// TestJobsOutliveTheDaemon checks that commands and lines continue without a daemon, and the next one knows their
// results: those that ended in between, those that end later, and a line that waited for the prompt, which is then
// typed once.
//
// FEATURES: R1 R5
func TestJobsOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	goOn, early, late := gate(t, dir, "line"), gate(t, dir, "early"), gate(t, dir, "late")
	program := func(fifo string, status int) api.NewSession {
		return api.NewSession{Argv: []string{"sh", "-c", fmt.Sprintf("echo begun; read x < %s; echo $x >> ran-%[1]s; echo got $x; exit %d", fifo, status)}, Cwd: dir}
	}
	background := func(id string) api.Call { return api.Call{Job: id, Background: true} }
	get[api.Result](r, "POST", "/run", api.Run{Call: background("early-job"), NewSession: program("early", 5)})
	get[api.Result](r, "POST", "/run", api.Run{Call: background("late-job"), NewSession: program("late", 6)})
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Call: background("line-job"), Line: "read x < line; echo line $x; (exit 7)"})
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Call: background("next-job"), Line: "echo ran >> ran-next; (exit 8)", Wait: true})

	r.leave()
	early("one")
	next := startDaemon(t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel
	late("two")
	goOn("three")
	for id, want := range map[string][2]string{
		"early-job": {"exited 5", "got one"}, "late-job": {"exited 6", "got two"},
		"line-job": {"exited 7", "line three"}, "next-job": {"exited 8", ""},
	} {
		j := r.job(id)
		if got := exitOf(j.Result); j.State != "done" || got != want[0] {
			t.Errorf("%s is %s, %s; want %s: %+v", id, j.State, got, want[0], j.Result)
			continue
		}
		res := get[api.Job](r, "GET", "/jobs/"+id+"?max_output=1000", nil).Result
		if !strings.Contains(res.Output, want[1]) {
			t.Errorf("%s printed %q, want %q", id, res.Output, want[1])
		}
	}
	for file, want := range map[string]string{"ran-early": "one\n", "ran-late": "two\n", "ran-next": "ran\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	if list := get[[]api.Job](r, "GET", "/jobs?running=true", nil); len(list) != 0 {
		t.Errorf("open still: %+v", list)
	}
}

// TestCallersRejoin checks that a caller that lost its connection requests its job's id again: nothing runs twice, and
// it gets the same result as without the loss – while the job runs, after its end, and from the next daemon.
//
// FEATURES: R5
func TestCallersRejoin(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	goOn := gate(t, dir, "gate")
	call := api.Run{
		Call:       api.Call{Job: uuid.NewString()},
		NewSession: api.NewSession{Argv: []string{"sh", "-c", "echo x >> ran; read x < gate; echo over $x; exit 9"}, Cwd: dir},
	}
	start := call
	start.Start = true
	if res := get[api.Result](r, "POST", "/run", start); res.State != "running" {
		t.Fatalf("started: %+v", res)
	}
	answers := make(chan answer, 3)
	for range 2 { // both join it
		go func() { answers <- r.ask("POST", "/run", call) }()
	}
	goOn("now")
	for range 2 {
		a := <-answers
		var res api.Result
		if err := json.Unmarshal(a.body, &res); err != nil || exitOf(&res) != "exited 9" || !strings.Contains(res.Output, "over now") {
			t.Errorf("a caller that joined got %d %s", a.status, a.body)
		}
	}
	r.again()
	if res := get[api.Result](r, "POST", "/run", call); exitOf(&res) != "exited 9" {
		t.Errorf("from the daemon after: %+v", res)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "ran")); string(b) != "x\n" {
		t.Errorf("it was run %d times", bytes.Count(b, []byte("x")))
	}
}

// TestBrokenConnections checks that a broken connection ends a command and all its processes, unless the caller asked
// to continue in the background.
//
// FEATURES: R1
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	for _, c := range []struct {
		name string
		req  api.Run
		want string
	}{
		{"waited for", api.Run{}, "killed null"},
		{"started, and left", api.Run{Start: true}, "exited 0"},
		{"in the background", api.Run{Call: api.Call{Background: true}}, "exited 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := uuid.NewString()
			up, goOn := gate(t, dir, id+"-up"), gate(t, dir, id)
			c.req.Job, c.req.Cwd = id, dir
			c.req.Argv = []string{"sh", "-c", fmt.Sprintf("read x < %s-up; read x < %[1]s", id)}
			ctx, cancel := context.WithCancel(t.Context())
			body, err := json.Marshal(c.req)
			if err != nil {
				t.Fatal(err)
			}
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
			up("go")
			cancel()
			<-gone
			if strings.HasPrefix(c.want, "exited") {
				goOn("go")
			}
			j := r.job(id)
			if got := exitOf(j.Result); got != c.want || j.Result.Aborted != strings.HasPrefix(c.want, "killed") {
				t.Errorf("it is %s (aborted %v), want %s", got, j.Result.Aborted, c.want)
			}
		})
	}
}

// TestJobClocksRun checks that a command that exceeds its timeout or idle timeout is ended with all its processes. A
// line keeps running, unless the call ends lines; one that yields is answered and continues.
//
// FEATURES: R16
func TestJobClocksRun(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	// milliseconds after which a line that keeps running has started; otherwise it would be withdrawn
	const begins = int64(3000)
	r, dir := serve(t), t.TempDir()
	sleeps := api.NewSession{Argv: []string{"sh", "-c", "echo first; sleep 600 & sleep 600"}, Cwd: dir}
	for _, c := range []struct {
		name, timedOut, want string
		call                 api.Call
	}{
		{"too long", "wall", "killed null", api.Call{TimeoutMS: ptr(int64(1000))}},
		{"too long, and left", "wall", "running null", api.Call{TimeoutMS: ptr(begins), OnTimeout: "background"}},
		{"silent", "idle", "killed null", api.Call{IdleTimeoutMS: ptr(begins)}},
		{"silent, and left", "idle", "running null", api.Call{IdleTimeoutMS: ptr(begins), OnTimeout: "background"}},
		{"yields", "none", "running null", api.Call{YieldMS: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := get[api.Result](r, "POST", "/run", api.Run{Call: c.call, NewSession: sleeps})
			if got := exitOf(&res); got != c.want || res.TimedOut != c.timedOut || res.InBackground != (res.State == "running") || res.Message == "" {
				t.Errorf("%s, timed out %q, in background %v: %q", got, res.TimedOut, res.InBackground, res.Message)
			}
			if res.State == "running" {
				if j := get[api.Job](r, "POST", "/jobs/"+res.Job+"/stop", api.JobStop{GraceMS: 100}); j.State != "done" || j.Result.State != "killed" {
					t.Errorf("stopped: %+v", j.Result)
				}
			}
		})
	}
	bashSession(t, r, "shell", dir)
	res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "sleep 600", Call: api.Call{IdleTimeoutMS: ptr(begins)}})
	if exitOf(&res) != "running null" || res.TimedOut != "idle" {
		t.Errorf("a line that is silent: %+v", res)
	}
	if e := r.refused("POST", "/sessions/shell/exec", api.Exec{Line: "true"}); e.Code != api.CodeBusy {
		t.Errorf("the shell is not busy: %+v", e)
	}
	if j := get[api.Job](r, "POST", "/jobs/"+res.Job+"/stop", api.JobStop{}); j.State != "done" {
		t.Errorf("stopped: %+v", j)
	}
	if res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "echo on", Wait: true}); exitOf(&res) != "exited 0" || !strings.Contains(res.Output, "on") {
		t.Errorf("afterwards: %+v", res)
	}
	res = get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "sleep 600", Call: api.Call{IdleTimeoutMS: ptr(int64(100)), OnTimeout: "kill"}})
	if res.State == "running" || res.TimedOut != "idle" {
		t.Errorf("a line that is to be ended: %+v", res)
	}
}

// TestJobsThatAsk checks that a command that prompts is waited for, or its caller returns with the prompt. Later input
// reaches the command.
//
// FEATURES: R3
func TestJobsThatAsk(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	asks := api.NewSession{Argv: []string{"sh", "-c", "printf 'Password: '; stty -echo; read x; echo; echo got $x"}, Cwd: dir}
	res := get[api.Result](r, "POST", "/run", api.Run{Call: api.Call{OnInput: "return"}, NewSession: asks})
	if res.State != "needs_input" || res.Needs != "password" || !strings.Contains(res.Message, "password") {
		t.Fatalf("it prompts: %+v", res)
	}
	get[api.Typed](r, "POST", "/sessions/"+res.Session+"/input", api.Input{Text: "abc", Enter: true})
	if j := r.job(res.Job); exitOf(j.Result) != "exited 0" || !strings.Contains(j.Result.Output, "got abc") {
		t.Errorf("answered: %+v", j.Result)
	}
	rules := api.RespondRules{Rules: []api.RespondRule{{Name: "sure", Text: "sure? ", Reply: []api.RespondReply{{Kind: "keys", Value: "yes<Enter>"}}}}}
	bashSession(t, r, "shell", dir)
	res = get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "read -p 'sure? ' x; [ $x = yes ]", Respond: &rules})
	if exitOf(&res) != "exited 0" || len(res.Answers) != 1 || res.Answers[0].Name != "sure" {
		t.Errorf("rule of the line: %s, %+v", exitOf(&res), res.Answers)
	}
	if list := get[[]api.RespondAttached](r, "GET", "/sessions/shell/respond", nil); len(list) != 0 {
		t.Errorf("the rule stays: %+v", list)
	}
}

// TestJob_NeedsInput_InEveryList compares the state of a job that needs input in the call's result, the list of jobs
// and the list of sessions.
//
// FAULT: H2
func TestJob_NeedsInput_InEveryList(t *testing.T) {
	t.Parallel()
	r := serve(t)
	asks := api.NewSession{Argv: []string{"sh", "-c", "printf 'Password: '; stty -echo; read x"}, Cwd: t.TempDir()}
	res := get[api.Result](r, "POST", "/run", api.Run{Call: api.Call{OnInput: "return"}, NewSession: asks})
	if res.State != "needs_input" {
		t.Fatalf("result: %+v", res)
	}
	for _, j := range get[[]api.Job](r, "GET", "/jobs", nil) {
		if j.ID == res.Job && (j.State != "needs_input" || j.Needs != "password") {
			t.Errorf("list of jobs: %s, %q", j.State, j.Needs)
		}
	}
	for _, s := range get[[]api.Session](r, "GET", "/sessions", nil) {
		if s.ID == res.Session && (s.Needs == nil || s.Needs.Kind != "password") {
			t.Errorf("list of sessions: %+v", s.Needs)
		}
	}
}

// TestLinesForAnyProgram checks that lines can also be typed into a silent program: the answer is its output until it
// is idle, without a status.
//
// FEATURES: R4
func TestLinesForAnyProgram(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "repl", Argv: []string{"sh", "-c", `while printf '> '; read -r x; do echo "you said $x"; done`}, Cwd: dir})
	r.wait("repl", api.Condition{Kind: "text", Text: "> "})
	for _, line := range []string{"one", "two words"} {
		res := get[api.Result](r, "POST", "/sessions/repl/exec", api.Exec{Line: line, Call: api.Call{OnInput: "return"}}) // its own prompt does not count as input needed
		if res.State != "exited" || res.Outcome != "stable" || res.ExitCode != nil || !strings.Contains(res.Output, "you said "+line) {
			t.Errorf("%s: %+v", line, res)
		}
	}
	bashSession(t, r, "shell", dir)
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: `while printf '> '; read -r x; do echo "you said $x"; [ "$x" != end ] || break; done`, Call: api.Call{OnInput: "return"}})
	if e := r.refused("POST", "/sessions/shell/exec", api.Exec{Line: "x"}); e.Code != api.CodeNeedsInput || !strings.Contains(e.Hint, "--foreign") {
		t.Errorf("a line for a shell whose program waits for input: %+v", e)
	}
	if res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "three", Foreign: true}); res.ExitCode != nil || !strings.Contains(res.Output, "you said three") {
		t.Errorf("given to the program: %+v", res)
	}
	get[api.Typed](r, "POST", "/sessions/shell/input", api.Input{Text: "end", Enter: true})
	if res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "echo back", Wait: true}); exitOf(&res) != "exited 0" {
		t.Errorf("afterwards: %+v", res)
	}
}

// TestWarmShells checks that a line runs in a ready warm shell, with its status, and the session is removed afterwards.
//
// FEATURES: R1
func TestWarmShells(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	for i := range 4 {
		res := get[api.Result](r, "POST", "/run", api.Run{Warm: true, NewSession: api.NewSession{Line: fmt.Sprintf("echo run %d in $PWD; exit %[1]d", i), Cwd: dir}})
		if res.ExitCode == nil || *res.ExitCode != i || !strings.Contains(res.Output, fmt.Sprintf("run %d in", i)) {
			t.Fatalf("run %d: %+v", i, res)
		}
	}
	for _, s := range get[[]api.Session](r, "GET", "/sessions", nil) {
		if s.State == "exited" {
			t.Errorf("left over: %s %s", s.Name, s.Command)
		}
	}
	for _, j := range get[[]api.Job](r, "GET", "/jobs", nil) {
		get[any](r, "DELETE", "/jobs/"+j.ID, nil)
	}
	if list := get[[]api.Job](r, "GET", "/jobs", nil); len(list) != 0 {
		t.Errorf("forgotten, and there: %+v", list)
	}
}
