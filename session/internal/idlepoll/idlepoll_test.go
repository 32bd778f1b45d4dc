package idlepoll

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// count has a ticker's ticks counted until the test ends.
func count(t *testing.T, at *Ticker) (n *atomic.Int64) {
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

// took is how many ticks there were in a time.
func took(n *atomic.Int64, d time.Duration) int64 {
	synctest.Wait()
	before := n.Load()
	time.Sleep(d)
	synctest.Wait()
	return n.Load() - before
}

// What is looked at every second while something happens is looked at with the beat once nothing does, and at once again.
//
// FEATURES: R90
func TestIdlePolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		p.AllowIdle(true)
		second, minute := count(t, p.Ticker(time.Second)), count(t, p.Ticker(time.Minute))
		if n := took(second, after); n < 11 || p.IsIdle() {
			t.Errorf("%d looks in the first seconds, at rest: %v", n, p.IsIdle())
		}
		time.Sleep(2 * time.Second)
		if !p.IsIdle() {
			t.Fatal("it does not rest though nothing happens")
		}
		if n := took(second, 10*beat); n != 10 {
			t.Errorf("%d looks in ten beats", n)
		}
		if n := took(minute, time.Hour); n != 60 {
			t.Errorf("%d looks in an hour at what is looked at every minute", n)
		}
		p.NoteActivity()
		if p.IsIdle() {
			t.Error("it rests though something happened")
		}
		if n := took(second, 5*time.Second); n != 5 {
			t.Errorf("%d looks in five seconds after something happened", n)
		}
		for range 60 { // things go on happening
			p.NoteActivity()
			if n := took(second, time.Second); n != 1 {
				t.Fatalf("%d looks in a second", n)
			}
		}
	})
}

// What happens between the look that finds that nothing has and the rest that follows from it ends that rest: whoever stirred
// it did not see it, and wakes nobody.
//
// FEATURES: R90
func TestActivity_DuringSlowdown_EndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		p.AllowIdle(true)
		second := count(t, p.Ticker(time.Second))
		p.NoteActivity()
		p.mu.Lock()
		if p.enterIdle(); p.IsIdle() {
			t.Error("it rests though something happened")
		}
		p.mu.Unlock()
		if n := took(second, 5*time.Second); n != 5 {
			t.Errorf("%d looks in five seconds", n)
		}
	})
}

func TestNoSlowdown_UnlessEnabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		n := count(t, p.Ticker(time.Second))
		if n := took(n, time.Minute); n < 59 || p.IsIdle() {
			t.Errorf("%d looks in a minute", n)
		}
		p.AllowIdle(true)
		time.Sleep(time.Minute)
		if p.AllowIdle(false); p.IsIdle() {
			t.Error("it rests though nobody tells any more")
		}
		if n := took(n, time.Minute); n < 59 {
			t.Errorf("%d looks in a minute after nobody tells any more", n)
		}
		var none *Pace
		none.NoteActivity()
	})
}

// At rest a late one comes after all others, and what was set to another time keeps the beat.
func TestIdlePolling_KeepsPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pace{After: time.Second, Beat: 3 * time.Second}
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
					t.Errorf("ticker %d came at %v, not at %v", i, at[i], want[j])
				}
			}
			if n := len(at[i]); n > 10 {
				t.Errorf("ticker %d came %d times in 20 s", i, n)
			}
		}
		for _, tick := range []*Ticker{one, late, set} {
			tick.Stop()
		}
		p.NoteActivity()
		time.Sleep(time.Minute)
		if len(one.C()) > 0 {
			t.Error("a stopped one ticks")
		}
	})
}
