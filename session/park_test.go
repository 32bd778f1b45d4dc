package session

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/store/journal"
)

// awaitParked waits, by the bubble's clock, until the owner has no goroutine.
func awaitParked(t *testing.T, s *Session, after string) {
	t.Helper()
	time.Sleep(time.Minute)
	synctest.Wait()
	if !s.parking.parked.Load() {
		t.Fatalf("%s: the owner does not park", after)
	}
}

// unparkCauses lists what unparks an owner. Each causes it, and checks the effect.
var unparkCauses = map[string]func(t *testing.T, f *fixture){
	"output": func(t *testing.T, f *fixture) {
		f.print(f.Session, "hello\r\n")
		synctest.Wait()
		if at := f.Status().Offset; at != uint64(len("hello\r\n")) {
			t.Errorf("offset %d", at)
		}
	},
	"a key": func(t *testing.T, f *fixture) {
		if _, err := f.Type(testContext(t), TypeRequest{Bytes: []byte("k")}); err != nil || f.typedText() != "k" {
			t.Errorf("%q, %v", f.typedText(), err)
		}
	},
	"a new size": func(t *testing.T, f *fixture) {
		if err := f.Session.Resize(testContext(t), 100, 30); err != nil || len(f.sizes) != 1 {
			t.Errorf("%v, %v", f.sizes, err)
		}
	},
	"a read of the screen": func(t *testing.T, f *fixture) {
		if text := screenText(t, f.Session); text != "" {
			t.Errorf("%q", text)
		}
	},
	"a watch, and later output": func(t *testing.T, f *fixture) {
		w := f.Watch()
		defer w.Close()
		<-w.Frames // the first signal
		f.print(f.Session, "x")
		<-w.Frames
	},
	"a wait that ends by time": func(t *testing.T, f *fixture) {
		r, err := f.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondQuiet, Quiet: 10 * time.Second}}})
		if err != nil || len(r.Fired) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	},
	"a canceled wait": func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*parkAfter)
		defer cancel()
		if _, err := f.Wait(ctx, WaitSpec{Conds: []Cond{{Kind: CondText, Text: "never"}}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	},
	"the program's end": func(t *testing.T, f *fixture) {
		f.Exited(Exit{Time: time.Now()}, f.fakeDevice.ring.Head())
		synctest.Wait()
		if st := f.Status().State; st != Exited {
			t.Errorf("state %s", st)
		}
	},
	"the program's end before its output": func(t *testing.T, f *fixture) {
		f.Exited(Exit{Time: time.Now()}, f.fakeDevice.ring.Head()+4)
		awaitParked(t, f.Session, "an end reported before the output")
		f.print(f.Session, "last")
		f.Closed()
		synctest.Wait()
		<-f.fakeDevice.released
		if st := f.Status(); st.State != Exited || st.Offset != 4 {
			t.Errorf("state %s at offset %d", st.State, st.Offset)
		}
	},
	"the keeper's end": func(t *testing.T, f *fixture) {
		f.KeeperLost()
		synctest.Wait()
		if st := f.Status().State; st != Lost {
			t.Errorf("state %s", st)
		}
	},
	"the probe timer": func(t *testing.T, f *fixture) {
		before := countProbes(t, f)
		awaitParked(t, f.Session, "an operation")
		if after := countProbes(t, f); after < before+5 {
			t.Errorf("got %d probes, and %d a minute later", before, after)
		}
	},
	"a stop": func(t *testing.T, f *fixture) {
		f.Stop()
		if err := f.do(testContext(t), func() {}); !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
	},
}

// countProbes returns the number of probes so far.
func countProbes(t *testing.T, f *fixture) (n int) {
	t.Helper()
	if err := f.do(testContext(t), func() { n = f.inputwait.machine.Probes() }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNewOwner_StartsParked checks that a new owner without work has no goroutine.
func TestNewOwner_StartsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		time.Sleep(parkAfter / 100) // its first probes do not keep it running
		synctest.Wait()
		if !f.parking.parked.Load() {
			t.Error("not parked")
		}
		f.print(f.Session, "hello")
		synctest.Wait()
		if at := f.Status().Offset; at != 5 || f.parking.parked.Load() {
			t.Errorf("after output at offset %d, parked: %v", at, f.parking.parked.Load())
		}
		f.Stop()
	})
}

// TestIdleOwner_Parks checks that an owner without work has no goroutine, and resumes for each kind of work.
func TestIdleOwner_Parks(t *testing.T) {
	for name, wake := range unparkCauses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, journal.Options{})
				awaitParked(t, f.Session, "nothing printed")
				wake(t, f)
				if !f.isStopping() {
					awaitParked(t, f.Session, name)
				}
				f.Stop()
				synctest.Wait()
				select {
				case <-f.stopped:
				default:
					t.Error("the owner's goroutine still runs")
				}
			})
		})
	}
}

// TestProbeTimer_RestartedAfterEarlyFiring checks that a probe timer which fires early, because the wall clock was set
// back, is set again: nothing else would unpark the owner.
func TestProbeTimer_RestartedAfterEarlyFiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		awaitParked(t, f.Session, "nothing printed")
		var early bool
		if err := f.do(testContext(t), func() {
			f.inputwait.timer.Stop()
			f.inputwait.dueAt = time.Now().Add(time.Hour)
			f.inputwait.due.Store(true) // as the timer does
			early = f.inputwait.isDue()
		}); err != nil {
			t.Fatal(err)
		}
		before := countProbes(t, f)
		time.Sleep(2 * time.Hour)
		if after := countProbes(t, f); early || after == before {
			t.Errorf("due at once: %v; %d probes before, %d two hours later", early, before, after)
		}
	})
}

// TestProbes_DoNotCountAsActivity checks that probes of a silent program do not keep a process active; output does.
//
// FEATURES: R90
func TestProbes_DoNotCountAsActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(idlepoll.Poller)
		p.AllowIdle(true)
		f := newFixture(t, journal.Options{})
		f.cfg.Poller = p
		tick := p.Ticker(time.Second)
		defer tick.Stop()
		var last time.Time // when it was last not idle
		watch := func() {
			for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); tick.Next() {
				if <-tick.C(); !p.IsIdle() {
					last = time.Now()
				}
			}
		}
		before := countProbes(t, f)
		asked := time.Now()
		if watch(); last.Sub(asked) > 20*time.Second {
			t.Errorf("not idle after %v", last.Sub(asked))
		}
		if n := countProbes(t, f); n < before+5 {
			t.Errorf("got %d probes, and %d minutes later", before, n)
		}
		if watch(); !p.IsIdle() {
			t.Fatal("no longer idle")
		}
		f.print(f.Session, "x")
		synctest.Wait()
		if p.IsIdle() {
			t.Error("idle despite output")
		}
		f.Stop()
	})
}

// TestOwner_HandlesOpsWhileParking checks that work which arrives while an owner parks is handled.
func TestOwner_HandlesOpsWhileParking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		asleep := 0
		for i := range 100 {
			time.Sleep(time.Duration(1+i%3) * 8 * parkAfter) // when its timers fire
			asked := make(chan error, 1)
			ctx := testContext(t)
			go func() { asked <- f.do(ctx, func() {}) }()
			if f.parking.parked.Load() {
				asleep++
			}
			f.print(f.Session, fmt.Sprintf("line %d.\r\n", i))
			if err := <-asked; err != nil {
				t.Fatal(err)
			}
			waitText(t, f.Session, fmt.Sprintf("line %d.", i))
		}
		if asleep == 0 {
			t.Error("the owner never parked")
		}
	})
}

// TestRunIfParked checks that an operation in place of a parked owner leaves it parked, unless work remains: unfinished
// work, new work, or a panic.
func TestRunIfParked(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(t *testing.T, f *fixture, seen *bool) (done bool)
		woken bool
	}{
		"done": {func(_ *testing.T, f *fixture, _ *bool) bool {
			f.inputwait.scheduleProbe(time.Now().Add(time.Minute)) // it would not be due soon
			return true
		}, false},
		"left undone": {func(_ *testing.T, f *fixture, _ *bool) bool {
			f.inputwait.due.Store(true)
			return false
		}, true},
		"something came": {func(t *testing.T, f *fixture, seen *bool) bool {
			go func() { *seen = f.do(testContext(t), func() {}) == nil }()
			synctest.Wait()
			return true
		}, true},
		"it broke": {func(*testing.T, *fixture, *bool) bool { panic("broken") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, journal.Options{})
				awaitParked(t, f.Session, "nothing printed")
				var seen, again bool
				if !f.runIfParked(func() bool {
					again = f.runIfParked(func() bool { return true })
					return c.f(t, f, &seen)
				}) {
					t.Fatal("not parked")
				}
				if again {
					t.Error("two operations run at once")
				}
				if !c.woken && !f.parking.parked.Load() {
					t.Error("no longer parked")
				}
				synctest.Wait()
				if f.inputwait.due.Load() || seen != (name == "something came") {
					t.Errorf("probe still due: %v; later work done: %v", f.inputwait.due.Load(), seen)
				}
				if broke := f.Status().Quarantine != ""; broke != (name == "it broke") {
					t.Errorf("quarantine: %v", broke)
				}
				awaitParked(t, f.Session, "what was done")
			})
		})
	}
}
