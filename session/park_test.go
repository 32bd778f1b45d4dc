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

// dozes waits, by the bubble's clock, until the owner has no goroutine.
func dozes(t *testing.T, s *Session, after string) {
	t.Helper()
	time.Sleep(time.Minute)
	synctest.Wait()
	if !s.parking.parked.Load() {
		t.Fatalf("%s: the owner does not doze", after)
	}
}

// waysToWake lists what unparks an owner. Each does it, and checks the effect.
var waysToWake = map[string]func(t *testing.T, f *fixture){
	"output": func(t *testing.T, f *fixture) {
		f.print(f.Session, "hello\r\n")
		synctest.Wait()
		if at := f.Status().Offset; at != uint64(len("hello\r\n")) {
			t.Errorf("it is at %d", at)
		}
	},
	"a key": func(t *testing.T, f *fixture) {
		if _, err := f.Type(testContext(t), Typing{Bytes: []byte("k")}); err != nil || f.got() != "k" {
			t.Errorf("%q, %v", f.got(), err)
		}
	},
	"a new size": func(t *testing.T, f *fixture) {
		if err := f.Session.Resize(testContext(t), 100, 30); err != nil || len(f.sizes) != 1 {
			t.Errorf("%v, %v", f.sizes, err)
		}
	},
	"a look at the screen": func(t *testing.T, f *fixture) {
		if text := screenText(t, f.Session); text != "" {
			t.Errorf("%q", text)
		}
	},
	"a watch, and what is printed then": func(t *testing.T, f *fixture) {
		w := f.Watch()
		defer w.Close()
		<-w.Frames // the first look
		f.print(f.Session, "x")
		<-w.Frames
	},
	"a wait, and its time": func(t *testing.T, f *fixture) {
		r, err := f.Wait(testContext(t), WaitFor{Conds: []Cond{{Kind: CondQuiet, Quiet: 10 * time.Second}}})
		if err != nil || len(r.Fired) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	},
	"a wait that is given up": func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*parkAfter)
		defer cancel()
		if _, err := f.Wait(ctx, WaitFor{Conds: []Cond{{Kind: CondText, Text: "never"}}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	},
	"its program's end": func(t *testing.T, f *fixture) {
		f.Exited(Exit{Time: time.Now()}, f.fake.ring.Head())
		synctest.Wait()
		if st := f.Status().State; st != Exited {
			t.Errorf("it is %s", st)
		}
	},
	"its program's end behind output": func(t *testing.T, f *fixture) {
		f.Exited(Exit{Time: time.Now()}, f.fake.ring.Head()+4)
		dozes(t, f.Session, "an end that is told before the output")
		f.print(f.Session, "last")
		f.Closed()
		synctest.Wait()
		<-f.fake.released
		if st := f.Status(); st.State != Exited || st.Offset != 4 {
			t.Errorf("it is %s at %d", st.State, st.Offset)
		}
	},
	"its keeper's end": func(t *testing.T, f *fixture) {
		f.KeeperLost()
		synctest.Wait()
		if st := f.Status().State; st != Lost {
			t.Errorf("it is %s", st)
		}
	},
	"the clock of looks": func(t *testing.T, f *fixture) {
		before := looks(t, f)
		dozes(t, f.Session, "an operation")
		if after := looks(t, f); after < before+5 {
			t.Errorf("%d looks, and %d a minute later", before, after)
		}
	},
	"its own end": func(t *testing.T, f *fixture) {
		f.Stop()
		if err := f.do(testContext(t), func() {}); !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
	},
}

func looks(t *testing.T, f *fixture) (n int) {
	t.Helper()
	if err := f.do(testContext(t), func() { n = f.inputwait.machine.Looks() }); err != nil {
		t.Fatal(err)
	}
	return n
}

// A new owner without work has no goroutine either.
func TestNewOwner_StartsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		time.Sleep(parkAfter / 100) // its first looks are no reason to stay
		synctest.Wait()
		if !f.parking.parked.Load() {
			t.Error("it does not doze")
		}
		f.print(f.Session, "hello")
		synctest.Wait()
		if at := f.Status().Offset; at != 5 || f.parking.parked.Load() {
			t.Errorf("it is at %d once something is printed, dozing: %v", at, f.parking.parked.Load())
		}
		f.Stop()
	})
}

// An owner without work has no goroutine, and resumes for each kind of work.
func TestIdleOwnersHaveNoGoroutine(t *testing.T) {
	for name, wake := range waysToWake {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, journal.Options{})
				dozes(t, f.Session, "nothing printed")
				wake(t, f)
				if !f.stopping() {
					dozes(t, f.Session, name)
				}
				f.Stop()
				synctest.Wait()
				select {
				case <-f.stopped:
				default:
					t.Error("the owner is still there")
				}
			})
		})
	}
}

// A probe timer that fires early, because the wall clock was set back, is set again: nothing else would unpark the
// owner.
func TestProbeTimer_RestartedAfterEarlyFiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		dozes(t, f.Session, "nothing printed")
		var early bool
		if err := f.do(testContext(t), func() {
			f.inputwait.timer.Stop()
			f.inputwait.at = time.Now().Add(time.Hour)
			f.inputwait.due.Store(true) // as it does when it fires
			early = f.inputwait.isDue()
		}); err != nil {
			t.Fatal(err)
		}
		before := looks(t, f)
		time.Sleep(2 * time.Hour)
		if after := looks(t, f); early || after == before {
			t.Errorf("due at once: %v; %d looks before, %d two hours later", early, before, after)
		}
	})
}

// Probes of a silent program do not keep a process active; its output does.
//
// FEATURES: R90
func TestProbes_DoNotCountAsActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(idlepoll.Pace)
		p.AllowIdle(true)
		f := newFixture(t, journal.Options{})
		f.cfg.Pace = p
		tick := p.Ticker(time.Second)
		defer tick.Stop()
		var last time.Time // when it did not rest
		watch := func() {
			for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); tick.Next() {
				if <-tick.C(); !p.IsIdle() {
					last = time.Now()
				}
			}
		}
		before := looks(t, f)
		asked := time.Now()
		if watch(); last.Sub(asked) > 20*time.Second {
			t.Errorf("it did not rest after %v", last.Sub(asked))
		}
		if n := looks(t, f); n < before+5 {
			t.Errorf("%d looks, and %d minutes later", before, n)
		}
		if watch(); !p.IsIdle() {
			t.Fatal("it does not rest any more")
		}
		f.print(f.Session, "x")
		synctest.Wait()
		if p.IsIdle() {
			t.Error("it rests though something is printed")
		}
		f.Stop()
	})
}

// Work that arrives while an owner parks is handled.
func TestOwner_HandlesOpsWhileParking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		asleep := 0
		for i := range 100 {
			time.Sleep(time.Duration(1+i%3) * 8 * parkAfter) // when its clocks fire
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
			t.Error("it never dozed")
		}
	})
}

// An operation in place of a parked owner leaves it parked, unless work remains: unfinished work, new work, or a panic.
func TestRunIfParked(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(t *testing.T, f *fixture, seen *bool) (done bool)
		woken bool
	}{
		"done": {func(_ *testing.T, f *fixture, _ *bool) bool {
			f.inputwait.scheduleProbe(time.Now().Add(time.Minute)) // as it would not be soon
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
				dozes(t, f.Session, "nothing printed")
				var seen, again bool
				if !f.runIfParked(func() bool {
					again = f.runIfParked(func() bool { return true })
					return c.f(t, f, &seen)
				}) {
					t.Fatal("it does not doze")
				}
				if again {
					t.Error("two stand in for one owner")
				}
				if !c.woken && !f.parking.parked.Load() {
					t.Error("it does not doze any more")
				}
				synctest.Wait()
				if f.inputwait.due.Load() || seen != (name == "something came") {
					t.Errorf("left undone: %v; what came was done: %v", f.inputwait.due.Load(), seen)
				}
				if broke := f.Status().Quarantine != ""; broke != (name == "it broke") {
					t.Errorf("quarantine: %v", broke)
				}
				dozes(t, f.Session, "what was done")
			})
		})
	}
}
