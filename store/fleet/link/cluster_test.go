package link_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// A host whose server is away and comes back has told everything that changed meanwhile, and its streams go on.
//
// FEATURES: R94
func TestServerIsAwayForAWhile(t *testing.T) {
	w := newWorld(t)
	id := w.identity(ident.Host, "a", false)
	back := make(chan struct{}, 10)
	var pub *registry.Publisher
	made := make(chan struct{})
	l, err := link.Open(link.Options{Identity: id, Servers: []string{w.srv.Addr()}, Log: quiet(), OnBack: func() {
		<-made
		pub.Anew()
		back <- struct{}{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	pub = registry.NewPublisher(l.JetStream(), "a")
	close(made)
	b := w.link(w.identity(ident.Host, "b", false))
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
			all, err := registry.Snapshot(try, b.JetStream(), registry.Everything())
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
