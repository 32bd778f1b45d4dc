package inputqueue

import (
	"bytes"
	"context"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lateDevice is a terminal whose first write is canceled just as it succeeds: its deadline is set late.
type lateDevice struct {
	got     bytes.Buffer
	giveUp  context.CancelFunc // cancels the first write
	setting chan struct{}      // closed when its deadline is about to be set

	mu   sync.Mutex
	past bool // the deadline has passed
}

func (d *lateDevice) TryWrite([]byte) int { return 0 }

func (d *lateDevice) Write(p []byte) (int, error) {
	d.mu.Lock()
	past := d.past
	d.mu.Unlock()
	if past {
		return 0, os.ErrDeadlineExceeded
	}
	if d.giveUp != nil {
		d.giveUp()
		d.giveUp = nil
		<-d.setting
	}
	return d.got.Write(p)
}

func (d *lateDevice) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		close(d.setting)
		time.Sleep(time.Second) // of synctest: all other goroutines run first
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.past = !at.IsZero()
	return nil
}

// TestInput_ContinuesAfterCancelledOne checks that input after a canceled one is typed, however late the cancellation is.
//
// FAULT: B12
func TestInput_ContinuesAfterCancelledOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &lateDevice{giveUp: cancel, setting: make(chan struct{})}
		q := NewQueue(d)
		for i, ctx := range []context.Context{ctx, t.Context(), t.Context()} {
			done, err := q.Add(ctx, []byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("input %d: %v", i, err)
			}
			time.Sleep(2 * time.Second)
		}
		if d.got.String() != "xxx" {
			t.Errorf("typed %q", d.got.String())
		}
	})
}
