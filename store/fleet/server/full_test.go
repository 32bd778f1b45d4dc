//go:build !race

// nats-server's own JetStream, taken up again while clients ask it, writes what they read (jetStream.apiSubs, v2.15.2): the race
// detector says so of any program that does it.

package server

import (
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
)

// A server whose disk was full keeps again what it is given once there is room, with what it had, and without being started
// anew.
//
// FEATURES: R94
func TestServerKeepsAgain(t *testing.T) {
	s := alone(t, t.TempDir(), slog.New(slog.DiscardHandler))
	js, err := jetstream.New(s.local)
	if err != nil {
		t.Fatal(err)
	}
	put := func() error {
		_, err := js.Publish(t.Context(), fleet.KeySubject(fleet.HostKey("a")), []byte("{}"), jetstream.WithRetryAttempts(0))
		return err
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	if err := s.srv.ShutdownJetStream(); err != nil { // as it does when a write fails for want of room
		t.Fatal(err)
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for put() != nil {
		<-look.C
	}
	stream, err := js.Stream(t.Context(), "KV_"+fleet.Bucket)
	if err != nil || stream.CachedInfo().State.LastSeq < 2 {
		t.Errorf("%v, what it had is gone", err)
	}
}

// alone is a server that is ready, with no others, which looks often whether all is as it should be.
func alone(t *testing.T, store string, log *slog.Logger) *Server {
	t.Helper()
	ca, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	dir := certs.Dir(t.TempDir())
	key, csr, err := certs.NewKey("one")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := dir.Admit(ca, certs.Member{Name: "one", Kind: certs.Server}, csr)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(Config{
		Identity: &certs.Identity{Member: certs.MemberOf(cert), CA: ca.Cert, Cert: cert, Key: key}, Dir: store, Listen: "127.0.0.1:0",
		Log: log, interval: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	<-s.Ready()
	return s
}
