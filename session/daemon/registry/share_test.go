//go:build unix

package registry

import (
	"testing"
	"testing/synctest"
	"time"
)

// Who prints comes first: reading that is far behind takes less of a core.
func TestShareOfFollowing(t *testing.T) {
	for _, s := range []struct {
		behind uint64
		prints bool
		want   float64
	}{{0, true, followShare}, {flood, true, followShare}, {flood + 1, true, floodShare}, {flood + 1, false, followShare}} {
		if got := shareOfFollowing(s.behind, s.prints); got != s.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

// Once a task is over it is read to its end as any other is, however much of it is left.
func TestShareOfATaskThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		defer e.Session.Stop()
		printed("x")
		synctest.Wait()
		f := &watcher{e: e}
		for ending, want := range map[bool]float64{false: floodShare, true: followShare} {
			if f.ending = ending; f.share(2*flood) != want {
				t.Errorf("ending %v: %v", ending, f.share(2*flood))
			}
		}
	})
}

// So does indexing, unless somebody waits for it.
func TestShareOfIndexing(t *testing.T) {
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
