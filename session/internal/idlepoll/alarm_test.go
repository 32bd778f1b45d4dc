package idlepoll

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Alarms come in order, at their time; at rest with the beat, and at once when something happens.
//
// FEATURES: R90
func TestAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pace{After: 4 * time.Second}
		p.AllowIdle(true)
		count(t, p.Ticker(time.Second))
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
		b.Set(began.Add(1500 * time.Millisecond)) // another time than before
		if got := took(4 * time.Second); !slices.Equal(got, []time.Duration{1500 * time.Millisecond, 3 * time.Second}) {
			t.Errorf("they rang at %v", got)
		}
		time.Sleep(2 * time.Second)
		if !p.IsIdle() {
			t.Fatal("it does not rest")
		}
		a.Set(began.Add(7 * time.Second))
		b.Set(began.Add(12 * time.Second))
		if got := took(15 * time.Second); !slices.Equal(got, []time.Duration{beat, 2 * beat}) {
			t.Errorf("at rest they rang at %v", got)
		}
		a.Set(time.Now().Add(time.Second)) // 22, at rest 30
		time.Sleep(5 * time.Second)
		p.NoteActivity()
		synctest.Wait()
		mu.Lock()
		got := rang[len(rang)-1]
		mu.Unlock()
		if got != 26*time.Second {
			t.Errorf("what was due when something happened rang at %v", got)
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
			t.Errorf("one that is set by its call rang %d times", again.Load())
		}
	}) // its goroutine has ended: none is set
}
