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

// Watch tells what is there, then (initial is done) what changes, until the context ends or the server is away. A value is
// who is told's to keep.
func Watch(ctx context.Context, js jetstream.JetStream, patterns []string, tell func(e Entry), settled func()) error {
	v := view{}
	return watch(ctx, js, patterns, lastTime, func(k *keyed) { v.take(k, tell) }, settled)
}

// keyed is a key of the registry as the servers have it.
type keyed struct {
	key, host, record string // no record: the host itself
	value             []byte // of a block: its records, raw
	bad               bool   // it is a block, and cannot be read
	gone              bool
	revision          uint64
	time              time.Time
}

// keyedOf reads a key. ok is false for what is not the registry's.
func keyedOf(e jetstream.KeyValueEntry) (k keyed, ok bool) {
	kind, rest, _ := strings.Cut(e.Key(), ".")
	k = keyed{key: e.Key(), value: e.Value(), gone: e.Operation() != jetstream.KeyValuePut, revision: e.Revision(), time: e.Created()}
	switch kind {
	case "h":
		k.host = rest
		return k, true
	case "r":
		if k.host, k.record, ok = strings.Cut(rest, "."); ok && !k.gone && isBlock(k.record) {
			raw, err := unpack(k.value)
			if err == nil {
				err = records(raw, func(_, _ []byte) {})
			}
			k.value, k.bad = raw, err != nil
		}
		return k, ok
	}
	return keyed{}, false
}

// records tells the records that a key has, which is no host's own.
func (k *keyed) records(tell func(name, value []byte)) {
	switch {
	case k.gone || k.bad:
	case isBlock(k.record):
		_ = records(k.value, tell) // it was read before
	default:
		tell([]byte(k.record), k.value)
	}
}

// each tells what a key says.
func (k *keyed) each(tell func(e Entry)) {
	if k.record == "" {
		tell(Entry{Host: k.host, Value: k.value, Gone: k.gone, Time: k.time})
		return
	}
	k.records(func(name, value []byte) { tell(Entry{Host: k.host, Record: string(name), Value: value, Time: k.time}) })
}

// settling finds out when all that was there at the beginning was told. The marker that JetStream's client gives comes
// once so many keys were told as there were, also where some of them are those that changed meanwhile: such a one comes
// once more, and another one not yet. So what counts is that nothing more waits to be told; where there is no such moment,
// as there are always changes under way, that twice as many were told as waited at the marker.
type settling struct {
	marked, done bool
	left         uint64 // after the marker, until it is taken for done
}

const settlingRest = 1000

// told is told how many keys wait to be told after this one, and says whether this was the last.
func (s *settling) told(waiting uint64) bool {
	if s.done || !s.marked {
		if waiting == 0 {
			s.left = 0
		} else {
			s.left = 2*waiting + settlingRest
		}
		return false
	}
	s.left--
	s.done = waiting == 0 || s.left == 0
	return s.done
}

// mark is told of the marker, and says whether all was told.
func (s *settling) mark() bool {
	if s.done || s.marked {
		return false
	}
	s.marked, s.done = true, s.left == 0
	return s.done
}

func watch(ctx context.Context, js jetstream.JetStream, patterns []string, patience time.Duration, tell func(k *keyed), settled func()) error {
	w, cut, err := begin(ctx, js, patterns, patience)
	if err != nil {
		return err
	}
	defer cut()
	var s settling
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return errors.Join(errors.New("the watch of the registry ended"), ctx.Err())
			}
			if e == nil {
				if s.mark() {
					settled()
				}
				continue
			}
			if k, ok := keyedOf(e); ok {
				tell(&k)
			}
			if s.told(e.Delta()) {
				settled()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// firstTime bounds how long the servers may take for each of what an attempt begins with, and for each word of what is
// there: a cluster that has just lost one does not answer at all, and another attempt is. Servers that are only slow are
// given twice as long by each attempt, up to lastTime: else none would ever end.
var firstTime = 2 * time.Second // shorter in tests

const lastTime = 16 * time.Second

// begin begins a watch; cut ends it.
func begin(ctx context.Context, js jetstream.JetStream, patterns []string, patience time.Duration, o ...jetstream.WatchOpt) (w jetstream.KeyWatcher, cut func(), err error) {
	asking, done := context.WithTimeout(ctx, patience)
	kv, err := js.KeyValue(asking, fleet.Bucket)
	done()
	if err != nil {
		return nil, nil, err
	}
	sub, end := context.WithCancel(ctx) // it ends the watch, so it has no deadline
	late := time.AfterFunc(patience, end)
	w, err = kv.WatchFiltered(sub, slices.Clone(patterns), o...) // which writes to what it is given
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

// errSettled ends a watch that was for what is there.
var errSettled = errors.New("settled")

var errQuiet = errors.New("the servers do not say what is in the registry")

// Times of a snapshot: after a round that is given up the next one begins after firstRound to lastRound.
const (
	firstRound = 250 * time.Millisecond
	lastRound  = time.Second
)

// Snapshot is what is there now, host by host. A round that a server did not end is begun again with another, until the
// context ends.
func Snapshot(ctx context.Context, js jetstream.JetStream, patterns []string) (all []Entry, err error) {
	keys, err := snapshot(ctx, js, patterns)
	return entriesOf(keys), err
}

// entriesOf is what keys say: of a record that is in two of a host's blocks what the newer one says.
func entriesOf(keys []keyed) []Entry {
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.revision, b.revision)) })
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

func snapshot(ctx context.Context, js jetstream.JetStream, patterns []string) (all []keyed, err error) {
	patience := firstTime
	for pause := firstRound; ; pause, patience = min(2*pause, lastRound), min(2*patience, lastTime) {
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

func round(ctx context.Context, js jetstream.JetStream, patterns []string, patience time.Duration) (all []keyed, err error) {
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	quiet := time.AfterFunc(3*patience, func() { done(errQuiet) }) // asked for what it is, begun, and told the first
	defer quiet.Stop()
	at := map[string]int{}
	err = watch(ctx, js, patterns, patience, func(k *keyed) {
		quiet.Reset(patience)
		if i, ok := at[k.key]; ok { // it has changed meanwhile
			all[i] = *k
			return
		}
		at[k.key], all = len(all), append(all, *k)
	}, func() { done(errSettled) })
	switch why := context.Cause(ctx); {
	case errors.Is(why, errSettled):
		return slices.DeleteFunc(all, func(k keyed) bool { return k.gone }), nil
	case errors.Is(why, errQuiet):
		return nil, errQuiet
	}
	return nil, err
}

// next is what a watch tells next; not ok: it ended. One whose connection was closed while it began does not say so.
func next(ctx context.Context, w jetstream.KeyWatcher) (e jetstream.KeyValueEntry, ok bool) {
	select {
	case e, ok = <-w.Updates():
	case <-ctx.Done():
	}
	return e, ok
}

// Follow tells the value of one key, and each new one, until the context ends.
func Follow(ctx context.Context, js jetstream.JetStream, key string, tell func(value []byte)) {
	patience := firstTime
	for pause := time.Second; ctx.Err() == nil; pause, patience = min(2*pause, 30*time.Second), min(2*patience, lastTime) {
		if w, cut, err := begin(ctx, js, []string{key}, patience, jetstream.IgnoreDeletes()); err == nil {
			for e, ok := next(ctx, w); ok; e, ok = next(ctx, w) {
				if e != nil {
					tell(e.Value())
					pause, patience = time.Second, firstTime
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
