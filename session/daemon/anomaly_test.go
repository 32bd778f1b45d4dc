//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// buildScript prints lines that differ between all runs. With the file bad it prints an error, and waits for the end of the FIFO gate.
const buildScript = `echo "[1/2] cc $PWD/a.c $$"
if test -e bad; then
	echo "b.c:$$:3: error: expected ';'"
	if test -p gate; then cat gate; fi
	exit 1
fi
echo "[2/2] link 0.$$ s"
`

// build is a directory with buildScript.
func build(t *testing.T) (dir string, setBad func(bool)) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "build"), []byte(buildScript), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, func(bad bool) {
		t.Helper()
		var err error
		if path := filepath.Join(dir, "bad"); bad {
			err = os.WriteFile(path, nil, 0o600)
		} else {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnomaly_RunningCommand checks that a running command of a shell that prints a line of its earlier failures ends
// waits, and is an event and an entry of the inbox.
//
// FEATURES: R127
func TestAnomaly_RunningCommand(t *testing.T) {
	t.Parallel()
	r := serve(t)
	dir, setBad := build(t)
	bashSession(t, r, "b", dir)
	events := r.events(t)
	run := func(background bool) (res api.Result, since uint64) {
		t.Helper()
		since = get[api.Session](r, "GET", "/sessions/b", nil).Output.End
		return get[api.Result](r, "POST", "/sessions/b/exec", api.Exec{Call: api.Call{Background: background}, Line: "sh build"}), since
	}
	wait := func(since uint64) api.Waited {
		t.Helper()
		return get[api.Waited](r, "POST", "/sessions/b/wait", api.Wait{Conds: []api.Condition{{Kind: "anomaly"}}, Since: &since})
	}
	setBad(true)
	_, since := run(false)
	if w := wait(since); w.Outcome != "ended" {
		t.Errorf("without a good run: %+v", w)
	}
	setBad(false)
	run(false)
	_, since = run(false)
	if w := wait(since); w.Outcome != "ended" || len(w.Fired) > 0 {
		t.Errorf("of a good run: %+v", w)
	}
	gate := filepath.Join(dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	setBad(true)
	res, since := run(true)
	w := wait(since)
	if w.Outcome != "fired" || !strings.HasSuffix(w.Fired[0].Match, ":3: error: expected ';'") || w.Session.Shell.Phase != "running" {
		t.Fatalf("%+v", w)
	}
	e := until(t, events, "an anomaly", func(e *api.Event) bool { return e.Kind == "anomaly" })
	if a := e.Anomaly; e.Session.Name != "b" || a.Command != 4 || a.Job != res.Job || a.Text != "sh build" || a.Line != w.Fired[0].Match || a.Offset < since {
		t.Errorf("%+v, %+v; job %s", a, e.Session, res.Job)
	}
	until(t, events, "an entry of the inbox", func(e *api.Event) bool { return e.Kind == "inbox" })
	anomalies := func() (list []api.InboxItem) {
		for _, it := range get[[]api.InboxItem](r, "GET", "/inbox", nil) {
			if it.Kind == api.InboxAnomaly {
				list = append(list, it)
			}
		}
		return list
	}
	if list := anomalies(); len(list) != 1 || list[0].Command != 4 || list[0].Text != "sh build printed a line of its earlier failures: "+w.Fired[0].Match {
		t.Errorf("inbox: %+v", list)
	}
	f, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if j := r.job(res.Job); j.State != "done" {
		t.Errorf("%+v", j)
	}
	if list := anomalies(); len(list) > 0 {
		t.Errorf("inbox after the end: %+v", list)
	}
	if w := wait(since); w.Outcome != "fired" {
		t.Errorf("after its end: %+v", w)
	}
}

// TestAnomaly_Program checks that the program of a session is compared with those of others, also after its end.
//
// FEATURES: R127
func TestAnomaly_Program(t *testing.T) {
	t.Parallel()
	r := serve(t)
	dir, setBad := build(t)
	run := func() string {
		t.Helper()
		v := get[api.Session](r, "POST", "/sessions", api.NewSession{Argv: []string{"sh", "build"}, Cwd: dir})
		r.wait(v.ID, api.Condition{Kind: "exit"})
		return v.ID
	}
	run()
	setBad(true)
	if w := r.wait(run(), api.Condition{Kind: "anomaly"}); w.Outcome != "ended" {
		t.Errorf("the first failure: %+v", w)
	}
	if w := r.wait(run(), api.Condition{Kind: "anomaly"}, api.Condition{Kind: "text", Text: "never"}); w.Outcome != "fired" || w.Fired[0].Condition.Kind != "anomaly" {
		t.Errorf("the second failure: %+v", w)
	}
	setBad(false)
	if w := r.wait(run(), api.Condition{Kind: "anomaly"}); w.Outcome != "ended" {
		t.Errorf("a good run: %+v", w)
	}
}

// TestRestored_CountsOwnErrors checks that the errors of a program are those since it was restored, not those of its
// earlier run; a new daemon knows that, too.
//
// FEATURES: R127 R82
func TestRestored_CountsOwnErrors(t *testing.T) {
	t.Parallel()
	r := serve(t)
	dir, setBad := build(t)
	setBad(true)
	id := get[api.Session](r, "POST", "/sessions", api.NewSession{Argv: []string{"sh", "build"}, Cwd: dir}).ID
	r.wait(id, api.Condition{Kind: "exit"})
	check := func(when string, errors int) {
		t.Helper()
		v := get[api.Session](r, "GET", "/sessions/"+id, nil)
		if v.Activity != nil && v.Activity.Errors != errors || v.Activity == nil && errors > 0 || v.ProgramFrom >= v.Output.End {
			t.Errorf("%s: %+v, program from %d of %+v; want %d errors", when, v.Activity, v.ProgramFrom, v.Output, errors)
		}
	}
	check("failed", 1)
	setBad(false)
	get[api.Session](r, "POST", "/sessions/"+id+"/restore", api.Restore{Command: true})
	r.wait(id, api.Condition{Kind: "exit"})
	check("restored", 0)
	r.leave()
	r = startDaemon(t, r.dirs)
	check("after a restart of the daemon", 0)
	if v := get[api.Session](r, "GET", "/sessions/"+id, nil); v.ProgramFrom == 0 {
		t.Errorf("%+v", v)
	}
}
