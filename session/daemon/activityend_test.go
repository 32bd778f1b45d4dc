//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestActivity_IsNotRunning_AfterExit checks that the session in the answer of a wait for its exit has no running activity.
//
// FEATURES: R82
func TestActivity_IsNotRunning_AfterExit(t *testing.T) {
	t.Parallel()
	d := serve(t)
	for range tier.Times(1, 5) {
		s := get[api.Session](d, "POST", "/sessions", api.NewSession{Argv: []string{"/bin/sh", "-c", "read x; exit 3"}})
		for a := (*api.Activity)(nil); a == nil || !a.Running; { // a short one is not observed
			a = get[api.Session](d, "GET", "/sessions/"+s.ID, nil).Activity
		}
		w := get[api.Waited](d, "POST", "/sessions/"+s.ID+"/wait", api.Wait{Conds: []api.Condition{{Kind: "exit"}}, Input: &api.Input{Text: "x", Enter: true}})
		if a := w.Session.Activity; w.Session.State != "exited" || a == nil || a.Running || a.Due != nil {
			t.Errorf("%s: %+v", w.Session.State, a)
		}
	}
}

// TestListeners_SeeCommandEnd checks that a listener that got the start of a command also gets its end, even if its
// output is read late: the events of its end and of the prompt may come first.
//
// FEATURES: R82 R112
func TestListeners_SeeCommandEnd(t *testing.T) {
	t.Parallel()
	d := serve(t)
	dir := t.TempDir()
	bashSession(t, d, "one", dir)
	for n := range 5 {
		events := d.events(t)
		d.ask("POST", "/sessions/one/input", map[string]any{"text": "until [ -e go ]; do sleep 0.01; done; rm go", "enter": true})
		until(t, events, "it runs", func(e *api.Event) bool {
			return e.Session != nil && e.Kind == "shell" && e.Session.Shell.Phase == "running"
		})
		number := 0
		for number == 0 { // a short one is not observed
			if a := get[api.Session](d, "GET", "/sessions/one", nil).Activity; a != nil && a.Running {
				number = a.N
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		over := time.After(time.Minute)
		for prompt, ended := false, false; !prompt || !ended; {
			select {
			case e := <-events:
				if s := e.Session; s != nil {
					prompt = prompt || e.Kind == "shell" && s.Shell != nil && s.Shell.Phase == "prompt"
					ended = s.Activity != nil && s.Activity.N == number && !s.Activity.Running
				}
			case <-over:
				t.Fatalf("round %d: by the last event the command runs, at a prompt: %v", n, prompt)
			}
		}
	}
}
