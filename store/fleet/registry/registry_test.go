package registry_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// delay is the time of a message in each direction, impatience the timeout of a first attempt.
const (
	delay      = 30 * time.Millisecond
	impatience = 10 * time.Millisecond
)

// slowly returns an address that forwards to another one with delays.
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

// member is a host "a" of a fleet with its own server, whose address via may replace.
func member(t *testing.T, via func(addr string) string) *link.Link {
	t.Helper()
	dir := certs.Dir(t.TempDir())
	ca, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	identity := func(k certs.Kind) *certs.Identity {
		t.Helper()
		key, csr, err := certs.NewKey("a")
		if err != nil {
			t.Fatal(err)
		}
		cert, err := dir.Admit(ca, certs.Member{Name: "a", Kind: k}, csr)
		if err != nil {
			t.Fatal(err)
		}
		return &certs.Identity{Member: certs.MemberOf(cert), CA: ca.Cert, Cert: cert, Key: key}
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	srv, err := server.Start(server.Config{Identity: identity(certs.Server), Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	<-srv.Ready()
	back := make(chan struct{}, 10)
	l, err := link.Open(link.Options{Identity: identity(certs.Host), Servers: []string{via(srv.Addr())}, Log: quiet, OnConnect: func() { back <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	<-back
	return l
}

// publish runs a publisher until the test ends.
func publish(t *testing.T, p *registry.Publisher) {
	t.Helper()
	running, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(running) }()
	t.Cleanup(func() { stop(); <-ended })
}

// TestEverything checks that Everything returns the records of hosts, host by host, and nothing else of the bucket. It
// uses one pattern, the bucket's own: with several a server searches all keys for each message.
//
// FEATURES: R94
func TestEverything(t *testing.T) {
	l := member(t, func(addr string) string { return addr })
	js := l.JetStream()
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	if n := len(registry.AllPatterns()); n != 1 {
		t.Errorf("%d patterns", n)
	}
	p := registry.NewPublisher(js, "a")
	publish(t, p)
	if err := registry.Acknowledge(ctx, js, "a", "reader", 7); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"": "host"}
	p.Host([]byte("host"))
	for i := range 100 {
		want[fmt.Sprint("s", i)] = fmt.Sprint("before ", i)
		p.Set(fmt.Sprint("s", i), []byte(fmt.Sprint("before ", i)))
	}
	for i := range 10 {
		want[fmt.Sprint("s", 10*i)] = "changed"
		p.Set(fmt.Sprint("s", 10*i), []byte("changed"))
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !p.IsSynced() {
		select {
		case <-ctx.Done():
			t.Fatal("the registry is not notified")
		case <-tick.C:
		}
	}
	all, err := registry.Snapshot(ctx, js, registry.AllPatterns())
	got := map[string]string{}
	for _, e := range all {
		got[e.Record] = string(e.Value)
	}
	if err != nil || !maps.Equal(got, want) || len(all) != len(want) {
		t.Errorf("%d entries, %v: %v", len(all), err, got)
	}
}

// TestSlowServersAreListenedTo checks that servers that need longer for an answer than the first attempt's timeout are
// watched by a later attempt.
//
// FEATURES: R94
func TestSlowServersAreListenedTo(t *testing.T) {
	tier.Full(t)
	t.Cleanup(registry.SetFirstTime(impatience)) // the last of all: the server and the link wait, too
	slow := member(t, func(addr string) string { return slowly(t, addr) })
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	p := registry.NewPublisher(slow.JetStream(), "a")
	publish(t, p)
	p.Set("one", []byte("1"))
	for ctx.Err() == nil {
		all, err := registry.Snapshot(ctx, slow.JetStream(), registry.HostPatterns("a"))
		if err == nil && len(all) == 1 && all[0].Record == "one" {
			return
		}
	}
	t.Fatal("existing records are never sent")
}
