package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSnapshotPool checks that buffers are reused, the largest first, and freed when unused.
func TestSnapshotPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := snapshotPool{limit: 2, maxIdle: 5 * time.Second}
		small, large, third := make([]byte, 10, 100), make([]byte, 10, 1000), make([]byte, 0, 5000)
		r.put(&small)
		r.put(&large)
		r.put(&third) // no space for it
		if b := r.get(); b != &large || len(*b) != 0 {
			t.Errorf("got %p with %d bytes, want %p with none", b, len(*b), &large)
		}
		time.Sleep(4 * time.Second)
		r.put(&large)
		time.Sleep(4 * time.Second) // since the last put, not the first
		if b := r.get(); b != &large {
			t.Error("a buffer in use was freed")
		}
		if b := r.get(); b != &small {
			t.Error("the other buffer is missing")
		}
		if b := r.get(); cap(*b) != 0 {
			t.Errorf("a third buffer has %d bytes", cap(*b))
		}
		r.put(&small)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if b := r.get(); cap(*b) != 0 {
			t.Error("an unused buffer is kept")
		}
	})
}
