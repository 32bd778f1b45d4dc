package registry

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
)

// Event is something that happened on a host.
type Event struct {
	Host, Kind string
	Seq        uint64 // in the stream
	Value      []byte
}

// PublishEvent stores an event. The server drops an event whose ID was published within the last hour.
func PublishEvent(ctx context.Context, js jetstream.JetStream, host, kind, id string, value []byte) error {
	_, err := js.Publish(ctx, fleet.EventSubject(host, kind), value, jetstream.WithMsgID(host+"/"+id))
	return err
}

// Cursor returns the last sequence number that a reader of a host acknowledged. A new reader starts after the newest
// event.
func Cursor(ctx context.Context, js jetstream.JetStream, host, reader string) (uint64, error) {
	kv, err := js.KeyValue(ctx, fleet.Bucket)
	if err != nil {
		return 0, err
	}
	e, err := kv.Get(ctx, fleet.CursorKey(host, reader))
	switch {
	case err == nil && len(e.Value()) == 8:
		return binary.BigEndian.Uint64(e.Value()), nil
	case err == nil: // damaged: repeat events rather than lose some
		return 0, nil
	}
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, err
	}
	s, err := js.Stream(ctx, fleet.Stream)
	if err != nil {
		return 0, err
	}
	at := s.CachedInfo().State.LastSeq
	return at, Acknowledge(ctx, js, host, reader, at)
}

// Acknowledge moves a reader's cursor.
func Acknowledge(ctx context.Context, js jetstream.JetStream, host, reader string, upTo uint64) error {
	_, err := js.Publish(ctx, fleet.KeySubject(fleet.CursorKey(host, reader)), binary.BigEndian.AppendUint64(nil, upTo))
	return err
}

// EventsAfter returns at most limit events after a sequence number, oldest first. If none is stored, it waits for one
// for up to wait. lost counts events that were dropped before they could be read.
func EventsAfter(ctx context.Context, js jetstream.JetStream, after uint64, limit int, wait time.Duration) (all []Event, lost uint64, err error) {
	s, err := js.Stream(ctx, fleet.Stream)
	if err != nil {
		return nil, 0, fmt.Errorf("the fleet's events: %w", err)
	}
	state := s.CachedInfo().State
	if state.FirstSeq > after+1 {
		lost = state.FirstSeq - after - 1
	}
	c, err := js.OrderedConsumer(ctx, fleet.Stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1, InactiveThreshold: time.Minute,
		MaxResetAttempts: 1, // else the client retries until the server is back, ignoring ctx and reporting no error
	})
	if err != nil {
		return nil, lost, err
	}
	if waiting := min(uint64(limit), state.LastSeq-min(state.LastSeq, after)); waiting > 0 {
		limit = int(waiting) //nolint:gosec // bounded by limit
		wait = 5 * time.Second
	} else {
		limit = 1
	}
	if wait <= 0 {
		return nil, lost, nil
	}
	batch, err := c.Fetch(limit, jetstream.FetchMaxWait(wait))
	if err != nil {
		return nil, lost, err
	}
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return all, lost, err
		}
		host, kind := hostOf(m.Subject())
		all = append(all, Event{Host: host, Kind: kind, Seq: meta.Sequence.Stream, Value: m.Data()})
	}
	return all, lost, batch.Error()
}
