package keeper

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// receiver is a daemon that checks on the goroutine of the notice, and so receives further executions itself.
type receiver struct {
	notices
	gone chan *wire.ExecutionEnded

	mu       sync.Mutex
	l        *link.Link
	notified map[uint64]int
	judge    func(e *wire.Execution, aside func()) (answered bool)
}

func (d *receiver) ExecutionEnded(m *wire.ExecutionEnded) { d.gone <- m }

func (d *receiver) Execution(m *wire.Execution) func(aside func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notified[m.Number]++
	return func(aside func()) {
		if d.judge(m, aside) {
			return
		}
		d.answer(m, 0)
	}
}

// answer answers an execution with an error number, or 0.
func (d *receiver) answer(m *wire.Execution, errno syscall.Errno) {
	d.mu.Lock()
	l := d.l
	d.mu.Unlock()
	_ = l.Answer(m, errno) // after a lost connection the keeper sends them again
}

// wasReceivedByDaemon reports whether the daemon itself received an execution: the keeper also reads the start time of
// its process.
func wasReceivedByDaemon(e *wire.Execution) bool { return e.Start == 0 }

// dialReceiver connects as a daemon that checks executions with judge.
func dialReceiver(t testing.TB, socket string, judge func(*receiver, *wire.Execution, func()) bool) (*link.Link, *receiver) {
	t.Helper()
	if n := runtime.GOMAXPROCS(0); n < 2 { // otherwise only the runtime's poller waits
		runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(n) })
	}
	d := &receiver{notices: newNotices(), gone: make(chan *wire.ExecutionEnded, 4096), notified: map[uint64]int{}}
	d.judge = func(e *wire.Execution, aside func()) bool { return judge(d, e, aside) }
	d.mu.Lock()
	l, err := link.Dial(socket, wire.RoleDaemon, "test", d)
	d.l = l
	d.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Ready(""); err != nil {
		t.Fatal(err)
	}
	return l, d
}

// untilRefused runs programs until one is rejected.
const untilRefused = "while /bin/true; do :; done; exit 7"

// TestDaemon_ReceivesExecutions checks that a daemon which has checked one execution receives the next ones itself, each
// once. The keeper still answers other calls.
//
// FEATURES: R107
func TestDaemon_ReceivesExecutions(t *testing.T) {
	socket, pid := start(t)
	seen := 0
	l, d := dialReceiver(t, socket, func(d *receiver, e *wire.Execution, _ func()) bool {
		if wasReceivedByDaemon(e) {
			if seen++; len(e.Argv) != 1 || e.Path != "/bin/true" || e.Cwd != "/" || e.Parent == 0 || e.LeaderPID != e.Parent || e.ID != "a" || e.Run == 0 {
				t.Errorf("%+v", e)
			}
		}
		if seen < 20 {
			return false
		}
		d.answer(e, syscall.EPERM)
		return true
	})
	spawnChecked(t, l, "a", fmt.Sprintf("cd /; while /bin/true; do kill -TERM %d 2>/dev/null && exit 3; done; exit 7", pid))
	if ex := d.exit(t, "a"); ex.Code != 7 {
		t.Errorf("%+v", ex)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for number, n := range d.notified {
		if n != 1 {
			t.Errorf("%x reported %d times", number, n)
		}
	}
}

// TestUnansweredExecution_SentToNextDaemon checks that an execution which a daemon received but did not answer is sent to
// the next daemon, even if its keeper has executed another binary since.
//
// FEATURES: R107
func TestUnansweredExecution_SentToNextDaemon(t *testing.T) {
	for _, upgrade := range []bool{false, true} {
		t.Run(fmt.Sprintf("upgrade=%v", upgrade), func(t *testing.T) {
			socket, _ := start(t)
			first, end := make(chan *wire.Execution, 1), make(chan struct{})
			old, _ := dialReceiver(t, socket, func(_ *receiver, e *wire.Execution, _ func()) bool {
				if !wasReceivedByDaemon(e) {
					return false
				}
				select {
				case first <- e:
				default:
				}
				<-end
				return true
			})
			t.Cleanup(func() { close(end) }) // before it is closed
			spawnChecked(t, old, "a", untilRefused)
			e := receive(t, first, "execution that was taken")
			if upgrade {
				if err := old.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
					t.Fatal(err)
				}
				receive(t, old.Closed(), "end of the connection")
			} else {
				go old.Close()
			}
			l, j := dialDecider(t, socket)
			if again := j.answer(t, l, false); again.Number != e.Number || again.Path != e.Path || again.Parent != e.Parent || wasReceivedByDaemon(again) {
				t.Errorf("%+v, after %+v", again, e)
			}
			if ex := j.exit(t, "a"); ex.Code != 7 {
				t.Errorf("%+v", ex)
			}
		})
	}
}

// TestReceivedExecution_LeftToKeeper checks that a daemon which waits for a user leaves the execution to the keeper. The
// keeper sends it again, and reports when its process was killed.
//
// FEATURES: R107
func TestReceivedExecution_LeftToKeeper(t *testing.T) {
	socket, _ := start(t)
	left := make(chan *wire.Execution, 1)
	l, d := dialReceiver(t, socket, func(d *receiver, e *wire.Execution, aside func()) bool {
		d.mu.Lock()
		again := d.notified[e.Number] > 1
		d.mu.Unlock()
		if again {
			left <- e
			return true
		}
		if !wasReceivedByDaemon(e) {
			return false
		}
		aside()
		return true
	})
	spawnChecked(t, l, "a", untilRefused)
	e := receive(t, left, "one that was left")
	if err := syscall.Kill(int(e.PID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if g := receive(t, d.gone, "end of one that waited"); g.ID != "a" || g.Number != e.Number {
		t.Errorf("%+v", g)
	}
	if ex := d.exit(t, "a"); ex.Code != 7 {
		t.Errorf("%+v", ex)
	}
}
