// Package registry is what every host of a fleet says of itself, in a JetStream key-value bucket, and the stream of what
// happened.
//
// A host has one key of its own, which goes when it is not renewed: the host is away. Its records have keys below its
// name and stay for RecordTime, so that one knows of a host that is away what it had. A Publisher is told what is the
// case and sees to it that the bucket says so, at most ten times a second for each record, also after a cut; a watch has
// one consumer for all that its viewer looks at.
package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
)

// Times of keys.
const (
	// HostTime is how long a host counts as connected after it was heard of.
	HostTime = 20 * time.Second
	// RecordTime is how long a record is known of a host that is away.
	RecordTime = 30 * 24 * time.Hour
	// EventTime is how long events are kept, and EventBytes how much of them.
	EventTime  = 14 * 24 * time.Hour
	EventBytes = 256 << 20
)

// Setup makes the bucket and the stream, or has them kept by more servers.
func Setup(ctx context.Context, js jetstream.JetStream, replicas int) error {
	// A bucket as JetStream makes them, but for what a member could do with it: a rollup by one member would purge what the
	// others have there. Markers of keys that have gone by themselves need rollups, so there are none.
	_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "KV_" + fleet.Bucket, Subjects: []string{fleet.KeySubject(">")}, MaxMsgsPerSubject: 1, Replicas: replicas, MaxMsgSize: 64 << 10,
		Discard: jetstream.DiscardNew, Duplicates: 2 * time.Minute, Storage: jetstream.FileStorage, MaxMsgs: -1, MaxBytes: -1,
		MaxConsumers: -1, AllowDirect: true, DenyDelete: true, AllowMsgTTL: true, Description: "what each host of the fleet says of itself",
	})
	if err != nil {
		return fmt.Errorf("the registry's bucket: %w", err)
	}
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: fleet.Stream, Subjects: []string{fleet.EventsOf("*")}, Replicas: replicas, MaxAge: EventTime, MaxBytes: EventBytes,
		Discard: jetstream.DiscardOld, Duplicates: time.Hour, Storage: jetstream.FileStorage, MaxMsgSize: 256 << 10, AllowDirect: true,
		Description: "what happened on the fleet's hosts",
	})
	if err != nil {
		return fmt.Errorf("the stream of events: %w", err)
	}
	return nil
}

// Entry is a key and its value, or that it has gone.
type Entry struct {
	Host, Record string // no record: the host itself
	Value        []byte
	Gone         bool
	Time         time.Time // of the server that took it
}

// entryOf reads a key. ok is false for what is not the registry's.
func entryOf(e jetstream.KeyValueEntry) (out Entry, ok bool) {
	kind, rest, _ := strings.Cut(e.Key(), ".")
	out = Entry{Value: e.Value(), Gone: e.Operation() != jetstream.KeyValuePut, Time: e.Created()}
	switch kind {
	case "h":
		out.Host = rest
		return out, true
	case "r":
		out.Host, out.Record, ok = strings.Cut(rest, ".")
		return out, ok
	}
	return Entry{}, false
}

// Everything are the patterns of all hosts and records; Hosts of hosts alone; Of of one host.
func Everything() []string    { return []string{fleet.HostKey("*"), fleet.RecordKey("*", ">")} }
func Hosts() []string         { return []string{fleet.HostKey("*")} }
func Of(host string) []string { return []string{fleet.HostKey(host), fleet.RecordKey(host, ">")} }

// Watch tells what is there, then (initial is done) what changes, until the context ends or the server is away.
func Watch(ctx context.Context, js jetstream.JetStream, patterns []string, tell func(e Entry), settled func()) error {
	return watch(ctx, js, patterns, lastTime, tell, settled)
}

func watch(ctx context.Context, js jetstream.JetStream, patterns []string, patience time.Duration, tell func(e Entry), settled func()) error {
	w, cut, err := begin(ctx, js, patterns, patience)
	if err != nil {
		return err
	}
	defer cut()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return errors.Join(errors.New("the watch of the registry ended"), ctx.Err())
			case e == nil:
				settled()
			default:
				if entry, ok := entryOf(e); ok {
					tell(entry)
				}
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

// Snapshot is what is there now. A round that a server did not end is begun again with another, until the context ends.
func Snapshot(ctx context.Context, js jetstream.JetStream, patterns []string) (all []Entry, err error) {
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

func round(ctx context.Context, js jetstream.JetStream, patterns []string, patience time.Duration) (all []Entry, err error) {
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	quiet := time.AfterFunc(3*patience, func() { done(errQuiet) }) // asked for what it is, begun, and told the first
	defer quiet.Stop()
	err = watch(ctx, js, patterns, patience, func(e Entry) {
		quiet.Reset(patience)
		if !e.Gone {
			all = append(all, e)
		}
	}, func() { done(errSettled) })
	switch why := context.Cause(ctx); {
	case errors.Is(why, errSettled):
		return all, nil
	case errors.Is(why, errQuiet):
		return nil, errQuiet
	}
	return nil, err
}

// Follow tells the value of one key, and each new one, until the context ends.
func Follow(ctx context.Context, js jetstream.JetStream, key string, tell func(value []byte)) {
	patience := firstTime
	for pause := time.Second; ctx.Err() == nil; pause, patience = min(2*pause, 30*time.Second), min(2*patience, lastTime) {
		if w, cut, err := begin(ctx, js, []string{key}, patience, jetstream.IgnoreDeletes()); err == nil {
			for e := range w.Updates() {
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

// Jitter is a time between half of d and d: those who were cut off at once do not come back at once.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// hostOf is the host, and the kind, of an event's subject: the server lets nobody else publish there.
func hostOf(subject string) (host, kind string) {
	f := strings.Split(subject, ".")
	if len(f) != 4 {
		return "", ""
	}
	return f[2], f[3]
}
