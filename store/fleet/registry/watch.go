package registry

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
)

// Watch calls emit for each existing entry, calls synced, then calls emit for each change. It returns when the context
// ends or the server is away. emit may keep the value.
func Watch(ctx context.Context, js jetstream.JetStream, patterns []string, emit func(e Entry), synced func()) error {
	v := view{}
	return watch(ctx, js, patterns, maxStepTimeout, func(k *keyValue) { v.apply(k, emit) }, synced)
}

// keyValue is a key of the registry with its value on the servers.
type keyValue struct {
	key, host, record string // key, and its parts; record is empty for the host itself
	value             []byte // for a block: its uncompressed records
	corrupt           bool   // the block cannot be decoded
	deleted           bool   // the key was deleted
	revision          uint64
	time              time.Time
}

// decodeKey decodes a key. It returns false for keys that are not the registry's.
func decodeKey(e jetstream.KeyValueEntry) (k keyValue, ok bool) {
	kind, rest, _ := strings.Cut(e.Key(), ".")
	k = keyValue{key: e.Key(), value: e.Value(), deleted: e.Operation() != jetstream.KeyValuePut, revision: e.Revision(), time: e.Created()}
	switch kind {
	case "h":
		k.host = rest
		return k, true
	case "r":
		if k.host, k.record, ok = strings.Cut(rest, "."); ok && !k.deleted && isBlock(k.record) {
			raw, err := unpack(k.value)
			if err == nil {
				err = records(raw, func(_, _ []byte) {})
			}
			k.value, k.corrupt = raw, err != nil
		}
		return k, ok
	}
	return keyValue{}, false
}

// records calls visit for each record of a key that is not a host's own.
func (k *keyValue) records(visit func(name, value []byte)) {
	switch {
	case k.deleted || k.corrupt:
	case isBlock(k.record):
		_ = records(k.value, visit) // it was read before
	default:
		visit([]byte(k.record), k.value)
	}
}

// each calls emit for each entry of a key.
func (k *keyValue) each(emit func(e Entry)) {
	if k.record == "" {
		emit(Entry{Host: k.host, Value: k.value, Removed: k.deleted, Time: k.time})
		return
	}
	k.records(func(name, value []byte) { emit(Entry{Host: k.host, Record: string(name), Value: value, Time: k.time}) })
}

// initialSync detects when all entries that existed at the start have been delivered. The client's marker comes after
// as many keys as existed then, which is too early if some of them changed: a changed key is delivered twice and
// displaces another. So the sync is done when no message waits any longer, or, under constant changes, after twice as
// many messages as waited at the marker.
type initialSync struct {
	marked, done bool
	remaining    uint64 // messages after the marker until the sync counts as done
}

// syncMargin is the number of messages after the marker that are always awaited.
const syncMargin = 1000

// observe handles a key. waiting is the number of keys that follow. It reports whether the key completed the sync.
func (s *initialSync) observe(waiting uint64) bool {
	if s.done || !s.marked {
		if waiting == 0 {
			s.remaining = 0
		} else {
			s.remaining = 2*waiting + syncMargin
		}
		return false
	}
	s.remaining--
	s.done = waiting == 0 || s.remaining == 0
	return s.done
}

// handleMarker handles the client's marker, and reports whether it completed the sync.
func (s *initialSync) handleMarker() bool {
	if s.done || s.marked {
		return false
	}
	s.marked, s.done = true, s.remaining == 0
	return s.done
}

func watch(ctx context.Context, js jetstream.JetStream, patterns []string, timeout time.Duration, emit func(k *keyValue), synced func()) error {
	w, cut, err := startWatch(ctx, js, patterns, timeout)
	if err != nil {
		return err
	}
	defer cut()
	var s initialSync
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return errors.Join(errors.New("the watch of the registry ended"), ctx.Err())
			}
			if e == nil {
				if s.handleMarker() {
					synced()
				}
				continue
			}
			if k, ok := decodeKey(e); ok {
				emit(&k)
			}
			if s.observe(e.Delta()) {
				synced()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// minStepTimeout is the timeout for each step of a watch's start and for each key. A cluster that has just lost a
// server does not answer at all, so the attempt is repeated. Each attempt doubles the timeout up to maxStepTimeout, so
// that slow servers succeed too. Tests shorten it.
var minStepTimeout = 2 * time.Second

// maxStepTimeout limits minStepTimeout's doubling.
const maxStepTimeout = 16 * time.Second

// startWatch starts a watch; cut ends it.
func startWatch(ctx context.Context, js jetstream.JetStream, patterns []string, timeout time.Duration, o ...jetstream.WatchOpt) (w jetstream.KeyWatcher, cut func(), err error) {
	asking, done := context.WithTimeout(ctx, timeout)
	kv, err := js.KeyValue(asking, fleet.Bucket)
	done()
	if err != nil {
		return nil, nil, err
	}
	sub, end := context.WithCancel(ctx) // canceling it ends the watch, so it has no deadline
	late := time.AfterFunc(timeout, end)
	w, err = kv.WatchFiltered(sub, slices.Clone(patterns), o...) // WatchFiltered changes the slice
	if !late.Stop() && err == nil {
		_ = w.Stop()
		err = context.DeadlineExceeded
	}
	if err != nil {
		end()
		return nil, nil, errors.Join(err, ctx.Err())
	}
	return w, func() {
		_ = w.Stop()
		end()
	}, nil
}

// errSynced ends a watch that only reads a snapshot.
var errSynced = errors.New("settled")

var errUnresponsive = errors.New("registry: no answer from the servers")

// Backoff between the rounds of a snapshot.
const (
	minRoundBackoff = 250 * time.Millisecond
	maxRoundBackoff = time.Second
)

// Snapshot returns all current entries, sorted by host. It retries a round that fails with another server until the
// context ends.
func Snapshot(ctx context.Context, js jetstream.JetStream, patterns []string) (all []Entry, err error) {
	keys, err := snapshot(ctx, js, patterns)
	return entriesOf(keys), err
}

// entriesOf returns the entries of keys. If a record is in two blocks of a host, the newer block counts.
func entriesOf(keys []keyValue) []Entry {
	slices.SortFunc(keys, func(a, b keyValue) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.revision, b.revision))
	})
	n := 0
	for i := range keys {
		keys[i].records(func(_, _ []byte) { n++ })
	}
	all := make([]Entry, 0, n)
	at := map[string]int{} // of this host's records
	for i := range keys {
		if k := &keys[i]; i == 0 || k.host != keys[i-1].host {
			clear(at)
		}
		keys[i].each(func(e Entry) {
			if old, ok := at[e.Record]; ok { // in another block since
				all[old] = e
				return
			}
			at[e.Record], all = len(all), append(all, e)
		})
	}
	return all
}

// snapshot reads all current keys, with retries.
func snapshot(ctx context.Context, js jetstream.JetStream, patterns []string) (all []keyValue, err error) {
	patience := minStepTimeout
	for pause := minRoundBackoff; ; pause, patience = min(2*pause, maxRoundBackoff), min(2*patience, maxStepTimeout) {
		all, err := round(ctx, js, patterns, patience)
		if err == nil || errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, nats.ErrConnectionClosed) {
			return all, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(Jitter(pause)):
		}
	}
}

// round reads all current keys once.
func round(ctx context.Context, js jetstream.JetStream, patterns []string, timeout time.Duration) (all []keyValue, err error) {
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	quiet := time.AfterFunc(3*timeout, func() { done(errUnresponsive) }) // three steps: bucket lookup, watch, first key
	defer quiet.Stop()
	at := map[string]int{}
	err = watch(ctx, js, patterns, timeout, func(k *keyValue) {
		quiet.Reset(timeout)
		if i, ok := at[k.key]; ok { // changed during the round
			all[i] = *k
			return
		}
		at[k.key], all = len(all), append(all, *k)
	}, func() { done(errSynced) })
	switch why := context.Cause(ctx); {
	case errors.Is(why, errSynced):
		return slices.DeleteFunc(all, func(k keyValue) bool { return k.deleted }), nil
	case errors.Is(why, errUnresponsive):
		return nil, errUnresponsive
	}
	return nil, err
}

// next returns the next update of a watch, or false if the watch or ctx ended. A watch whose connection closed during
// its start does not end its channel.
func next(ctx context.Context, w jetstream.KeyWatcher) (e jetstream.KeyValueEntry, ok bool) {
	select {
	case e, ok = <-w.Updates():
	case <-ctx.Done():
	}
	return e, ok
}

// Follow calls handle with a key's value and with each new value, until the context ends.
func Follow(ctx context.Context, js jetstream.JetStream, key string, handle func(value []byte)) {
	patience := minStepTimeout
	for pause := time.Second; ctx.Err() == nil; pause, patience = min(2*pause, 30*time.Second), min(2*patience, maxStepTimeout) {
		if w, cut, err := startWatch(ctx, js, []string{key}, patience, jetstream.IgnoreDeletes()); err == nil {
			for e, ok := next(ctx, w); ok; e, ok = next(ctx, w) {
				if e != nil {
					handle(e.Value())
					pause, patience = time.Second, minStepTimeout
				}
			}
			cut()
		}
		select {
		case <-ctx.Done():
		case <-time.After(Jitter(pause)):
		}
	}
}
