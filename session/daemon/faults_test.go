//go:build unix

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

// events collects a daemon's events from the moment it listens.
func (r *running) events(t *testing.T) <-chan api.Event {
	t.Helper()
	return r.eventsOf(t, "")
}

func (r *running) eventsOf(t *testing.T, query string) <-chan api.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", "http://daemon"+api.Version+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	out := make(chan api.Event, 1000)
	go func() {
		defer close(out)
		lines := bufio.NewScanner(resp.Body)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e api.Event
				if json.Unmarshal([]byte(data), &e) == nil {
					out <- e
				}
			}
		}
	}()
	for e := range out {
		if e.Kind == "listening" {
			return out
		}
	}
	t.Fatal("the daemon does not listen")
	return nil
}

// until waits for an event.
func until(t *testing.T, events <-chan api.Event, what string, is func(*api.Event) bool) api.Event {
	t.Helper()
	for e := range events {
		if is(&e) {
			return e
		}
	}
	t.Fatalf("no event: %s", what)
	return api.Event{}
}

// pidIn is a process id that a program wrote into a file.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && st.State != 'Z'
}

// TestKeeperIsKilled checks that the end of a killed keeper ends its sessions: each is lost, its output can be read,
// its processes are ended, waits return, and it can be started again. Sessions of other keepers are unaffected.
//
// FEATURES: R5 R19
func TestKeeperIsKilled(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	up := gate(t, dir, "up")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "elsewhere", Argv: []string{"cat"}, Isolated: true})
	keepers := map[int]bool{}
	for _, k := range get[api.Status](r, "GET", "/status", nil).Keepers {
		keepers[k.PID] = true
	}
	get[api.Session](r, "POST", "/sessions", api.NewSession{
		Name: "here", Cwd: dir,
		Argv: []string{"sh", "-c", "trap '' HUP; sleep 600 & echo $! > child; echo printed before; read x < up; sleep 600"},
	})
	get[api.Result](r, "POST", "/run", api.Run{Call: api.Call{Job: "its-job", Background: true}, NewSession: api.NewSession{Argv: []string{"sleep", "600"}, Cwd: dir}})
	r.wait("here", api.Condition{Kind: "text", Text: "printed before"})
	up("go")
	child := pidIn(t, filepath.Join(dir, "child"))

	events := r.events(t)
	var killed int
	for _, k := range get[api.Status](r, "GET", "/status", nil).Keepers {
		if k.Sessions == 2 {
			killed = k.PID
		}
	}
	if killed == 0 || len(keepers) == 0 {
		t.Fatalf("no keeper has both: %+v", get[api.Status](r, "GET", "/status", nil).Keepers)
	}
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, events, "here is lost", func(e *api.Event) bool {
		return e.Kind == "state" && e.Session != nil && e.Session.Name == "here" && e.Session.State == "lost"
	})
	if j := r.job("its-job"); j.State != "done" || j.Result.State != "lost" {
		t.Errorf("its job: %+v", j.Result)
	}
	out := get[api.OutputText](r, "GET", "/sessions/here/output/text?max_output=1000", nil)
	if !strings.Contains(out.Text, "printed before") || !out.End {
		t.Errorf("its output: %+v", out)
	}
	if e := r.refused("POST", "/sessions/here/input", api.Input{Text: "x"}); e.Code != api.CodeEnded {
		t.Errorf("typed: %+v", e)
	}
	if s := get[api.Session](r, "GET", "/sessions/elsewhere", nil); s.State != "running" {
		t.Errorf("another keeper's session is %s", s.State)
	}
	get[api.Session](r, "POST", "/sessions/here/kill", api.Kill{GraceMS: 50})
	if alive(child) {
		t.Error("its processes continue")
	}
	s := get[api.Session](r, "POST", "/sessions/here/restore", api.Restore{Shell: true})
	if s.State != "running" || s.Name != "here" {
		t.Errorf("started again: %+v", s)
	}
}

// TestKillEndsAll checks that a kill ends all processes that a session started, also those that ignore the milder
// signals or left its group, and that its name can be used again.
//
// FEATURES: R15
func TestKillEndsAll(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	up := gate(t, dir, "up")
	get[api.Session](r, "POST", "/sessions", api.NewSession{
		Name: "stubborn", Cwd: dir,
		Argv: []string{"sh", "-c", "trap '' INT TERM HUP; (trap '' INT TERM HUP; setsid sleep 600 & echo $! > away); sleep 600 & echo $! > near; read x < up; while :; do sleep 600; done"},
	})
	up("go")
	if e := r.refused("POST", "/sessions", api.NewSession{Name: "stubborn", Argv: []string{"true"}}); e.Code != api.CodeNameTaken {
		t.Errorf("a second one: %+v", e)
	}
	if s := get[api.Session](r, "POST", "/sessions/stubborn/kill", api.Kill{GraceMS: 50}); s.State == "running" {
		t.Errorf("it is %s", s.State)
	}
	for _, name := range []string{"near", "away"} {
		if pid := pidIn(t, filepath.Join(dir, name)); alive(pid) {
			t.Errorf("%s (%d) is alive", name, pid)
		}
	}
	if s := get[api.Session](r, "POST", "/sessions/stubborn/kill", api.Kill{}); s.State == "running" {
		t.Errorf("killed twice: %s", s.State)
	}
	get[any](r, "DELETE", "/sessions/stubborn", nil)
	if e := r.refused("GET", "/sessions/stubborn", nil); e.Code != api.CodeNotFound {
		t.Errorf("removed, and there: %+v", e)
	}
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "stubborn", Argv: []string{"true"}})
}

// TestAdoption checks that a new daemon adopts sessions: running ones continue and accept input; those that ended
// without a daemon have their status and output; one with a damaged directory does not prevent the start.
//
// FEATURES: R5
func TestAdoption(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	goOn := gate(t, dir, "end")
	bashSession(t, r, "shell", dir)
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "kept=value; cd /"})
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "ends", Cwd: dir, Argv: []string{"sh", "-c", "echo first; read x < end; echo last; exit 3"}})
	ended := get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "ended", Argv: []string{"sh", "-c", "echo gone; exit 4"}})
	r.wait("ended", api.Condition{Kind: "exit"})
	get[api.Session](r, "PATCH", "/sessions/ended", api.Edit{Labels: map[string]string{"a": "b"}})
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "idle", Argv: []string{"sh", "-c", "echo here; exec cat"}})
	r.wait("idle", api.Condition{Kind: "text", Text: "here"})
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "over", Argv: []string{"echo", "here"}})
	r.wait("over", api.Condition{Kind: "exit"})
	left := time.Now()

	r.leave()
	goOn("now")
	damaged := 0
	segments, _ := filepath.Glob(filepath.Join(r.dirs.State, "sessions", ended.ID, "journal", "*"))
	for _, f := range segments {
		if b, err := os.ReadFile(f); err == nil && len(b) > 20 {
			b[len(b)/2] ^= 0xff
			if os.WriteFile(f, b, 0o600) == nil {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Fatalf("no file to damage in %v", segments)
	}
	next := startDaemon(t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel

	r.wait("ends", api.Condition{Kind: "exit"})
	s := get[api.Session](r, "GET", "/sessions/ends", nil)
	if s.State != "exited" || s.ExitCode == nil || *s.ExitCode != 3 {
		t.Errorf("ended while no daemon served: %+v", s)
	}
	if out := get[api.OutputText](r, "GET", "/sessions/ends/output/text?max_output=1000", nil); out.Text != "first\nlast\n" {
		t.Errorf("it printed %q", out.Text)
	}
	if res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "echo $kept in $PWD"}); exitOf(&res) != "exited 0" || !strings.Contains(res.Output, "value in /") {
		t.Errorf("the shell: %+v", res)
	}
	s = get[api.Session](r, "GET", "/sessions/ended", nil)
	if s.State != "exited" || s.ExitCode == nil || *s.ExitCode != 4 || s.Labels["a"] != "b" {
		t.Errorf("session with a damaged history: %+v", s)
	}
	if e := r.ask("GET", "/sessions/ended/output/text?max_output=1000", nil); e.status != http.StatusOK && !strings.Contains(string(e.body), "longterm") {
		t.Errorf("its output: %d %s", e.status, e.body)
	}
	for _, s := range get[[]api.Session](r, "GET", "/sessions", nil) { // unchanged, although nothing was printed since
		if (s.Name == "idle" || s.Name == "over") && (s.LastOutput == nil || s.LastOutput.After(left) || s.LastOutput.Before(s.Created)) {
			t.Errorf("%s printed last at %v; the previous daemon ended at %v", s.Name, s.LastOutput, left)
		}
	}
	n := 0
	for _, c := range get[[]api.Command](r, "GET", "/commands?session=shell", nil) {
		if strings.Contains(c.Text, "kept") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d commands of the shell are recorded, want 2", n)
	}
}

// TestConfigurationChanges checks that a changed configuration is applied. An invalid one is reported with its line,
// and the last valid one stays.
//
// FEATURES: R88
func TestConfigurationChanges(t *testing.T) {
	t.Parallel()
	r := serve(t)
	file := r.dirs.ConfigFile()
	events := r.events(t)
	write := func(text string) api.Configuration {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, events, "the configuration was read", func(e *api.Event) bool { return e.Kind == "config" })
		return get[api.Status](r, "GET", "/status", nil).Config
	}
	get[api.Status](r, "GET", "/status", nil)
	c := write("[exec]\nmax_output = 300\n")
	if c.Using != "file" || len(c.Problems) != 0 {
		t.Fatalf("%+v", c)
	}
	long := api.NewSession{Argv: []string{"seq", "1000"}}
	agent := r.as("claude") // the limit is for agents
	res := get[api.Result](agent, "POST", "/run", api.Run{NewSession: long})
	if !res.Truncated || len(res.Output) > 300 {
		t.Errorf("in effect: %d bytes", len(res.Output))
	}
	c = write("[exec]\nmax_output = \"much\"\n")
	if c.Using != "kept" || len(c.Problems) == 0 || !strings.Contains(c.Problems[0], "max_output") {
		t.Errorf("broken: %+v", c)
	}
	if res := get[api.Result](agent, "POST", "/run", api.Run{NewSession: long}); len(res.Output) > 300 {
		t.Errorf("the last good one is not in effect: %d bytes", len(res.Output))
	}
	c = write("[exec]\nmax_output = 100000\n")
	if c.Using != "file" || len(c.Problems) != 0 {
		t.Errorf("mended: %+v", c)
	}
	if res := get[api.Result](agent, "POST", "/run", api.Run{NewSession: long}); res.Truncated {
		t.Errorf("not in effect: %d bytes", len(res.Output))
	}
}

// TestPruneKeepsWhatRuns checks that the limit of histories is kept: ended sessions over it are removed, the oldest
// first, and running ones stay.
//
// FEATURES: R37
func TestPruneKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "runs", Argv: []string{"cat"}})
	for i := range 4 {
		name := fmt.Sprint("old-", i)
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"sh", "-c", "echo " + name}})
		r.wait(name, api.Condition{Kind: "exit"})
	}
	a := r.ask("POST", "/prune", api.Prune{Dead: 2})
	if a.status != http.StatusOK || !strings.Contains(string(a.body), "old-0") || !strings.Contains(string(a.body), "old-1") || strings.Contains(string(a.body), "old-2") {
		t.Errorf("%d %s", a.status, a.body)
	}
	var names []string
	for _, s := range get[[]api.Session](r, "GET", "/sessions", nil) {
		names = append(names, s.Name)
	}
	for name, there := range map[string]bool{"runs": true, "old-0": false, "old-1": false, "old-2": true, "old-3": true} {
		if strings.Contains(strings.Join(names, " "), name) != there {
			t.Errorf("%s there: %v, of %v", name, !there, names)
		}
	}
	r.again()
	if list := get[[]api.Session](r, "GET", "/sessions", nil); len(list) != 3 {
		t.Errorf("after a restart there are %d", len(list))
	}
}
