//go:build unix

package store

import (
	"errors"
	"os"
	"testing"
	"time"
)

// TestNotedEnd checks that a recorded end applies to one process: not to the one before, nor to the next.
func TestNotedEnd(t *testing.T) {
	dir, code, at := t.TempDir(), 3, time.Now().Round(0)
	if rec := (Session{State: "running", PID: 7, Started: at}); ApplyEnd(dir, &rec) {
		t.Errorf("without a record: %+v", rec)
	}
	for range 2 { // the second time it exists
		if err := NoteEnd(dir, &Session{PID: 7, Started: at, Ended: at.Add(1), State: "exited", ExitCode: &code, Stopped: true}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		rec  Session
		want bool
	}{
		"it":                  {Session{State: "running", PID: 7, Created: at, Started: at}, true},
		"its pid was refused": {Session{State: "running", Created: at.Add(-1)}, true},
		"made later":          {Session{State: "running", Created: at.Add(1)}, false},
		"another process":     {Session{State: "running", PID: 8, Started: at}, false},
		"the same number":     {Session{State: "running", PID: 7, Started: at.Add(1)}, false},
		"recorded":            {Session{State: "exited", PID: 7, Started: at}, false},
	} {
		if got := ApplyEnd(dir, &c.rec); got != c.want || got && (c.rec.State != "exited" || *c.rec.ExitCode != 3 || !c.rec.Stopped || !c.rec.Started.Equal(at)) {
			t.Errorf("%s: %v, %+v", name, got, c.rec)
		}
	}
	for _, text := range []string{"v2:7:1:exited:1:3::true", "v1", "v1:x:1:exited:1:3::true", "v1:7:!:exited:1:3::true", "v1:7:1:exited:!:3::true"} {
		if err := errors.Join(os.Remove(endFile(dir)), os.Symlink(text, endFile(dir))); err != nil {
			t.Fatal(err)
		}
		if rec := (Session{State: "running", PID: 7}); ApplyEnd(dir, &rec) {
			t.Errorf("%q: %+v", text, rec)
		}
	}
}
