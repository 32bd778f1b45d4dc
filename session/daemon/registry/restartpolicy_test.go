//go:build unix

package registry

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// FEATURES: R123
func TestWantsAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		exit   *session.Exit
		want   bool
	}{
		{"always", &session.Exit{}, true},
		{"always", nil, true},
		{"on-failure", &session.Exit{}, false},
		{"on-failure", &session.Exit{Code: 1}, true},
		{"on-failure", &session.Exit{Signal: "KILL"}, true},
		{"on-failure", nil, false},
		{"never", &session.Exit{Code: 1}, false},
		{"often", &session.Exit{Code: 1}, false},
	} {
		if got := shouldRestart(c.policy, c.exit); got != c.want {
			t.Errorf("%s after %+v: %v", c.policy, c.exit, got)
		}
	}
}

// TestKilledInThePause checks that a kill in the pause before a restart, or during its approval, counts like one of a
// running session.
//
// FEATURES: R123
func TestKilledInThePause(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]string{"nobody": "", "in the pause": "pause", "while it is asked": "asked"} {
		t.Run(name, func(t *testing.T) {
			r, h := hosted(t, func(r *Registry) {
				record(t, r, store.Session{
					ID: uuid.NewString(), Name: "flaky", State: "exited", Created: time.Now(), Ended: time.Now(),
					Labels: map[string]string{api.RestartLabel: "always"},
				})
			})
			r.AdoptAll(t.Context(), nil, nil)
			e, err := r.Resolve("flaky")
			if err != nil {
				t.Fatal(err)
			}
			due := func() bool { return r.Describe(e, e.Session.Status()).RestartAt != nil }
			kill := func(at string) {
				if at != when {
					return
				}
				if err := r.Kill(t.Context(), e, 0); err != nil {
					t.Error(err)
				}
				if due() || r.Lives(e) {
					t.Error("the session is ended, and a restart is published")
				}
			}
			asked := false
			r.restarts.check = func(context.Context, *Handle, *api.Restore) error {
				if asked = true; !due() {
					t.Error("an approval is pending, and no restart is published")
				}
				kill("asked")
				return nil
			}
			var start func()
			r.restarts.after = func(_ time.Duration, f func()) { start = f }
			if due() {
				t.Error("nothing was adopted so far, and a restart is published")
			}
			r.RestoreLost(t.Context()) // it ended under a daemon before
			if start == nil {
				t.Fatal("it is not to be started again")
			}
			if !due() || !r.Lives(e) {
				t.Error("the restart is not published")
			}
			kill("pause")
			if stopped := e.Record().Stopped; stopped != (when == "pause") {
				t.Errorf("stopped in the pause: %v", stopped)
			}
			start() // this test has no keeper, which a notice reports
			if due() {
				t.Error("a restart is still published")
			}
			if asked != (when != "pause") || (len(h.notices) > 0) != (when == "") {
				t.Errorf("approval requested: %v, then %q", asked, h.notices)
			}
		})
	}
}

// TestTakenOver checks that the next daemon does the restarts that were due, and no others.
//
// FEATURES: R123
func TestTakenOver(t *testing.T) {
	t.Parallel()
	one, zero := 1, 0
	for name, c := range map[string]struct {
		rec  store.Session
		want bool
	}{
		"failed":      {store.Session{State: "exited", ExitCode: &one, Ended: time.Now()}, true},
		"by a signal": {store.Session{State: "exited", Signal: "SIGKILL", Ended: time.Now()}, true},
		"well":        {store.Session{State: "exited", ExitCode: &zero, Ended: time.Now()}, false},
		"by somebody": {store.Session{State: "exited", ExitCode: &one, Ended: time.Now(), Stopped: true}, false},
		"long ago":    {store.Session{State: "exited", ExitCode: &one, Ended: time.Now().Add(-time.Hour)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := hosted(t, func(r *Registry) {
				c.rec.ID, c.rec.Name, c.rec.Created = uuid.NewString(), "flaky", time.Now()
				c.rec.Labels = map[string]string{api.RestartLabel: "on-failure"}
				record(t, r, c.rec)
			})
			r.AdoptAll(t.Context(), nil, nil)
			asked := false
			r.restarts.after = func(time.Duration, func()) { asked = true }
			if r.RestoreLost(t.Context()); asked != c.want {
				t.Errorf("restart scheduled: %v", asked)
			}
			e, err := r.Resolve("flaky")
			if err != nil {
				t.Fatal(err)
			}
			if r.KillAll(); c.want && !e.Record().Stopped {
				t.Error("all was ended, and the next daemon starts it")
			}
		})
	}
}
