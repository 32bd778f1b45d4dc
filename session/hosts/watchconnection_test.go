//go:build unix

package hosts

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeConn is a connection whose end is not detected without a probe.
type fakeConn struct {
	dead   bool
	once   sync.Once
	closed chan struct{}
}

func (p *fakeConn) CloseChan() <-chan struct{} { return p.closed }

func (p *fakeConn) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *fakeConn) Ping() (time.Duration, error) {
	if p.dead {
		<-p.closed
		return 0, errors.New("no answer")
	}
	return time.Millisecond, nil
}

// TestWatchConnection_AddressChange checks that after a change of this machine's addresses, a dead connection is closed
// within the time of one probe, and one that responds continues.
//
// FEATURES: R113
func TestWatchConnection_AddressChange(t *testing.T) {
	for name, dead := range map[string]bool{"dead": true, "alive": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				p := &fakeConn{dead: dead, closed: make(chan struct{})}
				defer p.Close()
				var moved atomic.Bool
				ended := make(chan time.Time, 1)
				go func() {
					watchConnection(ctx, p, func() string {
						if moved.Load() {
							return "10.0.0.2"
						}
						return "10.0.0.1"
					})
					ended <- time.Now()
				}()
				time.Sleep(90*time.Second + time.Second/2) // of the bubble's clock: between two checks
				moved.Store(true)
				at := time.Now()
				if took := (<-ended).Sub(at); dead && took > time.Second+probeTime || !dead && took < 50*time.Minute {
					t.Errorf("got an end after %v", took)
				}
			})
		})
	}
}
