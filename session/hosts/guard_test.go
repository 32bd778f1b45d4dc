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

// probed is a connection of which nobody is told that it is dead.
type probed struct {
	dead   bool
	once   sync.Once
	closed chan struct{}
}

func (p *probed) CloseChan() <-chan struct{} { return p.closed }

func (p *probed) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *probed) Ping() (time.Duration, error) {
	if p.dead {
		<-p.closed
		return 0, errors.New("no answer")
	}
	return time.Millisecond, nil
}

// A change of this machine's addresses has a connection that is dead be given up within the time of one probe, long before
// anybody else finds out; one that still answers goes on.
//
// FEATURES: R113
func TestAddressesChange(t *testing.T) {
	for name, dead := range map[string]bool{"dead": true, "alive": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				p := &probed{dead: dead, closed: make(chan struct{})}
				defer p.Close()
				var moved atomic.Bool
				ended := make(chan time.Time, 1)
				go func() {
					guard(ctx, p, func() string {
						if moved.Load() {
							return "10.0.0.2"
						}
						return "10.0.0.1"
					})
					ended <- time.Now()
				}()
				time.Sleep(90*time.Second + time.Second/2) // of the bubble's clock: between two looks
				moved.Store(true)
				at := time.Now()
				if took := (<-ended).Sub(at); dead && took > time.Second+probeTime || !dead && took < 50*time.Minute {
					t.Errorf("it went on for %v", took)
				}
			})
		})
	}
}
