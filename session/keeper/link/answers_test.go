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

// A listener is closed when the keeper says that it is over, when another one comes, and with the connection: of a keeper
// that was killed it would have executions wait for nobody. Where the kernel takes no answer the keeper gets it.
//
// FEATURES: R107
func TestListenersAreClosed(t *testing.T) {
	l, c, f := connect(t, nil)
	hand := func(run uint64) (ours *os.File) {
		t.Helper()
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ours.Close() })
		f.say(c, &wire.ExecutionListener{ID: "a", Run: run}, theirs)
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
	f.say(c, &wire.ExecutionListener{ID: "a", Run: 1})
	closed("that of another run is over", other)
	raw, err := second.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		if _, err := syscall.Read(int(fd), make([]byte, 1)); !errors.Is(err, syscall.EAGAIN) {
			t.Errorf("it was closed with that of another run: %v", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	f.say(c, &wire.ExecutionListener{ID: "a"})
	closed("it is over", second)
	third := hand(0)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	closed("the connection was lost", third)
}

// What was left to the keeper and is answered before it tells of it is not told to who judges.
//
// FEATURES: R107
func TestLeftAndAnswered(t *testing.T) {
	var told []uint64
	l, c, f := connect(t, &notedOf{told: &told})
	e := execution{run{"a", 1}, 7}
	l.mu.Lock()
	l.answers.received = map[execution]*sessionListener{e: {run: e.run}}
	l.mu.Unlock()
	l.leaveToKeeper(e)
	if frame, _, err := c.Read(); err != nil || frame.Kind != wire.KindExecutionHearing {
		t.Fatal(frame.Kind, err)
	}
	if err := l.Answer(&wire.Execution{ID: "a", Run: 1, Number: 7}, 0); err != nil {
		t.Fatal(err)
	}
	f.say(c, &wire.Execution{ID: "a", Run: 1, Number: 7})
	f.say(c, &wire.Execution{ID: "a", Run: 1, Number: 8})
	f.say(c, &wire.ExecutionGone{ID: "a", Run: 1, Number: 8})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-l.Closed()
	if len(told) != 1 || told[0] != 8 {
		t.Errorf("told of %d", told)
	}
	if len(l.answers.left) != 0 {
		t.Errorf("%v is thought to come", l.answers.left)
	}
}

// A process's memory can be a file whose server hangs: while it is read another goroutine reads on.
//
// FEATURES: R107
func TestHangingMemoryRead_BlocksNothing(t *testing.T) {
	n := told{said: make(chan string, 1)}
	f := newFake(t)
	accepted := make(chan *wire.Conn, 1)
	go func() { accepted <- f.accept(ours) }()
	uc, err := unixsock.Dial(f.path)
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{conn: wire.NewConn(uc), notices: n, gone: make(chan struct{}), pending: map[uint64]*call{}} // we are who reads
	if err := l.greet(wire.RoleDaemon, "test"); err != nil {
		t.Fatal(err)
	}
	c := <-accepted
	h := &sessionListener{run: run{"a", 1}, fd: -1}
	hears := l.checkReceived(h, sys.Notification{ID: 7}, func(sys.Notification) (*wire.Execution, error) {
		f.say(c, &wire.Output{ID: "b"})
		if got := receive(t, n.said, "output, while memory is read"); got != "output b" {
			t.Errorf("told of %s", got)
		}
		return nil, syscall.EIO
	})
	if hears {
		t.Error("who reads memory hears on, beside another one")
	}
	if frame, _, err := c.Read(); err != nil || frame.Kind != wire.KindExecutionHearing {
		t.Errorf("it is not left to the keeper: %v, %v", frame.Kind, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	<-l.Closed()
}

// notedOf notes what it is told of.
type notedOf struct {
	discardNotices
	told *[]uint64
}

func (j *notedOf) Execution(m *wire.Execution) func(aside func()) {
	*j.told = append(*j.told, m.Number)
	return nil
}

func (*notedOf) ExecutionGone(*wire.ExecutionGone) {}
