//go:build unix

package registry

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/store"
)

// What a new session goes on with does not compete with its answer, and is done all the same, before the daemon leaves at the latest.
//
// FEATURES: R90
func TestOwnersBeginBehindTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRegistry(t)
		rec := store.Session{ID: "s", Name: "s", State: "running", Created: time.Now()}
		record(t, r, rec)
		e := NewHandle(rec)
		e.rec.PID = 42
		var begun atomic.Bool
		r.beginLater(e, func() { begun.Store(true) })
		synctest.Wait()
		if pid := recordedPID(t, r, "s"); begun.Load() || pid != 0 {
			t.Errorf("while the answer is on its way the owner has begun: %v, the pid is recorded: %d", begun.Load(), pid)
		}
		r.StopAll()
		if pid := recordedPID(t, r, "s"); !begun.Load() || pid != 42 {
			t.Errorf("when the daemon has left the owner has begun: %v, the pid is recorded: %d", begun.Load(), pid)
		}
	})
}

func recordedPID(t *testing.T, r *Registry, id string) int {
	t.Helper()
	s, err := r.store.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s.PID
}
