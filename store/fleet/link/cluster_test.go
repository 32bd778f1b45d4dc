package link_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// TestServerIsAwayForAWhile checks that a host whose server was down for a while publishes everything that changed
// meanwhile, and that its streams continue.
//
// FEATURES: R94
func TestServerIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.identity(certs.Host, "a", false)
	back := make(chan struct{}, 10)
	var pub *registry.Publisher
	made := make(chan struct{})
	l, err := link.Open(link.Options{Identity: id, Servers: []string{w.srv.Addr()}, Log: quiet(), OnConnect: func() {
		<-made
		pub.Resync()
		back <- struct{}{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	pub = registry.NewPublisher(l.JetStream(), "a")
	close(made)
	b := w.link(w.identity(certs.Host, "b", false))
	echo(b)
	<-back
	s, err := l.Dial(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s, make([]byte, len("a may look,type\n"))); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); pub.Run(ctx) }()
	defer func() { stop(); <-ended }()
	pub.Host([]byte(`{"n":1}`))
	pub.Set("stays", []byte("1"))
	pub.Set("goes", []byte("1"))
	has := func(want map[string]string) {
		t.Helper()
		for t.Context().Err() == nil {
			try, done := context.WithTimeout(t.Context(), 5*time.Second)
			all, err := registry.Snapshot(try, b.JetStream(), registry.AllPatterns())
			done()
			got := map[string]string{}
			for _, e := range all {
				got[e.Record] = string(e.Value)
			}
			if err == nil && fmt.Sprint(got) == fmt.Sprint(want) {
				return
			}
		}
	}
	has(map[string]string{"": `{"n":1}`, "stays": "1", "goes": "1"})

	w.restart()
	pub.Remove("goes")
	pub.Set("stays", []byte("2"))
	pub.Set("new", []byte("1"))
	if _, err := s.Write([]byte("typed while it was away")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("typed while it was away"))
	if _, err := io.ReadFull(s, got); err != nil || string(got) != "typed while it was away" {
		t.Errorf("%q, %v", got, err)
	}
	has(map[string]string{"": `{"n":1}`, "stays": "2", "new": "1"})
}

// TestClusterLosesItsLeader checks that a cluster that loses its leader continues: other members receive what is
// published.
//
// FEATURES: R94
func TestClusterLosesItsLeader(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	w := &world{t: t, dir: certs.Dir(t.TempDir())}
	var err error
	if w.ca, err = certs.NewAuthority("test"); err != nil {
		t.Fatal(err)
	}
	routes := freeAddresses(t, 3) // a cluster has to know of others before there are any
	servers, addrs := map[string]*server.Server{}, []string{}
	for n, name := range []string{"one", "two", "three"} {
		srv, err := server.Start(server.Config{
			Identity: w.identity(certs.Server, name, false), Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: quiet(),
			Cluster: routes[n], Routes: slices.Delete(slices.Clone(routes), n, n+1),
		})
		if err != nil {
			t.Fatal(err)
		}
		servers[name], addrs = srv, append(addrs, srv.Addr())
	}
	defer func() {
		for _, srv := range servers {
			srv.Close()
		}
	}()
	ctx, done := context.WithTimeout(t.Context(), 3*time.Minute)
	defer done()
	for name, srv := range servers { // each of them, though one alone leads
		select {
		case <-srv.Ready():
		case <-ctx.Done():
			t.Fatal(name, " is not ready")
		}
	}
	open := func(name string) *link.Link {
		l, err := link.Open(link.Options{Identity: w.identity(certs.Host, name, false), Servers: addrs, Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l
	}
	a, b := open("a"), open("b")
	pub := registry.NewPublisher(a.JetStream(), "a")
	running, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); pub.Run(running) }()
	defer func() { stop(); <-ended }()
	has := func(value string) {
		t.Helper()
		look := time.NewTicker(100 * time.Millisecond)
		defer look.Stop()
		for {
			all, err := registry.Snapshot(ctx, b.JetStream(), registry.HostPatterns("a"))
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(all, func(e registry.Entry) bool { return e.Record == "x" && string(e.Value) == value }) {
				return
			}
			<-look.C
		}
	}
	pub.Set("x", []byte("1"))
	has("1")
	s, err := b.JetStream().Stream(ctx, "KV_"+fleet.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	leader := s.CachedInfo().Cluster.Leader
	if servers[leader] == nil {
		t.Fatalf("%q leads", leader)
	}
	servers[leader].Close()
	delete(servers, leader)
	pub.Set("x", []byte("2"))
	has("2")
}

// freeAddresses returns addresses without listeners.
func freeAddresses(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}

// TestRecordThatIsNotTaken checks that a record that the registry rejects delays no other, and is named.
//
// FEATURES: R94
func TestRecordThatIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.link(w.identity(certs.Host, "a", false))
	pub := registry.NewPublisher(l.JetStream(), "a")
	big := make([]byte, 100<<10)
	_, _ = rand.Read(big)
	pub.Set("big", big)
	pub.Set("x", []byte("1"))
	pub.Host([]byte("{}"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); pub.Run(ctx) }()
	defer func() { stop(); <-ended }()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for range 1000 {
		if waiting, err := pub.State(); waiting == 0 && err != nil {
			if !strings.Contains(err.Error(), "big") {
				t.Error(err)
			}
			all, err := registry.Snapshot(t.Context(), l.JetStream(), registry.HostPatterns("a"))
			if err != nil || len(all) != 2 {
				t.Errorf("%v, %v", all, err)
			}
			return
		}
		<-look.C
	}
	t.Error(pub.State())
}

// TestMoreThanAThousandLook checks that more than a thousand members and viewers watch the registry at once, which
// exceeds JetStream's default limit.
//
// FEATURES: R94
func TestMoreThanAThousandLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	js := w.link(w.identity(certs.Host, "a", false)).JetStream()
	for n := range 1010 {
		_, err := js.CreateConsumer(t.Context(), "KV_"+fleet.Bucket, jetstream.ConsumerConfig{
			Name: fmt.Sprint("c", n), AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, InactiveThreshold: time.Hour,
		})
		if err != nil {
			t.Fatal(n, err)
		}
	}
}
