package killladder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// process is a process of a fakeTarget. It exits some time after a signal that it handles.
type process struct {
	handlers map[syscall.Signal]time.Duration
	exitsAt  time.Time
}

// fakeTarget is a target of simulated processes.
type fakeTarget struct {
	all            []*process
	reportsIgnored bool           // Send returns Ignored if no process handles a step
	leaving        syscall.Signal // signal for which Send returns Exiting
	fails          syscall.Signal // signal for which Send fails
	sent           []string       // log of the signals and their times
	began          time.Time
	afterKill      int // processes that start at a SIGKILL
}

func (t *fakeTarget) Send(_ context.Context, s Step) (SendResult, error) {
	if t.fails != 0 && s.Signal == t.fails {
		return Delivered, errors.New("no keeper")
	}
	if t.leaving != 0 && s.Signal == t.leaving {
		return Exiting, nil
	}
	left := t.living()
	if len(left) == 0 {
		return Ended, nil
	}
	t.sent = append(t.sent, fmt.Sprintf("%d@%v", s.Signal, time.Since(t.began)))
	heard := s.Signal == 0
	for i, p := range left {
		if s.Foreground && i > 0 {
			break
		}
		after, ok := p.handlers[s.Signal]
		if ok = ok || s.IsLast(); ok && p.exitsAt.IsZero() {
			p.exitsAt = time.Now().Add(after)
		}
		heard = heard || ok
	}
	if s.IsLast() && t.afterKill > 0 {
		t.afterKill--
		t.all = append(t.all, &process{})
	}
	if t.reportsIgnored && !heard {
		return Ignored, nil
	}
	return Delivered, nil
}

// living returns the processes that have not exited.
func (t *fakeTarget) living() []*process {
	return slices.DeleteFunc(slices.Clone(t.all), func(p *process) bool { return !p.exitsAt.IsZero() && !time.Now().Before(p.exitsAt) })
}

func (t *fakeTarget) Await(ctx context.Context, s Step) bool {
	for until := time.Now().Add(s.Grace); time.Now().Before(until) && ctx.Err() == nil; {
		if len(t.living()) == 0 {
			return true
		}
		time.Sleep(min(10*time.Millisecond, time.Until(until)))
	}
	return len(t.living()) == 0
}

// handlers maps handled signals to the time until the process exits.
type handlers = map[syscall.Signal]time.Duration

// FEATURES: R16
func TestClimb(t *testing.T) {
	const ms = time.Millisecond
	const grace = 200 * ms
	deaf := &process{}
	for _, c := range []struct {
		name  string
		steps []Step
		table fakeTarget
		did   string
		ended bool
	}{
		{"by itself, before", SessionSteps(grace), fakeTarget{}, "", true},
		{"Ctrl-C", SessionSteps(grace), fakeTarget{all: []*process{{handlers: handlers{2: 50 * ms}}}}, "2@0s", true},
		{"Ctrl-C reaches the foreground only", SessionSteps(grace), fakeTarget{all: []*process{{handlers: handlers{2: 0, 15: 0}}, {handlers: handlers{2: 0, 15: 30 * ms}}}}, "2@0s 15@200ms", true},
		{"late, as the next step begins", SessionSteps(grace), fakeTarget{all: []*process{{handlers: handlers{2: 250 * ms}}}}, "2@0s 15@200ms", true},
		{"a shell", SessionSteps(grace), fakeTarget{all: []*process{{handlers: handlers{1: 10 * ms}}}}, "2@0s 15@200ms 1@400ms", true},
		{"a shell, asked what it heeds", SessionSteps(grace), fakeTarget{all: []*process{{handlers: handlers{1: 10 * ms}}}, reportsIgnored: true}, "2@0s 15@0s 1@0s", true},
		{"nothing but SIGKILL", SessionSteps(grace), fakeTarget{all: []*process{{}}}, "2@0s 15@200ms 1@400ms 9@600ms", true},
		{"a line that ends by its Ctrl-C", LineSteps(grace), fakeTarget{all: []*process{{handlers: handlers{0: 100 * ms}}}}, "0@0s", true},
		{"a line that does not", LineSteps(grace), fakeTarget{all: []*process{{handlers: handlers{15: 0}}}}, "0@0s 15@200ms", true},
		{"a program's tree", TreeSteps(grace), fakeTarget{all: []*process{{handlers: handlers{15: 0}}}}, "1@0s 15@200ms", true},
		{"born while others are killed", OrphanSteps(grace), fakeTarget{all: []*process{{}}, afterKill: 2}, "2@0s 15@200ms 1@400ms 9@600ms 9@1s 9@1.4s", true},
		{"let go meanwhile", SessionSteps(grace), fakeTarget{all: []*process{{handlers: handlers{2: time.Second}}}, leaving: syscall.SIGTERM}, "2@0s", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.table.began = time.Now()
			ended, err := Climb(t.Context(), c.steps, &c.table)
			if did := strings.Join(c.table.sent, " "); ended != c.ended || err != nil || did != c.did {
				t.Errorf("%s: %v, %v after %s, not %s", c.name, ended, err, did, c.did)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // blocked in the kernel
		hangs := fakeTarget{all: []*process{deaf}, began: time.Now()}
		deaf.exitsAt = time.Now().Add(time.Hour)
		if ended, err := Climb(t.Context(), SessionSteps(grace), &hangs); ended || err != nil || time.Since(hangs.began) != 3*grace+reportedKillTime {
			t.Errorf("%v, %v after %v", ended, err, time.Since(hangs.began))
		}
	})
	synctest.Test(t, func(t *testing.T) { // canceled: all steps run without waiting
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		hurried := fakeTarget{all: []*process{{}}, began: time.Now()}
		if ended, err := Climb(ctx, SessionSteps(grace), &hurried); !ended || err != nil || len(hurried.sent) != 4 || time.Since(hurried.began) != 0 {
			t.Errorf("got %v, %v, %v", ended, err, hurried.sent)
		}
	})
	failing := fakeTarget{all: []*process{{}}, fails: syscall.SIGINT}
	if ended, err := Climb(t.Context(), SessionSteps(0), &failing); ended || err == nil {
		t.Errorf("%v, %v", ended, err)
	}
}

// TestClimb_Skip checks that a skip ends the time of a step, except the last one.
//
// FAULT: G11
// FEATURES: R16
func TestClimb_Skip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skip := make(chan struct{})
		row := fakeTarget{all: []*process{{}}, began: time.Now(), afterKill: 1}
		go func() {
			time.Sleep(5 * time.Millisecond) // Await checks every 10 ms
			skip <- struct{}{}
			time.Sleep(10 * time.Millisecond)
			skip <- struct{}{}
			select {
			case skip <- struct{}{}:
				t.Error("the last step was skipped")
			case <-time.After(time.Minute):
			}
		}()
		steps := []Step{{Signal: syscall.SIGINT, Grace: time.Hour}, {Signal: syscall.SIGTERM, Grace: time.Hour}, {Signal: syscall.SIGKILL, Grace: time.Second}}
		_, err := Climb(WithSkip(t.Context(), skip), steps, &row)
		if did := strings.Join(row.sent, " "); err != nil || did != "2@0s 15@10ms 9@20ms" {
			t.Errorf("%v after %s", err, did)
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestSteps_EndWithKill checks that each ladder ends with SIGKILL, after the other steps had their grace time.
func TestSteps_EndWithKill(t *testing.T) {
	const grace = 7 * time.Second
	for name, steps := range map[string][]Step{"session": SessionSteps(grace), "lost": OrphanSteps(grace), "line": LineSteps(grace), "tree": TreeSteps(grace)} {
		if last := steps[len(steps)-1]; !last.IsLast() || last.Foreground || last.Grace <= 0 {
			t.Errorf("%s ends with %+v", name, last)
		}
		killed := false
		for _, s := range steps {
			if killed = killed || s.IsLast(); killed != s.IsLast() || !s.IsLast() && s.Grace != grace {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}
