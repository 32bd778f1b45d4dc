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

// taker is a daemon that judges on the goroutine of the notice, and so comes to receive executions itself.
type taker struct {
	notices
	gone chan *wire.ExecutionGone

	mu    sync.Mutex
	l     *link.Link
	told  map[uint64]int
	judge func(e *wire.Execution, aside func()) (answered bool)
}

func (d *taker) ExecutionGone(m *wire.ExecutionGone) { d.gone <- m }

func (d *taker) Execution(m *wire.Execution) func(aside func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told[m.Number]++
	return func(aside func()) {
		if d.judge(m, aside) {
			return
		}
		d.answer(m, 0)
	}
}

func (d *taker) answer(m *wire.Execution, errno syscall.Errno) {
	d.mu.Lock()
	l := d.l
	d.mu.Unlock()
	_ = l.Answer(m, errno) // after a lost connection the keeper sends them again
}

// taken returns after the daemon itself received an execution: the keeper also reads the start time of its process.
func taken(e *wire.Execution) bool { return e.Start == 0 }

func dialTaker(t testing.TB, socket string, judge func(*taker, *wire.Execution, func()) bool) (*link.Link, *taker) {
	t.Helper()
	if n := runtime.GOMAXPROCS(0); n < 2 { // otherwise only the runtime's poller waits
		runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(n) })
	}
	d := &taker{notices: newNotices(), gone: make(chan *wire.ExecutionGone, 4096), told: map[uint64]int{}}
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

// untilRefused runs programs until one is refused.
const untilRefused = "while /bin/true; do :; done; exit 7"

// A daemon that has judged one execution receives the next ones itself, each once. The keeper still answers other
// calls.
//
// FEATURES: R107
func TestDaemonTakesExecutions(t *testing.T) {
	socket, pid := start(t)
	seen := 0
	l, d := dialTaker(t, socket, func(d *taker, e *wire.Execution, _ func()) bool {
		if taken(e) {
			if seen++; len(e.Argv) != 1 || e.Path != "/bin/true" || e.Cwd != "/" || e.Parent == 0 || e.Lead != e.Parent || e.ID != "a" || e.Run == 0 {
				t.Errorf("%+v", e)
			}
		}
		if seen < 20 {
			return false
		}
		d.answer(e, syscall.EPERM)
		return true
	})
	spawnConfined(t, l, "a", fmt.Sprintf("cd /; while /bin/true; do kill -TERM %d 2>/dev/null && exit 3; done; exit 7", pid))
	if ex := d.exit(t, "a"); ex.Code != 7 {
		t.Errorf("%+v", ex)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for number, n := range d.told {
		if n != 1 {
			t.Errorf("%x was told of %d times", number, n)
		}
	}
}

// An execution that a daemon received but did not answer is sent to the next daemon, even if its keeper has executed
// another binary since.
//
// FEATURES: R107
func TestUnansweredExecution_SentToNextDaemon(t *testing.T) {
	for _, upgrade := range []bool{false, true} {
		t.Run(fmt.Sprintf("upgrade=%v", upgrade), func(t *testing.T) {
			socket, _ := start(t)
			first, end := make(chan *wire.Execution, 1), make(chan struct{})
			old, _ := dialTaker(t, socket, func(_ *taker, e *wire.Execution, _ func()) bool {
				if !taken(e) {
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
			spawnConfined(t, old, "a", untilRefused)
			e := receive(t, first, "execution that was taken")
			if upgrade {
				if err := old.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
					t.Fatal(err)
				}
				receive(t, old.Closed(), "end of the connection")
			} else {
				go old.Close()
			}
			l, j := dialJudge(t, socket)
			if again := j.answer(t, l, false); again.Number != e.Number || again.Path != e.Path || again.Parent != e.Parent || taken(again) {
				t.Errorf("%+v, after %+v", again, e)
			}
			if ex := j.exit(t, "a"); ex.Code != 7 {
				t.Errorf("%+v", ex)
			}
		})
	}
}

// A daemon that waits for a user leaves the execution to the keeper, which sends it again, and reports when its process
// was killed.
//
// FEATURES: R107
func TestTakenIsLeftToTheKeeper(t *testing.T) {
	socket, _ := start(t)
	left := make(chan *wire.Execution, 1)
	l, d := dialTaker(t, socket, func(d *taker, e *wire.Execution, aside func()) bool {
		d.mu.Lock()
		again := d.told[e.Number] > 1
		d.mu.Unlock()
		if again {
			left <- e
			return true
		}
		if !taken(e) {
			return false
		}
		aside()
		return true
	})
	spawnConfined(t, l, "a", untilRefused)
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
