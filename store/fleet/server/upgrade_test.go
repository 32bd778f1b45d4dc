package server

import (
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// TestOlderRegistry_Preserved checks that a registry of an older server keeps its data, and that members can no longer
// roll it up.
//
// FEATURES: R94
func TestOlderRegistry_Preserved(t *testing.T) {
	srv, err := nats.NewServer(&nats.Options{DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	defer srv.WaitForShutdown()
	defer srv.Shutdown()
	nc, err := client.Connect("", client.InProcessServer(srv))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{
		Bucket: fleet.Bucket, History: 1, Replicas: 1, LimitMarkerTTL: 10 * time.Minute, MaxValueSize: 64 << 10,
		Description: "what each host of the fleet says of itself",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), fleet.HostKey("b"), []byte("here")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := registry.Setup(t.Context(), js, 1); err != nil {
			t.Fatal(err)
		}
		_, err := js.PublishMsg(t.Context(), &client.Msg{Subject: fleet.KeySubject(fleet.HostKey("a")), Header: client.Header{"Nats-Rollup": {"all"}}})
		if err == nil {
			t.Error("a rollup of all keys was accepted")
		}
		if e, err := kv.Get(t.Context(), fleet.HostKey("b")); err != nil || string(e.Value()) != "here" {
			t.Errorf("%v, %v", e, err)
		}
	}
}
