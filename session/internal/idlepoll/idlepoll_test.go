package idlepoll

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// countTicks counts a ticker's ticks until the test ends.
func countTicks(t *testing.T, at *Ticker) (n *atomic.Int64) {
	n = new(atomic.Int64)
	end := make(chan struct{})
	t.Cleanup(func() { close(end); at.Stop() })
	go func() {
		for {
			select {
			case <-at.C():
				at.Next()
				n.Add(1)
			case <-end:
				return
			}
		}
	}()
	return n
}

// ticksIn returns the number of ticks in a time.
func ticksIn(n *atomic.Int64, d time.Duration) int64 {
	synctest.Wait()
	before := n.Load()
	time.Sleep(d)
	synctest.Wait()
	return n.Load() - before
}

// TestIdlePolling checks the intervals while active, while idle, and after new activity.
//
// FEATURES: R90
func TestIdlePolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Poller
		p.AllowIdle(true)
		second, minute := countTicks(t, p.Ticker(time.Second)), countTicks(t, p.Ticker(time.Minute))
		if n := ticksIn(second, idleAfter); n < 11 || p.IsIdle() {
			t.Errorf("%d ticks in the first seconds, idle: %v", n, p.IsIdle())
		}
		time.Sleep(2 * time.Second)
		if !p.IsIdle() {
			t.Fatal("not idle without activity")
		}
		if n := ticksIn(second, 10*idleInterval); n != 10 {
			t.Errorf("got %d ticks in ten idle intervals", n)
		}
		if n := ticksIn(minute, time.Hour); n != 60 {
			t.Errorf("got %d ticks of a minute's ticker in an hour", n)
		}
		p.NoteActivity()
		if p.IsIdle() {
			t.Error("idle after activity")
		}
		if n := ticksIn(second, 5*time.Second); n != 5 {
			t.Errorf("got %d ticks in five seconds after activity", n)
		}
		for range 60 { // continuous activity
			p.NoteActivity()
			if n := ticksIn(second, time.Second); n != 1 {
				t.Fatalf("got %d ticks in a second", n)
			}
		}
	})
}

// TestActivity_DuringSlowdown_EndsSlowdown checks activity between the check for activity and the switch to idle. Its caller
// did not see the idle state, so enterIdle must notice it.
//
// FEATURES: R90
func TestActivity_DuringSlowdown_EndsSlowdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Poller
		p.AllowIdle(true)
		second := countTicks(t, p.Ticker(time.Second))
		p.NoteActivity()
		p.mu.Lock()
		if p.enterIdle(); p.IsIdle() {
			t.Error("idle after activity")
		}
		p.mu.Unlock()
		if n := ticksIn(second, 5*time.Second); n != 5 {
			t.Errorf("got %d ticks in five seconds", n)
		}
	})
}

func TestNoSlowdown_UnlessEnabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Poller
		n := countTicks(t, p.Ticker(time.Second))
		if n := ticksIn(n, time.Minute); n < 59 || p.IsIdle() {
			t.Errorf("got %d ticks in a minute", n)
		}
		p.AllowIdle(true)
		time.Sleep(time.Minute)
		if p.AllowIdle(false); p.IsIdle() {
			t.Error("idle though activity is not reported")
		}
		if n := ticksIn(n, time.Minute); n < 59 {
			t.Errorf("got %d ticks in a minute after AllowIdle(false)", n)
		}
		var none *Poller
		none.NoteActivity()
	})
}

// TestIdlePolling_KeepsPhase checks that while idle a late ticker follows the others, and a reset one keeps the phase.
func TestIdlePolling_KeepsPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Poller{IdleAfter: time.Second, IdleInterval: 3 * time.Second}
		p.AllowIdle(true)
		began := time.Now()
		one, late, set := p.Ticker(time.Second), p.LateTicker(2*time.Second, time.Second/2), p.Ticker(time.Hour)
		set.Reset(1700 * time.Millisecond)
		var at [3][]time.Duration
		for range 40 {
			for i, tick := range []*Ticker{one, late, set} {
				select {
				case <-tick.C():
					tick.Next()
					at[i] = append(at[i], time.Since(began))
				default:
				}
			}
			time.Sleep(time.Second / 2)
		}
		for i, want := range [][]time.Duration{{6, 9, 12, 15, 18}, {6.5e9, 9.5e9, 12.5e9, 15.5e9, 18.5e9}, {6, 9, 12, 15, 18}} {
			for j := range want {
				if want[j] < time.Second {
					want[j] *= time.Second
				}
				if !slices.Contains(at[i], want[j]) {
					t.Errorf("ticker %d ticked at %v, not at %v", i, at[i], want[j])
				}
			}
			if n := len(at[i]); n > 10 {
				t.Errorf("ticker %d ticked %d times in 20 s", i, n)
			}
		}
		for _, tick := range []*Ticker{one, late, set} {
			tick.Stop()
		}
		p.NoteActivity()
		time.Sleep(time.Minute)
		if len(one.C()) > 0 {
			t.Error("a stopped ticker ticks")
		}
	})
}
