//go:build unix

package registry

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestShareOfFollowing checks that output of live sessions has priority: a reader that is far behind uses less of a
// core.
func TestShareOfFollowing(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		behind uint64
		prints bool
		want   float64
	}{{0, true, followShare}, {floodLag, true, followShare}, {floodLag + 1, true, floodShare}, {floodLag + 1, false, followShare}} {
		if got := shareOfFollowing(s.behind, s.prints); got != s.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

// TestShareOfATaskThatEnds checks that after a task's end its remaining output is read at full speed, however much it
// is.
func TestShareOfATaskThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		defer e.Session.Stop()
		printed("x")
		synctest.Wait()
		f := &watcher{e: e}
		for ending, want := range map[bool]float64{false: floodShare, true: followShare} {
			if f.ending = ending; f.share(2*floodLag) != want {
				t.Errorf("ending %v: %v", ending, f.share(2*floodLag))
			}
		}
	})
}

// TestShareOfIndexing checks that indexing has the same limit, unless a caller waits for it.
func TestShareOfIndexing(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		wanted bool
		quiet  time.Duration
		want   float64
	}{{false, 0, floodShare}, {false, indexAfter, indexShare}, {true, 0, indexShare}} {
		if got := shareOfIndexing(s.wanted, s.quiet); got != s.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}
