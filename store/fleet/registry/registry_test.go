package registry_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// delay is how long what is said takes in each direction, and impatience for how long a first attempt waits.
const (
	delay      = 30 * time.Millisecond
	impatience = 10 * time.Millisecond
)

// slowly is an address that leads to another one, slowly.
func slowly(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	pass := func(to, from net.Conn) {
		b := make([]byte, 64<<10)
		for {
			n, err := from.Read(b)
			<-time.After(delay)
			if _, failed := to.Write(b[:n]); err != nil || failed != nil {
				_ = to.Close()
				return
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", to)
			if err != nil {
				_ = c.Close()
				continue
			}
			go pass(c, s)
			go pass(s, c)
		}
	}()
	return l.Addr().String()
}

// Servers that take longer for an answer than a first attempt waits are listened to by a later one.
//
// FEATURES: R94
func TestSlowServersAreListenedTo(t *testing.T) {
	defer registry.SetFirstTime(impatience)() // the last of all: the server and the link wait, too
	dir := ident.Dir(t.TempDir())
	ca, err := ident.Found("test")
	if err != nil {
		t.Fatal(err)
	}
	identity := func(k ident.Kind) *ident.Identity {
		t.Helper()
		key, csr, err := ident.NewKey("a")
		if err != nil {
			t.Fatal(err)
		}
		cert, err := dir.Admit(ca, ident.Member{Name: "a", Kind: k}, csr)
		if err != nil {
			t.Fatal(err)
		}
		return &ident.Identity{Member: ident.MemberOf(cert), CA: ca.Cert, Cert: cert, Key: key}
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	srv, err := server.Start(server.Config{Identity: identity(ident.Server), Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	<-srv.Ready()
	back := make(chan struct{}, 10)
	l, err := link.Open(link.Options{Identity: identity(ident.Host), Servers: []string{slowly(t, srv.Addr())}, Log: quiet, OnBack: func() { back <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	<-back
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	p := registry.NewPublisher(l.JetStream(), "a")
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(running) }()
	defer func() { stop(); <-ended }()
	p.Set("one", []byte("1"))
	for ctx.Err() == nil {
		all, err := registry.Snapshot(ctx, l.JetStream(), registry.Of("a"))
		if err == nil && len(all) == 1 && all[0].Record == "one" {
			return
		}
	}
	t.Fatal("what is there is never told")
}
