//go:build unix

package link

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// fakeKeeper is a keeper whose answers a test sends.
type fakeKeeper struct {
	t    *testing.T
	path string
	l    *unixsock.Listener
}

// newFakeKeeper returns a keeper that listens on a socket.
func newFakeKeeper(t *testing.T) *fakeKeeper {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeKeeper{t: t, path: filepath.Join(dir, "s")}
	if f.l, err = unixsock.Listen(f.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.l.Close()
		_ = os.RemoveAll(dir)
	})
	return f
}

// accept accepts a connection and its greeting, and greets back with m, unless m is nil.
func (f *fakeKeeper) accept(m wire.Message) *wire.Conn {
	uc, err := f.l.Accept()
	if err != nil {
		f.t.Error(err)
		return nil
	}
	f.t.Cleanup(func() { _ = uc.Close() })
	c := wire.NewConn(uc)
	frame, _, err := c.Read()
	if err != nil || frame.Kind != wire.KindHello {
		f.t.Errorf("greeting of kind %d, %v", frame.Kind, err)
	}
	if m != nil {
		f.send(c, m)
	}
	return c
}

// send sends a message with files.
func (f *fakeKeeper) send(c *wire.Conn, m wire.Message, files ...*os.File) {
	if err := c.Write(m, files...); err != nil {
		f.t.Error("fake keeper: ", err)
	}
}

// nextRequest returns the number of the next request, which must be of a kind.
func (f *fakeKeeper) nextRequest(c *wire.Conn, kind wire.Kind) uint64 {
	f.t.Helper()
	frame, files, err := c.Read()
	closeAll(files)
	if err != nil || frame.Kind != kind {
		f.t.Errorf("request of kind %d, %v; want kind %d", frame.Kind, err, kind)
		return 0
	}
	m := wire.Status{} // every request has its number in the first field
	if err := wire.Decode(firstField(frame.Payload), &m); err != nil {
		f.t.Error(err)
	}
	return m.Req
}

// firstField cuts a payload after its first field, an integer.
func firstField(payload []byte) []byte {
	const integer = 2 + 4 + 8
	return payload[:min(integer, len(payload))]
}

// keeperHello is the fake keeper's greeting.
var keeperHello = &wire.Hello{Version: wire.Version, MinVersion: wire.Version, Build: "fake", PID: 7, Key: "main"}

// connect returns both ends of a greeted connection.
func connect(t *testing.T, n Notices) (*Link, *wire.Conn, *fakeKeeper) {
	t.Helper()
	f := newFakeKeeper(t)
	accepted := make(chan *wire.Conn, 1)
	go func() { accepted <- f.accept(keeperHello) }()
	l, err := Dial(f.path, wire.RoleDaemon, "test", n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, <-accepted, f
}

// ctx returns a context with a time limit.
func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return c
}

// receive receives a value, or fails the test after a time limit.
func receive[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("no ", what)
	}
	return v
}
