//go:build unix

package registry

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// noTerminal is the device of a session without input.
type noTerminal struct{}

func (noTerminal) Write(p []byte) (int, error)      { return len(p), nil }
func (noTerminal) TryWrite(p []byte) int            { return len(p) }
func (noTerminal) SetWriteDeadline(time.Time) error { return nil }
func (noTerminal) Resize(int, int) error            { return nil }
func (noTerminal) Control(func(int) error) error    { return errors.New("no terminal") }
func (noTerminal) Resume()                          {}
func (noTerminal) Release()                         {}

// printing returns a session's handle, and a function that prints in it.
func printing(t *testing.T) (e *Handle, printed func(string)) {
	t.Helper()
	j, _, err := journal.Open(t.TempDir()+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := ring.Local(ring.DefaultSize)
	s, err := session.New(session.Config{
		ID: "silent", Device: noTerminal{}, Ring: r, Journal: j, Options: vterm.Options{Cols: 80, Rows: 24},
		Status: session.Status{State: session.Running, Cols: 80, Rows: 24}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	e = NewHandle(store.Session{ID: "silent", Argv: []string{"make"}})
	e.Session = s
	return e, func(text string) {
		r.Publish(copy(r.Room(), text))
		s.NotifyOutput()
	}
}

// TestSilentTasks checks that a task that prints nothing for a while has no goroutine that follows it. Output, or its
// end, starts one again, which continues with the earlier state.
//
// FEATURES: R82
func TestSilentTasks(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		w := newWatchers(r)
		defer func() {
			w.stop()
			e.Session.Stop()
		}()
		asleep := func() bool {
			time.Sleep(time.Minute) // agents are searched for too
			synctest.Wait()
			e.activity.mu.Lock()
			defer e.activity.mu.Unlock()
			return e.activity.wake != nil
		}
		w.follow(e, task{command: "make", began: time.Now()})
		for i := range 3 {
			if !asleep() {
				t.Fatalf("%d: a silent task is followed", i)
			}
			printed("main.c:3:1: error: expected ';'\r\n")
			time.Sleep(time.Second)
			synctest.Wait()
			if a := e.activity.view(0); a == nil || !a.Running || a.Errors != i+1 {
				t.Fatalf("%d: it continues with %+v", i, a)
			}
		}
		if !asleep() {
			t.Fatal("a task that has fallen silent is followed")
		}
		began := time.Now()
		e.activity.end(0, outcome{at: began})
		synctest.Wait()
		if a := e.activity.view(0); a == nil || a.Running || a.Errors != 3 || !time.Now().Equal(began) {
			t.Errorf("its end is not seen at once: %+v", a)
		}
	})
}

// TestMuteTasks checks that a task without output is not followed, except to read its earlier runs.
func TestMuteTasks(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		w := newWatchers(r)
		defer func() {
			w.stop()
			e.Session.Stop()
		}()
		after := func(d time.Duration) (asleep bool) {
			time.Sleep(d)
			synctest.Wait()
			e.activity.mu.Lock()
			defer e.activity.mu.Unlock()
			return e.activity.wake != nil
		}
		w.follow(e, task{command: "make", began: time.Now()})
		if !after(watchDelay+time.Millisecond) || e.activity.view(0) != nil {
			t.Errorf("it is followed, with %+v", e.activity.view(0))
		}
		if after(pastDelay-watchDelay) || e.activity.view(0) == nil {
			t.Errorf("its earlier runs are not read: %+v", e.activity.view(0))
		}
		if !after(2 * readInterval) {
			t.Error("it is followed once they were")
		}
		printed("main.c:3:1: error: expected ';'\r\n")
		if after(readInterval+time.Millisecond) || e.activity.view(0).Errors != 1 {
			t.Errorf("its output is not read: %+v", e.activity.view(0))
		}
		if after(watcherIdleTime / 2) {
			t.Error("a task that printed just now is not followed")
		}
	})
}

// TestSilentTasksGiveWay checks that another task ends the parked follower of the previous one, as does the owner's
// end.
func TestSilentTasksGiveWay(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		e, _ := printing(t)
		w := newWatchers(r)
		w.follow(e, task{command: "make", began: time.Now()})
		time.Sleep(time.Minute)
		synctest.Wait()
		w.follow(e, task{command: "make again", began: time.Now()})
		time.Sleep(time.Minute)
		synctest.Wait()
		e.Session.Stop()
		synctest.Wait() // until the sleeper wakes
		w.group.Wait()
		e.activity.mu.Lock()
		defer e.activity.mu.Unlock()
		if e.activity.n != 0 || e.activity.ends == nil {
			t.Errorf("%+v", &e.activity)
		}
	})
}

// TestOneReadsThePastAtATime checks that output of tasks under earlier daemons is read one task at a time. A new task
// is followed at once.
//
// FEATURES: R82 R90
func TestOneReadsThePastAtATime(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		w := newWatchers(r)
		var handles []*Handle
		began := []time.Time{time.Now().Add(-time.Hour), time.Now().Add(-time.Minute), time.Now()}
		for _, at := range began {
			e, printed := printing(t)
			printed("main.c:3:1: error: expected ';'\r\n")
			synctest.Wait()
			handles = append(handles, e)
			w.follow(e, task{command: "make", began: at})
		}
		defer func() {
			w.stop()
			for _, e := range handles {
				e.Session.Stop()
			}
		}()
		read := func() (n int) {
			time.Sleep(time.Minute)
			synctest.Wait()
			for _, e := range handles {
				if a := e.activity.view(0); a != nil && a.Errors == 1 {
					n++
				}
			}
			return n
		}
		w.catching <- struct{}{} // as if another's were read
		if n := read(); n != 1 || handles[2].activity.view(0) == nil {
			t.Errorf("%d are read while it is another's turn", n)
		}
		<-w.catching
		if n := read(); n != 3 {
			t.Errorf("%d are read in the end", n)
		}
	})
}

// TestDescribe_ProbesOnRequest checks that a caller that saw a line on the screen and requests the task at once gets
// what that line reports: also between two probes, of a new task, of a silent one, and of one whose end is being read.
//
// FEATURES: R82
func TestDescribe_ProbesOnRequest(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		w := newWatchers(r)
		defer func() {
			w.stop()
			e.Session.Stop()
		}()
		began := time.Now()
		w.follow(e, task{command: "make", began: began})
		for i, later := range []time.Duration{0, time.Millisecond, time.Millisecond, time.Minute, time.Millisecond} {
			time.Sleep(later)
			printed("main.c:3:1: error: expected ';'\r\n")
			synctest.Wait() // it is on the screen
			asked := time.Now()
			e.AwaitActivity(t.Context())
			if a := e.activity.view(0); a == nil || a.Errors != i+1 || !time.Now().Equal(asked) {
				t.Fatalf("%d: after %v: %+v", i, time.Since(asked), a)
			}
		}
		time.Sleep(time.Millisecond)
		printed("main.c:3:1: error: expected ';'\r\n")
		synctest.Wait()
		e.activity.end(0, outcome{at: time.Now()})
		e.AwaitActivity(t.Context())
		if a := e.activity.view(0); a == nil || a.Running || a.Errors != 6 {
			t.Fatalf("at its end: %+v", a)
		}
		if e.AwaitActivity(t.Context()); !time.Now().Equal(began.Add(time.Minute + 4*time.Millisecond)) {
			t.Errorf("it took %v", time.Since(began))
		}
	})
}

// TestWatcher_LeavingBeforeTaskEnd checks that a watcher that left before its task's end is not waited for, as when the
// session's owner stops.
//
// FEATURES: R82
func TestWatcher_LeavingBeforeTaskEnd(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		w := newWatchers(r)
		defer w.stop()
		w.follow(e, task{command: "make", began: time.Now()})
		time.Sleep(time.Second)
		printed("make: nothing to be done\r\n")
		synctest.Wait()
		e.Session.Stop()
		time.Sleep(time.Second) // the watcher is notified
		synctest.Wait()
		asked := time.Now()
		e.activity.awaitRead(t.Context(), 1<<40)
		if !time.Now().Equal(asked) {
			t.Errorf("the answer waited for %v", time.Since(asked))
		}
	})
}

// TestReadToEnd checks that ReadToEnd returns after a watcher has read the whole output, and at once if no watcher
// starts later.
//
// FAULT: B23
func TestReadToEnd(t *testing.T) {
	r, _ := hosted(t, nil)
	synctest.Test(t, func(t *testing.T) {
		e, printed := printing(t)
		w := newWatchers(r)
		defer e.Session.Stop()
		w.follow(e, task{n: 1, command: "make", began: time.Now()})
		for n := range 4 {
			printed(fmt.Sprintf("[%d/4] CXX f%d.o\r\n", n+1, n+1))
		}
		synctest.Wait()
		e.activity.end(1, outcome{at: time.Now()})
		if err := e.ReadToEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a := e.activity.view(1); a == nil || a.Running || a.Progress == nil || a.Progress.Percent != 100 {
			t.Fatalf("%+v", a)
		}
		if got, err := e.Session.Wait(t.Context(), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondProgress, Percent: 100}}}); err != nil || got.Ended {
			t.Errorf("%+v, %v", got, err)
		}
		w.stop()
		w.follow(e, task{n: 2, command: "make", began: time.Now()})
		if err := e.ReadToEnd(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
