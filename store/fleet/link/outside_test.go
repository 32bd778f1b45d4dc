package link_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/link"
)

// somebodys is a NATS that is not the fleet's.
func somebodys(t *testing.T, withJetStream bool) (url string) {
	t.Helper()
	s, err := nats.NewServer(&nats.Options{Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: withJetStream, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("it does not listen")
	}
	return s.ClientURL()
}

// TestPrepare checks that the streams of a fleet are created if they are missing and unchanged if they exist, and that
// an unsuitable NATS is reported with the reason.
//
// FEATURES: R94
func TestPrepare(t *testing.T) {
	t.Parallel()
	url := somebodys(t, true)
	for range 2 {
		if err := link.Prepare(t.Context(), []string{url}, link.ForeignAccess{}); err != nil {
			t.Fatal(err)
		}
	}
	nc, err := client.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), fleet.CopyRecords)
	if err != nil {
		t.Fatal(err)
	}
	c := s.CachedInfo().Config
	c.MaxMsgsPerSubject = 5
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	refused := func(name, url string, o link.ForeignAccess, want string) {
		t.Helper()
		if err := link.Prepare(t.Context(), []string{url}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("it keeps what is old", url, link.ForeignAccess{}, fleet.CopyRecords+" is there and does not do: it keeps 5 messages of a subject, and not 1")
	refused("it keeps nothing", somebodys(t, false), link.ForeignAccess{}, "enables it")
	none := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(none, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a file of no credentials", url, link.ForeignAccess{Creds: none}, "neither a user's JWT nor the seed")
	refused("no file", url, link.ForeignAccess{Creds: none + "s"}, "no such file")
	if got := link.WithoutCredentials("nats://ann:hunter2@host:4222"); got != "nats://host:4222" {
		t.Error(got)
	}
}
