// Package registry is what every host of a fleet says of itself, in a JetStream key-value bucket, and the stream of what
// happened.
//
// A host has one key of its own, which goes when it is not renewed: the host is away. Its records are in blocks, some
// dozens to a key below its name, which stay for RecordTime, so that one knows of a host that is away what it had. A
// Publisher is told what is the case and sees to it that the bucket says so, at most ten times a second for each block,
// also after a cut; a watch has one consumer for all that its viewer looks at, and tells of a block what has changed.
package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

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

// Streams are the bucket and the stream, kept by one server.
func Streams() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		// A bucket as JetStream makes them, but for what a member could do with it: a rollup by one member would purge what the
		// others have there. Markers of keys that have gone by themselves need rollups, so there are none.
		{
			Name: "KV_" + fleet.Bucket, Subjects: []string{fleet.KeySubject(">")}, MaxMsgsPerSubject: 1, Replicas: 1, MaxMsgSize: 64 << 10,
			Discard: jetstream.DiscardNew, Duplicates: 2 * time.Minute, Storage: jetstream.FileStorage, MaxMsgs: -1, MaxBytes: -1,
			MaxConsumers: -1, AllowDirect: true, DenyDelete: true, AllowMsgTTL: true, Description: "what each host of the fleet says of itself",
		},
		{
			Name: fleet.Stream, Subjects: []string{fleet.EventsOf("*")}, Replicas: 1, MaxMsgsPerSubject: -1, MaxAge: EventTime, MaxBytes: EventBytes,
			Discard: jetstream.DiscardOld, Duplicates: time.Hour, Storage: jetstream.FileStorage, MaxMsgSize: 256 << 10, AllowDirect: true,
			Description: "what happened on the fleet's hosts",
		},
	}
}

// Setup makes them, or has them kept by more servers.
func Setup(ctx context.Context, js jetstream.JetStream, replicas int) error {
	for _, c := range Streams() {
		c.Replicas = replicas
		if _, err := js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("the stream %s: %w", c.Name, err)
		}
	}
	return nil
}

// Entry is a host or a record and its value, or that it has gone.
type Entry struct {
	Host, Record string // no record: the host itself
	Value        []byte
	Gone         bool
	Time         time.Time // of the server that took it
}

// Everything are the patterns of all hosts and records; Hosts of hosts alone; Of of one host. Everything is one pattern,
// the stream's own subject: for two the server looks at all keys of a block of its file before each message it tells, which
// of 4,000 keys took it 5.7 s, and for one that is not the stream's own it does so where keys are few and old messages many.
// What else is in the bucket is little, and passed over here.
func Everything() []string    { return []string{jetstream.AllKeys} }
func Hosts() []string         { return []string{fleet.HostKey("*")} }
func Of(host string) []string { return []string{fleet.HostKey(host), fleet.RecordKey(host, ">")} }

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
