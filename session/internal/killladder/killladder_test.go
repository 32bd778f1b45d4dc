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

// process is one of the table: it ends a while after a signal that it heeds.
type process struct {
	heeds map[syscall.Signal]time.Duration
	dies  time.Time
}

// table is a target of processes that are not there.
type table struct {
	all       []*process
	unheard   bool // tell when no process heeds a step
	leaving   syscall.Signal
	fails     syscall.Signal
	did       []string
	began     time.Time
	afterKill int // processes that are born by a SIGKILL
}

func (t *table) Send(_ context.Context, s Step) (Sent, error) {
	if t.fails != 0 && s.Signal == t.fails {
		return Heard, errors.New("no keeper")
	}
	if t.leaving != 0 && s.Signal == t.leaving {
		return Leaving, nil
	}
	left := t.left()
	if len(left) == 0 {
		return Ended, nil
	}
	t.did = append(t.did, fmt.Sprintf("%d@%v", s.Signal, time.Since(t.began)))
	heard := s.Signal == 0
	for i, p := range left {
		if s.Foreground && i > 0 {
			break
		}
		after, ok := p.heeds[s.Signal]
		if ok = ok || s.Last(); ok && p.dies.IsZero() {
			p.dies = time.Now().Add(after)
		}
		heard = heard || ok
	}
	if s.Last() && t.afterKill > 0 {
		t.afterKill--
		t.all = append(t.all, &process{})
	}
	if t.unheard && !heard {
		return Unheard, nil
	}
	return Heard, nil
}

func (t *table) left() []*process {
	return slices.DeleteFunc(slices.Clone(t.all), func(p *process) bool { return !p.dies.IsZero() && !time.Now().Before(p.dies) })
}

func (t *table) Await(ctx context.Context, s Step) bool {
	for until := time.Now().Add(s.Grace); time.Now().Before(until) && ctx.Err() == nil; {
		if len(t.left()) == 0 {
			return true
		}
		time.Sleep(min(10*time.Millisecond, time.Until(until)))
	}
	return len(t.left()) == 0
}

type heeds = map[syscall.Signal]time.Duration

// FEATURES: R16
func TestClimb(t *testing.T) {
	const ms = time.Millisecond
	const grace = 200 * ms
	deaf := &process{}
	for _, c := range []struct {
		name  string
		steps []Step
		table table
		did   string
		ended bool
	}{
		{"by itself, before", Session(grace), table{}, "", true},
		{"Ctrl-C", Session(grace), table{all: []*process{{heeds: heeds{2: 50 * ms}}}}, "2@0s", true},
		{"Ctrl-C reaches the foreground only", Session(grace), table{all: []*process{{heeds: heeds{2: 0, 15: 0}}, {heeds: heeds{2: 0, 15: 30 * ms}}}}, "2@0s 15@200ms", true},
		{"late, as the next step begins", Session(grace), table{all: []*process{{heeds: heeds{2: 250 * ms}}}}, "2@0s 15@200ms", true},
		{"a shell", Session(grace), table{all: []*process{{heeds: heeds{1: 10 * ms}}}}, "2@0s 15@200ms 1@400ms", true},
		{"a shell, asked what it heeds", Session(grace), table{all: []*process{{heeds: heeds{1: 10 * ms}}}, unheard: true}, "2@0s 15@0s 1@0s", true},
		{"nothing but SIGKILL", Session(grace), table{all: []*process{{}}}, "2@0s 15@200ms 1@400ms 9@600ms", true},
		{"a line that ends by its Ctrl-C", Line(grace), table{all: []*process{{heeds: heeds{0: 100 * ms}}}}, "0@0s", true},
		{"a line that does not", Line(grace), table{all: []*process{{heeds: heeds{15: 0}}}}, "0@0s 15@200ms", true},
		{"a program's tree", Tree(grace), table{all: []*process{{heeds: heeds{15: 0}}}}, "1@0s 15@200ms", true},
		{"born while others are killed", KillOrphans(grace), table{all: []*process{{}}, afterKill: 2}, "2@0s 15@200ms 1@400ms 9@600ms 9@1s 9@1.4s", true},
		{"let go meanwhile", Session(grace), table{all: []*process{{heeds: heeds{2: time.Second}}}, leaving: syscall.SIGTERM}, "2@0s", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.table.began = time.Now()
			ended, err := Climb(t.Context(), c.steps, &c.table)
			if did := strings.Join(c.table.did, " "); ended != c.ended || err != nil || did != c.did {
				t.Errorf("%s: %v, %v after %s, not %s", c.name, ended, err, did, c.did)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // in the kernel for ever
		hangs := table{all: []*process{deaf}, began: time.Now()}
		deaf.dies = time.Now().Add(time.Hour)
		if ended, err := Climb(t.Context(), Session(grace), &hangs); ended || err != nil || time.Since(hangs.began) != 3*grace+killedTime {
			t.Errorf("%v, %v after %v", ended, err, time.Since(hangs.began))
		}
	})
	synctest.Test(t, func(t *testing.T) { // no caller waits, and the last word is said
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		hurried := table{all: []*process{{}}, began: time.Now()}
		if ended, err := Climb(ctx, Session(grace), &hurried); !ended || err != nil || len(hurried.did) != 4 || time.Since(hurried.began) != 0 {
			t.Errorf("%v, %v, %v", ended, err, hurried.did)
		}
	})
	failing := table{all: []*process{{}}, fails: syscall.SIGINT}
	if ended, err := Climb(t.Context(), Session(0), &failing); ended || err == nil {
		t.Errorf("%v, %v", ended, err)
	}
}

// A skip ends the time of a step. The last step cannot be skipped.
//
// FAULT: G11
// FEATURES: R16
func TestClimb_Skip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skip := make(chan struct{})
		row := table{all: []*process{{}}, began: time.Now(), afterKill: 1}
		go func() {
			time.Sleep(5 * time.Millisecond) // Await sees a skip at its next look, every 10 ms
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
		if did := strings.Join(row.did, " "); err != nil || did != "2@0s 15@10ms 9@20ms" {
			t.Errorf("%v after %s", err, did)
		}
		time.Sleep(2 * time.Minute)
	})
}

// Whatever the row, the last step is the one that cannot be refused, and it comes once the others had
// their time.
func TestRows(t *testing.T) {
	const grace = 7 * time.Second
	for name, steps := range map[string][]Step{"session": Session(grace), "lost": KillOrphans(grace), "line": Line(grace), "tree": Tree(grace)} {
		if last := steps[len(steps)-1]; !last.Last() || last.Foreground || last.Grace <= 0 {
			t.Errorf("%s ends with %+v", name, last)
		}
		killed := false
		for _, s := range steps {
			if killed = killed || s.Last(); killed != s.Last() || !s.Last() && s.Grace != grace {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}
