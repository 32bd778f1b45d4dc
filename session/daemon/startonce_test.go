//go:build unix

package daemon

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestASessionIsStartedOnce checks that a session is started once per id, also for two concurrent requests and under
// later daemons. A different request with that id is rejected. A removed session does not count.
//
// FEATURES: R88
func TestASessionIsStartedOnce(t *testing.T) {
	t.Parallel()
	r, file := serve(t), filepath.Join(t.TempDir(), "ran")
	n := api.NewSession{Name: "once", Line: "echo ran >> " + file + "; exec sleep 1000", AskID: "call-1"}
	var first, second api.Session
	var both sync.WaitGroup
	for _, v := range []*api.Session{&first, &second} {
		both.Go(func() { *v = get[api.Session](r, "POST", "/sessions", n) })
	}
	both.Wait()
	if first.ID == "" || first.ID != second.ID {
		t.Fatalf("%s and %s", first.ID, second.ID)
	}
	r.again()
	n.Cols = 100 // of the caller's terminal
	if again := get[api.Session](r, "POST", "/sessions", n); again.ID != first.ID || again.State != "running" {
		t.Errorf("under the next daemon it is %s, %s", again.ID, again.State)
	}
	other := n
	other.Line = "true"
	if e := r.refused("POST", "/sessions", other); e.Code != api.CodeIDTaken {
		t.Errorf("another line under the id: %+v", e)
	}
	get[any](r, "DELETE", "/sessions/once?force=true", nil)
	if again := get[api.Session](r, "POST", "/sessions", n); again.ID == first.ID {
		t.Error("a removed session is answered with")
	}
	r.wait("once", api.Condition{Kind: "quiet", QuietMS: 100})
	if got := ran(t, file); got != 2 {
		t.Errorf("it ran %d times", got)
	}
}
