package registry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// mute fakes a registry whose watches send one value and nothing more, not even their end, as one whose connection was
// closed at the start.
type mute struct {
	jetstream.JetStream
	updates chan jetstream.KeyValueEntry
}

func (m *mute) KeyValue(context.Context, string) (jetstream.KeyValue, error) {
	return bucket{m: m}, nil
}

type bucket struct {
	jetstream.KeyValue
	m *mute
}

func (b bucket) WatchFiltered(context.Context, []string, ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	return watcher(b.m.updates), nil
}

type watcher chan jetstream.KeyValueEntry

func (w watcher) Updates() <-chan jetstream.KeyValueEntry { return w }
func (w watcher) Stop() error                             { return nil }

type value struct{ jetstream.KeyValueEntry }

func (value) Value() []byte { return []byte("v") }

// cut is a connection that closes at the first read.
type cut struct {
	jetstream.JetStream
	close func()
}

func (c *cut) OrderedConsumer(ctx context.Context, stream string, cfg jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	defer c.close()
	return c.JetStream.OrderedConsumer(ctx, stream, cfg)
}

// TestEventsEndWithTheirConnection checks that a caller that waits for events is notified if the server was lost at the
// start.
//
// FEATURES: R94
func TestEventsEndWithTheirConnection(t *testing.T) {
	l := member(t, func(addr string) string { return addr })
	js := &cut{l.JetStream(), l.Close}
	if all, _, err := registry.EventsAfter(t.Context(), js, 0, 100, time.Hour); err == nil {
		t.Errorf("%d events", len(all))
	}
}

// TestFollowEndsWithItsContext checks that a follower of a key ends with its context, whatever the state of the
// connection: a daemon that leaves its fleet waits for it.
func TestFollowEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mute{updates: make(chan jetstream.KeyValueEntry, 2)}
		m.updates <- nil // end of the existing values
		m.updates <- value{}
		ctx, cancel := context.WithCancel(t.Context())
		told := ""
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			registry.Follow(ctx, m, "k", func(b []byte) { told += string(b) })
		}()
		synctest.Wait()
		cancel()
		<-ended
		if told != "v" {
			t.Errorf("%q", told)
		}
	})
}
