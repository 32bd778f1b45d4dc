// Package registry stores the state of every host of a fleet in a JetStream key-value bucket, and fleet events in a
// stream.
//
// A host has its own key, which expires unless it is renewed: an expired key means that the host is away. Its records
// are packed into blocks, some dozens per key. Blocks stay for RecordTime, so that the sessions of an absent host can
// still be listed. A Publisher writes a host's changes at most ten times a second per block, and resyncs after an
// outage. A watch uses one consumer for all its patterns and reports only the records of a block that changed.
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
	// HostTime is how long a host counts as connected after its last renewal.
	HostTime = 20 * time.Second
	// RecordTime is how long a record of an unreachable host is stored.
	RecordTime = 30 * 24 * time.Hour
	// EventTime is how long events are stored, and EventBytes limits their size.
	EventTime  = 14 * 24 * time.Hour
	EventBytes = 256 << 20
)

// Streams returns the configurations of the bucket and the event stream, with one replica.
func Streams() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		// As JetStream creates a bucket, without what a member could abuse: a rollup would purge other members' keys.
		// Markers of expired keys need rollups, so they are off too.
		{
			Name: "KV_" + fleet.Bucket, Subjects: []string{fleet.KeySubject(">")}, MaxMsgsPerSubject: 1, Replicas: 1, MaxMsgSize: 64 << 10,
			Discard: jetstream.DiscardNew, Duplicates: 2 * time.Minute, Storage: jetstream.FileStorage, MaxMsgs: -1, MaxBytes: -1,
			MaxConsumers: -1, AllowDirect: true, DenyDelete: true, AllowMsgTTL: true, Description: "state of each host of the fleet",
		},
		{
			Name: fleet.Stream, Subjects: []string{fleet.EventPattern("*")}, Replicas: 1, MaxMsgsPerSubject: -1, MaxAge: EventTime, MaxBytes: EventBytes,
			Discard: jetstream.DiscardOld, Duplicates: time.Hour, Storage: jetstream.FileStorage, MaxMsgSize: 256 << 10, AllowDirect: true,
			Description: "what happened on the fleet's hosts",
		},
	}
}

// Setup creates or updates the streams with that many replicas.
func Setup(ctx context.Context, js jetstream.JetStream, replicas int) error {
	for _, c := range Streams() {
		c.Replicas = replicas
		if _, err := js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("the stream %s: %w", c.Name, err)
		}
	}
	return nil
}

// Entry is a host or a record with its value, or its removal.
type Entry struct {
	Host, Record string // host, and name of its record; empty means the host itself
	Value        []byte
	Removed      bool      // the entry was removed
	Time         time.Time // time at which the server stored it
}

// AllPatterns returns the patterns of all hosts and records, HostsPatterns those of all hosts, and HostPatterns those of one host.
// Everything uses the stream's own subject, and the watch drops other keys, of which the bucket has few: with two
// patterns the server searches all keys of a file block before each message, 5.7 s for 4,000 keys. A narrower pattern
// costs the same if keys are few and old messages many.
func AllPatterns() []string   { return []string{jetstream.AllKeys} }
func HostsPatterns() []string { return []string{fleet.HostKey("*")} }
func HostPatterns(host string) []string {
	return []string{fleet.HostKey(host), fleet.RecordKey(host, ">")}
}

// Jitter returns a random time between d/2 and d, so that clients that lost a server together do not return together.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// hostOf returns the host and the kind from an event's subject. The server lets only that host publish there.
func hostOf(subject string) (host, kind string) {
	f := strings.Split(subject, ".")
	if len(f) != 4 {
		return "", ""
	}
	return f[2], f[3]
}
