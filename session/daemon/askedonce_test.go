//go:build unix

package daemon

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/store"
)

// TestALostSessionAsksOnce checks that the restart of a lost session's program is requested once: later daemons have
// the same approval while it is pending, and a rejection counts under all of them.
//
// FEATURES: R63
func TestALostSessionAsksOnce(t *testing.T) {
	t.Parallel()
	r := serve(t)
	r.leave()
	s, err := store.Open(r.dirs.Database())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ran")
	began := time.Now().Add(-time.Hour)
	err = s.CreateSession(t.Context(), store.Session{
		ID: uuid.NewString(), Name: "gone", Argv: []string{"sh", "-c", "echo ran >> " + file}, Cwd: filepath.Dir(file), Cols: 80, Rows: 24,
		State: "lost", Restore: "command", Policy: "readonly", Created: began, Started: began, Ended: began.Add(time.Minute),
	})
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	next := startDaemon(t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel
	// waits returns the pending approval, or "" once the session is known to stay as it is.
	waits := func() string {
		t.Helper()
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for range 6000 {
			if list := get[[]api.Approval](r, "GET", "/approvals", nil); len(list) > 0 {
				return list[0].ID
			}
			if slices.ContainsFunc(get[api.Status](r, "GET", "/status", nil).Notices, func(n string) bool { return strings.Contains(n, "session gone did not come back") }) {
				return ""
			}
			<-look.C
		}
		t.Fatal("no approval request, and no event")
		return ""
	}
	first := waits()
	if first == "" {
		t.Fatal("no approval request")
	}
	r.again()
	if id := waits(); id != first {
		t.Fatalf("approval request %q, want %q", id, first)
	}
	r.answer(first, "reject", "")
	if id := waits(); id != "" {
		t.Errorf("rejected, and request %s is pending", id)
	}
	r.again()
	if id := waits(); id != "" {
		t.Errorf("rejected, and requested again under the next daemon as %s", id)
	}
	if n := ran(t, file); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

// TestAskingAgain checks that the id of such a request depends on one end of one session, and on the words.
func TestAskingAgain(t *testing.T) {
	t.Parallel()
	end := time.Unix(5, 6)
	a := authorize.Request{Session: "s", Argv: []string{"make"}, Cwd: "/"}
	id := restartRequestID(&a, end)
	if again := restartRequestID(&a, time.Unix(5, 6)); again != id || !strings.Contains(id, ":") {
		t.Errorf("%s, then %s", id, again)
	}
	other := a
	other.Argv = []string{"make", "install"}
	for what, got := range map[string]string{
		"another end": restartRequestID(&a, end.Add(1)), "other words": restartRequestID(&other, end), "an end that is not known": restartRequestID(&a, time.Time{}),
	} {
		if got == id {
			t.Errorf("%s has the same id", what)
		}
	}
	if one, two := restartRequestID(&a, time.Time{}), restartRequestID(&a, time.Time{}); one == two {
		t.Error("unknown ends are treated as one")
	}
}
