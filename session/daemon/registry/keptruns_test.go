//go:build unix

package registry

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// TestKeepRun_RemovedAfterADay checks that the session of a kept command stays for a day, gives its name to a new
// session, and is removed then.
//
// FAULT: G14
func TestKeepRun_RemovedAfterADay(t *testing.T) {
	t.Parallel()
	r := histories(t, "other", "make")
	e, err := r.Resolve("make")
	if err != nil {
		t.Fatal(err)
	}
	r.Save(e, func(rec *store.Session) { rec.Temporary, rec.Ended = true, time.Now() })
	r.KeepRun(e)
	if e.IsTemporary() || !e.IsKeptRun() {
		t.Fatalf("%+v", e.Record())
	}
	if _, lasting := r.LabelsOf(e.ID()); lasting {
		t.Error("it counts as a session that stays")
	}
	r.freeName("make")
	if name := e.Record().Name; name != "make-"+api.ShortID(e.ID()) {
		t.Errorf("it is called %q", name)
	}
	r.freeName("other")
	if names := namesOf(r); names[0] != "other" {
		t.Errorf("%v", names)
	}
	ended := e.Session.Status().Ended
	for _, c := range []struct {
		after time.Duration
		left  int
	}{{keptRunTime, 2}, {keptRunTime + time.Second, 1}} {
		if _, err := r.Maintenance.Prune(t.Context(), ended.Add(c.after), Budget{}); err != nil || len(r.All()) != c.left {
			t.Errorf("after %v: %v, %v", c.after, namesOf(r), err)
		}
	}
}

// TestResolve_ByJob checks that a job's id names its session for reads. For ending it does only if the session is the
// job's own.
//
// FAULT: G14
func TestResolve_ByJob(t *testing.T) {
	t.Parallel()
	r := histories(t, "shell", "run")
	id := func(name string) string {
		e, err := r.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		return e.ID()
	}
	shell, run := id("shell"), id("run")
	r.JobSession = func(ref string) (string, bool) {
		switch {
		case strings.HasPrefix("zzzz-line", ref):
			return shell, false
		case strings.HasPrefix("zzzz-run", ref):
			return run, true
		case ref == "zzzz-gone":
			return "gone", true
		}
		return "", false
	}
	for ref, want := range map[string]string{"zzzz-line": shell, "zzzz-l": shell, "zzzz-run": run} {
		if e, err := r.Resolve(ref); err != nil || e.ID() != want {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if e, err := r.ResolveToEnd("zzzz-run"); err != nil || e.ID() != run {
		t.Errorf("%v", err)
	}
	for ref, hint := range map[string]string{"zzzz-line": "longterm ls", "zzzz-gone": "--keep", "zzz": "longterm ls", "zzzz-other": "longterm ls"} {
		var e *api.Error
		if _, err := r.ResolveToEnd(ref); !errors.As(err, &e) || e.Code != api.CodeNotFound || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
