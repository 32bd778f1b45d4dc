package link_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// TestNothingIsWrittenInAnothersName checks that a malicious member with valid credentials cannot make JetStream write
// into others' subjects: neither by a consumer's deliver subject, nor by reply subjects or pulls. It also cannot delete
// their data.
//
// FEATURES: R94
func TestNothingIsWrittenInAnothersName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.link(w.identity(certs.Host, "b", false)).JetStream()
	theirs := map[string]string{fleet.KeySubject(fleet.HostKey("b")): "host", fleet.KeySubject(fleet.RecordKey("b", "x")): "session"}
	for subject, value := range theirs {
		if _, err := b.Publish(t.Context(), subject, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := registry.PublishEvent(t.Context(), b, "b", "ended", "1", []byte("event")); err != nil {
		t.Fatal(err)
	}

	i := w.identity(certs.Host, "a", false)
	nc, err := nats.Connect("tls://"+w.srv.Addr(), nats.Secure(asMember(i)), nats.UserInfo(i.Serial, ""), nats.CustomInboxPrefix(fleet.InboxPrefix("a")))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.NewWithAPIPrefix(nc, fleet.APIPrefix("a"))
	if err != nil {
		t.Fatal(err)
	}
	const forged = `{"host":"b","id":"x","state":"exited"}`
	own := fleet.EventSubject("a", "x")
	if _, err := js.Publish(t.Context(), own, []byte(forged)); err != nil {
		t.Fatal(err)
	}
	ask := func(what, reply, body string) {
		t.Helper()
		if err := nc.PublishMsg(&nats.Msg{Subject: fleet.APIPrefix("a") + "." + what, Reply: reply, Data: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	// A consumer of the member itself, from which it pulls. It works, so the others were not rejected for another
	// reason.
	pulled, err := js.CreateConsumer(t.Context(), fleet.Stream, jetstream.ConsumerConfig{Name: "mine", FilterSubject: own, AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		t.Fatal(err)
	}
	targets := []string{
		fleet.KeySubject(fleet.HostKey("b")), fleet.KeySubject(fleet.RecordKey("b", "x")), fleet.KeySubject(fleet.RecordKey("b", "new")),
		fleet.KeySubject(fleet.RevokedKey), fleet.KeySubject(fleet.CursorKey("b", "reader")), fleet.EventSubject("b", "forged"),
		fleet.CopySubject("b", "x"), fleet.CopyRecordSubject("b", "x"), fleet.DataSubject("b", "c", "1"), fleet.InboxPrefix("b") + ".x",
	}
	for n, to := range targets {
		consumer := func(name, config string) (what, body string) {
			name = fmt.Sprint(name, n)
			return "CONSUMER.CREATE." + fleet.Stream + "." + name + "." + own,
				`{"stream_name":"` + fleet.Stream + `","config":` + strings.ReplaceAll(config, "NAME", name) + `}`
		}
		what, body := consumer("push", `{"name":"NAME","filter_subject":"`+own+`","ack_policy":"none","deliver_policy":"all","deliver_subject":"`+to+`"}`)
		ask(what, nc.NewRespInbox(), body)
		what, body = consumer("twice", `{"name":"NAME","filter_subject":"`+own+`","ack_policy":"none","deliver_subject":"`+nc.NewRespInbox()+`"},`+
			`"Config":{"name":"NAME","filter_subject":"`+own+`","ack_policy":"none","Deliver_Subject":"`+to+`"}`)
		ask(what, nc.NewRespInbox(), body)
		ask("CONSUMER.MSG.NEXT."+fleet.Stream+".mine", to, "1")
		ask("DIRECT.GET."+fleet.Stream+"."+own, to, "")
		ask("STREAM.INFO."+fleet.Stream, to, "")
		ask("STREAM.INFO."+fleet.Stream, "", "")
	}
	_, err = js.PublishMsg(t.Context(), &nats.Msg{
		Subject: fleet.KeySubject(fleet.HostKey("a")), Data: []byte(forged), Header: nats.Header{"Nats-Rollup": {"all"}},
	})
	if err == nil {
		t.Error("a rollup of all keys was accepted")
	}
	// Requests are processed in order: earlier ones have been rejected, or done.
	batch, err := pulled.Fetch(1, jetstream.FetchMaxWait(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if m := <-batch.Messages(); m == nil || string(m.Data()) != forged {
		t.Fatalf("its own consumer: %v, %v", m, batch.Error())
	}
	for n := range targets {
		for _, name := range []string{"push", "twice"} {
			if c, err := js.Consumer(t.Context(), fleet.Stream, fmt.Sprint(name, n)); !errors.Is(err, jetstream.ErrConsumerNotFound) {
				t.Errorf("%s%d: %v, %v", name, n, c, err)
			}
		}
	}
	all, err := registry.Snapshot(t.Context(), js, registry.AllPatterns())
	if err != nil || len(all) != len(theirs) {
		t.Errorf("%d keys, %v", len(all), err)
	}
	for _, e := range all {
		if v := string(e.Value); e.Host != "b" || v != "host" && v != "session" {
			t.Errorf("%s %s: %s", e.Host, e.Record, v)
		}
	}
	kv, err := b.KeyValue(t.Context(), fleet.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{fleet.RevokedKey, fleet.CursorKey("b", "reader")} {
		if e, err := kv.Get(t.Context(), key); !errors.Is(err, jetstream.ErrKeyNotFound) {
			t.Errorf("%s: %v, %v", key, e, err)
		}
	}
	events, _, err := registry.EventsAfter(t.Context(), b, 0, 100, 0)
	if err != nil || len(events) != 2 || events[0].Host != "b" || events[1].Host != "a" {
		t.Errorf("%v, %v", events, err)
	}
}

// TestForgedRecords_Rewritten checks that an answer of JetStream that a message directed into a record's subject is no
// record, and that the record's host writes the real one again.
//
// FEATURES: R94
func TestForgedRecords_Rewritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.link(w.identity(certs.Host, "b", false))
	pub := registry.NewPublisher(l.JetStream(), "b")
	ctx, ended := t.Context(), make(chan struct{})
	pub.Set("x", []byte(`{"id":"x"}`))
	running, stop := context.WithCancel(ctx)
	go func() { defer close(ended); pub.Run(running) }()
	defer func() { stop(); <-ended }()
	has := func(what string, want map[string]string) {
		t.Helper()
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		got := map[string]string{}
		for end := time.Now().Add(time.Minute); time.Now().Before(end); <-look.C {
			all, err := registry.Snapshot(ctx, l.JetStream(), registry.HostPatterns("b"))
			if err != nil {
				t.Fatal(err)
			}
			clear(got)
			for _, e := range all {
				got[e.Record] = string(e.Value)
			}
			if fmt.Sprint(got) == fmt.Sprint(want) {
				return
			}
		}
		t.Fatalf("%s: %v", what, got)
	}
	right := map[string]string{"x": `{"id":"x"}`}
	has("at first", right)

	i := w.identity(certs.Host, "a", false)
	nc, err := nats.Connect("tls://"+w.srv.Addr(), nats.Secure(asMember(i)), nats.UserInfo(i.Serial, ""), nats.CustomInboxPrefix(fleet.InboxPrefix("a")))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for n, key := range []string{fleet.BlockKey("b", 0), fleet.BlockKey("b", 7), fleet.RecordKey("b", "new")} {
		if err := nc.PublishRequest(fleet.KeySubject(fleet.HostKey("a")), fleet.KeySubject(key), []byte{byte(n)}); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(time.Minute); ; {
		all, err := registry.Snapshot(ctx, l.JetStream(), registry.HostPatterns("b"))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && all[0].Record == "new" { // as a host of an older version would publish it, with unreadable blocks
			break
		}
		if time.Now().After(end) {
			t.Fatal("no record is damaged any more: the workaround can be removed")
		}
	}
	pub.Resync()
	has("afterwards", right)
}

// TestOlderServer_Reported checks that a server that does not allow members' requests to JetStream is reported as an
// older version, until it is replaced.
//
// FEATURES: R94
func TestOlderServer_Reported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.link(w.identity(certs.Host, "a", false))
	state := func(want error) {
		t.Helper()
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for end := time.Now().Add(time.Minute); ; <-look.C {
			_, err := l.State()
			if errors.Is(err, want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%v instead of %v", err, want)
			}
		}
	}
	state(nil)
	ctx, done := context.WithCancel(t.Context())
	asked := make(chan struct{})
	go func() { // no member may query this server, as on older versions
		defer close(asked)
		_, _ = l.JetStream().Stream(ctx, "LT_OTHER")
	}()
	state(link.ErrOlder)
	done()
	<-asked
	w.restart()
	state(nil)
}
