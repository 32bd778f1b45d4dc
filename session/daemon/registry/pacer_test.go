//go:build unix

package registry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Reading rests in proportion to all its work, however small the parts of it are.
func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var p pacer
		began := time.Now()
		for range 100 {
			if err := p.rest(ctx, time.Millisecond, 0.25); err != nil {
				t.Fatal(err)
			}
		}
		if rested := time.Since(began); rested != 300*time.Millisecond {
			t.Errorf("100 ms of work at a quarter of a core: %v of rest, want 300ms", rested)
		}
		began = time.Now()
		if err := p.rest(ctx, time.Second, 1); err != nil || time.Since(began) != 0 {
			t.Errorf("all of a core: %v after %v", err, time.Since(began))
		}
		cancel()
		if err := p.rest(ctx, time.Hour, 0.1); !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("ended: %v after %v", err, time.Since(began))
		}
	})
}

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
