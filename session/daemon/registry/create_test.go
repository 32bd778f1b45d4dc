//go:build unix

package registry

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/store"
)

// TestOwners_StartAfterTheAnswer checks that a new session's work after its start does not delay the answer, and is
// done before the daemon ends at the latest.
//
// FEATURES: R90
func TestOwners_StartAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRegistry(t)
		rec := store.Session{ID: "s", Name: "s", State: "running", Created: time.Now()}
		record(t, r, rec)
		e := NewHandle(rec)
		e.rec.PID = 42
		var begun atomic.Bool
		r.startOwnerLater(e, func() { begun.Store(true) })
		synctest.Wait()
		if pid := recordedPID(t, r, "s"); begun.Load() || pid != 0 {
			t.Errorf("while the answer is being written the owner has started: %v, the pid is recorded: %d", begun.Load(), pid)
		}
		r.StopAll()
		if pid := recordedPID(t, r, "s"); !begun.Load() || pid != 42 {
			t.Errorf("when the daemon has ended the owner has started: %v, the pid is recorded: %d", begun.Load(), pid)
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

// TestStartsAreGivenUp checks that a start is canceled within seconds when its caller disconnects, and when the keeper
// is stopped; not when the daemon leaves, or the keeper is slow.
//
// FEATURES: R90
func TestStartsAreGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		goes, leaving, outlives bool
		stopped                 func(since time.Duration) bool
		ends                    time.Duration // 0: it does not
	}{
		"its caller goes":         {goes: true, ends: time.Second},
		"the daemon leaves":       {goes: true, leaving: true},
		"it is a job's":           {goes: true, outlives: true},
		"the keeper is stopped":   {stopped: func(time.Duration) bool { return true }, ends: 4500 * time.Millisecond},
		"it is stopped later":     {stopped: func(d time.Duration) bool { return d > 10*time.Second }, ends: 12 * time.Second},
		"it is stopped at times":  {stopped: func(d time.Duration) bool { return d%time.Second == 0 }},
		"the keeper takes longer": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				isStopped := func(int) bool { return c.stopped != nil && c.stopped(time.Since(began)) }
				r := testRegistry(t)
				r.host = leavingHost{r.host, c.leaving}
				caller, goes := context.WithCancel(t.Context())
				defer goes()
				if c.goes {
					time.AfterFunc(time.Second, goes)
				}
				ctx, over := r.withCallerContext(caller, Call{outlives: c.outlives})
				defer over()
				ctx, overToo := unlessStopped(ctx, func() int { return 7 }, isStopped)
				defer overToo()
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
				if took := time.Since(began); c.ends == 0 && ctx.Err() != nil || c.ends > 0 && took != c.ends {
					t.Errorf("after %s: %v", took, context.Cause(ctx))
				}
				err := stoppedOr(ctx, errors.New("slow"))
				if is := strings.Contains(err.Error(), "keeper (process 7) is stopped"); is != (c.ends > time.Second) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// leavingHost is a daemon that leaves, or does not.
type leavingHost struct {
	Host
	leaving bool
}

func (h leavingHost) IsStopping() bool { return h.leaving }
