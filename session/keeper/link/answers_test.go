//go:build unix

package link

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// TestListeners_Closed checks that a listener is closed when the keeper reports its end, when another one arrives, and
// with the connection: after a keeper's death it would keep executions waiting. If the kernel accepts no answer, the
// keeper gets it.
//
// FEATURES: R107
func TestListeners_Closed(t *testing.T) {
	l, c, f := connect(t, nil)
	hand := func(run uint64) (ours *os.File) {
		t.Helper()
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ours.Close() })
		f.send(c, &wire.ExecutionListener{ID: "a", Run: run}, theirs)
		if err := theirs.Close(); err != nil {
			t.Fatal(err)
		}
		return ours
	}
	closed := func(what string, ours *os.File) {
		t.Helper()
		if b, err := io.ReadAll(ours); err != nil || len(b) != 0 {
			t.Errorf("%s: %q, %v", what, b, err)
		}
	}
	first := hand(0)
	second := hand(0)
	closed("another came", first)
	if err := l.Answer(&wire.Execution{ID: "a", Number: 7}, syscall.EACCES); err != nil {
		t.Fatal(err)
	}
	frame, _, err := c.Read()
	var m wire.ExecutionAnswer
	if err == nil && frame.Kind == wire.KindExecutionAnswer {
		err = wire.Decode(frame.Payload, &m)
	}
	if want := (wire.ExecutionAnswer{ID: "a", Number: 7, Errno: int64(syscall.EACCES)}); err != nil || m != want {
		t.Errorf("%+v, %v; want %+v", m, err, want)
	}
	other := hand(1)
	f.send(c, &wire.ExecutionListener{ID: "a", Run: 1})
	closed("that of another run is over", other)
	raw, err := second.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		if _, err := syscall.Read(int(fd), make([]byte, 1)); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("closed with the listener of another run: %v", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	f.send(c, &wire.ExecutionListener{ID: "a"})
	closed("it is over", second)
	third := hand(0)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	closed("the connection was lost", third)
}

// TestLeftExecution_AnsweredEarly checks that an execution which was left to the keeper and answered before the keeper
// reports it is not checked again.
//
// FEATURES: R107
func TestLeftExecution_AnsweredEarly(t *testing.T) {
	var told []uint64
	l, c, f := connect(t, &executionRecorder{notified: &told})
	e := execution{sessionRun{"a", 1}, 7}
	l.mu.Lock()
	l.answers.receivedDirectly = map[execution]*sessionListener{e: {sessionRun: e.sessionRun}}
	l.mu.Unlock()
	l.leaveToKeeper(e)
	if frame, _, err := c.Read(); err != nil || frame.Kind != wire.KindExecutionReceiver {
		t.Fatal(frame.Kind, err)
	}
	if err := l.Answer(&wire.Execution{ID: "a", Run: 1, Number: 7}, 0); err != nil {
		t.Fatal(err)
	}
	f.send(c, &wire.Execution{ID: "a", Run: 1, Number: 7})
	f.send(c, &wire.Execution{ID: "a", Run: 1, Number: 8})
	f.send(c, &wire.ExecutionEnded{ID: "a", Run: 1, Number: 8})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-l.Closed()
	if len(told) != 1 || told[0] != 8 {
		t.Errorf("reported %d", told)
	}
	if len(l.answers.leftToKeeper) != 0 {
		t.Errorf("still expected: %v", l.answers.leftToKeeper)
	}
}

// TestHangingMemoryRead_BlocksNothing checks that while a process's memory, which can be a file whose server hangs, is
// read, another goroutine continues.
//
// FEATURES: R107
func TestHangingMemoryRead_BlocksNothing(t *testing.T) {
	n := noticeRecorder{notices: make(chan string, 1)}
	f := newFakeKeeper(t)
	accepted := make(chan *wire.Conn, 1)
	go func() { accepted <- f.accept(keeperHello) }()
	uc, err := unixsock.Dial(f.path)
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{conn: wire.NewConn(uc), notices: n, closedC: make(chan struct{}), pending: map[uint64]*call{}} // the test is the reading goroutine
	if err := l.handshake(wire.RoleDaemon, "test"); err != nil {
		t.Fatal(err)
	}
	c := <-accepted
	h := &sessionListener{sessionRun: sessionRun{"a", 1}, fd: -1}
	hears := l.checkReceived(h, sys.Notification{ID: 7}, func(sys.Notification) (*wire.Execution, error) {
		f.send(c, &wire.Output{ID: "b"})
		if got := receive(t, n.notices, "output, while memory is read"); got != "output b" {
			t.Errorf("got notice %s", got)
		}
		return nil, syscall.EIO
	})
	if hears {
		t.Error("both goroutines read")
	}
	if frame, _, err := c.Read(); err != nil || frame.Kind != wire.KindExecutionReceiver {
		t.Errorf("not left to the keeper: %v, %v", frame.Kind, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	<-l.Closed()
}

// executionRecorder records the executions that it is notified of.
type executionRecorder struct {
	discardNotices
	notified *[]uint64
}

func (j *executionRecorder) Execution(m *wire.Execution) func(aside func()) {
	*j.notified = append(*j.notified, m.Number)
	return nil
}

func (*executionRecorder) ExecutionEnded(*wire.ExecutionEnded) {}
