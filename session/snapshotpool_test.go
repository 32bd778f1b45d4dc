package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// Buffers of snapshots are reused, the largest first, and freed when unused.
func TestSnapshotRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := snapshotPool{limit: 2, keep: 5 * time.Second}
		small, large, third := make([]byte, 10, 100), make([]byte, 10, 1000), make([]byte, 0, 5000)
		r.give(&small)
		r.give(&large)
		r.give(&third) // no space for it
		if b := r.take(); b != &large || len(*b) != 0 {
			t.Errorf("the first is %p with %d bytes, want %p with none", b, len(*b), &large)
		}
		time.Sleep(4 * time.Second)
		r.give(&large)
		time.Sleep(4 * time.Second) // since it was given, not since the first was
		if b := r.take(); b != &large {
			t.Error("what is used again and again is given up")
		}
		if b := r.take(); b != &small {
			t.Error("the other one is not there")
		}
		if b := r.take(); cap(*b) != 0 {
			t.Errorf("one more has %d bytes", cap(*b))
		}
		r.give(&small)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if b := r.take(); cap(*b) != 0 {
			t.Error("what nobody wanted is kept")
		}
	})
}
