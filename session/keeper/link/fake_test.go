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

// fake is a keeper whose answers a test writes by hand.
type fake struct {
	t    *testing.T
	path string
	l    *unixsock.Listener
}

func newFake(t *testing.T) *fake {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, path: filepath.Join(dir, "s")}
	if f.l, err = unixsock.Listen(f.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.l.Close()
		_ = os.RemoveAll(dir)
	})
	return f
}

// accept takes a connection and its greeting, and greets back with m; nil: not at all.
func (f *fake) accept(m wire.Message) *wire.Conn {
	uc, err := f.l.Accept()
	if err != nil {
		f.t.Error(err)
		return nil
	}
	f.t.Cleanup(func() { _ = uc.Close() })
	c := wire.NewConn(uc)
	frame, _, err := c.Read()
	if err != nil || frame.Kind != wire.KindHello {
		f.t.Errorf("greeted with kind %d, %v", frame.Kind, err)
	}
	if m != nil {
		f.say(c, m)
	}
	return c
}

func (f *fake) say(c *wire.Conn, m wire.Message, files ...*os.File) {
	if err := c.Write(m, files...); err != nil {
		f.t.Error("the keeper's side: ", err)
	}
}

// asked is the number of the next request, which must be of a kind.
func (f *fake) asked(c *wire.Conn, kind wire.Kind) uint64 {
	f.t.Helper()
	frame, files, err := c.Read()
	closeAll(files)
	if err != nil || frame.Kind != kind {
		f.t.Errorf("asked kind %d, %v; want kind %d", frame.Kind, err, kind)
		return 0
	}
	m := wire.Status{} // every request has its number in the first field
	if err := wire.Decode(firstField(frame.Payload), &m); err != nil {
		f.t.Error(err)
	}
	return m.Req
}

// firstField cuts a payload behind its first field, an integer.
func firstField(payload []byte) []byte {
	const integer = 2 + 4 + 8
	return payload[:min(integer, len(payload))]
}

var ours = &wire.Hello{Version: wire.Version, MinVersion: wire.Version, Build: "fake", PID: 7, Key: "main"}

// connect gives both ends of a connection that is greeted.
func connect(t *testing.T, n Notices) (*Link, *wire.Conn, *fake) {
	t.Helper()
	f := newFake(t)
	accepted := make(chan *wire.Conn, 1)
	go func() { accepted <- f.accept(ours) }()
	l, err := Dial(f.path, wire.RoleDaemon, "test", n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, <-accepted, f
}

func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return c
}

func receive[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("no ", what)
	}
	return v
}
