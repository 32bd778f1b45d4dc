//go:build !race

// The own JetStream of nats-server, if it restarts while clients query it, writes fields that they read
// (jetStream.apiSubs, v2.15.2): the race detector reports that for any program.

package server

import (
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
)

// TestServerKeepsAgain checks that a server whose disk was full stores data again once there is space, with its earlier
// data, and without a restart.
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
	if err := s.srv.ShutdownJetStream(); err != nil { // as after a write that failed for lack of space
		t.Fatal(err)
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for put() != nil {
		<-look.C
	}
	stream, err := js.Stream(t.Context(), "KV_"+fleet.Bucket)
	if err != nil || stream.CachedInfo().State.LastSeq < 2 {
		t.Errorf("%v, its data is gone", err)
	}
}

// alone returns a single server that is ready and often checks its state.
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
