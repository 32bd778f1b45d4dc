package idlepoll

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAlarms checks that alarms fire at their time, while idle with the common tick, and at once after activity.
//
// FEATURES: R90
func TestAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Poller{IdleAfter: 4 * time.Second}
		p.AllowIdle(true)
		countTicks(t, p.Ticker(time.Second))
		began := time.Now()
		var mu sync.Mutex
		var rang []time.Duration
		alarm := func() *Alarm {
			return p.Alarm(func() {
				mu.Lock()
				defer mu.Unlock()
				rang = append(rang, time.Since(began))
			})
		}
		took := func(d time.Duration) []time.Duration {
			synctest.Wait()
			mu.Lock()
			before := len(rang)
			mu.Unlock()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return rang[before:]
		}
		a, b, c := alarm(), alarm(), alarm()
		a.Set(began.Add(3 * time.Second))
		b.Set(began.Add(time.Second))
		c.Set(began.Add(2 * time.Second))
		c.Stop()
		c.Stop()
		b.Set(began.Add(1500 * time.Millisecond)) // changed
		if got := took(4 * time.Second); !slices.Equal(got, []time.Duration{1500 * time.Millisecond, 3 * time.Second}) {
			t.Errorf("fired at %v", got)
		}
		time.Sleep(2 * time.Second)
		if !p.IsIdle() {
			t.Fatal("not idle")
		}
		a.Set(began.Add(7 * time.Second))
		b.Set(began.Add(12 * time.Second))
		if got := took(15 * time.Second); !slices.Equal(got, []time.Duration{idleInterval, 2 * idleInterval}) {
			t.Errorf("while idle fired at %v", got)
		}
		a.Set(time.Now().Add(time.Second)) // 22 s; idle: 30 s
		time.Sleep(5 * time.Second)
		p.NoteActivity()
		synctest.Wait()
		mu.Lock()
		got := rang[len(rang)-1]
		mu.Unlock()
		if got != 26*time.Second {
			t.Errorf("alarm due during the idle time fired at %v", got)
		}
		a.Set(time.Now()) // a call sets the next one
		var again atomic.Int32
		var d *Alarm
		d = p.Alarm(func() {
			if again.Add(1) < 3 {
				d.Set(time.Now().Add(time.Second))
			}
		})
		d.Set(time.Now())
		if took(5 * time.Second); again.Load() != 3 {
			t.Errorf("alarm that its call sets again fired %d times, want 3", again.Load())
		}
	}) // the goroutine has ended: no alarm is set
}
