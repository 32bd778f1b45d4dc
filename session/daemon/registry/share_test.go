//go:build unix

package registry

import (
	"testing"
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
