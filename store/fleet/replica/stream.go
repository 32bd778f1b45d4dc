package replica

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
)

// Limits of the stored replicas. Beyond them the oldest messages of all hosts are dropped.
const (
	KeepTime  = 30 * 24 * time.Hour
	KeepBytes = 4 << 30
	// MaxBody is the largest content of one message, in bytes.
	MaxBody = 256 << 10
	// recordBytes limits the stored session records, in bytes.
	recordBytes = 256 << 20
	// minStreamBytes is the smallest size of a stream, for servers with little disk space.
	minStreamBytes = 64 << 20
)

// Streams returns the configurations of the output and the record stream, with one replica.
func Streams() []jetstream.StreamConfig {
	all := []jetstream.StreamConfig{
		{
			Name: fleet.CopyStream, Subjects: []string{fleet.CopySubject("*", "*")}, MaxBytes: KeepBytes, MaxMsgsPerSubject: -1, Compression: jetstream.S2Compression,
			Description: "what sessions of the fleet's hosts printed",
		},
		{
			Name: fleet.CopyRecords, Subjects: []string{fleet.CopyRecordSubject("*", "*")}, MaxBytes: recordBytes, MaxMsgsPerSubject: 1,
			Description: "what is recorded of sessions whose output is copied",
		},
	}
	for i := range all {
		c := &all[i]
		c.Replicas, c.MaxAge, c.Discard, c.Storage, c.AllowDirect = 1, KeepTime, jetstream.DiscardOld, jetstream.FileStorage, true
		c.MaxMsgSize, c.Duplicates = MaxBody*3, time.Hour
	}
	return all
}

// Setup creates or updates the streams with that many replicas. JetStream reserves a stream's full size, so Setup
// creates a smaller stream if the server lacks the space.
func Setup(ctx context.Context, js jetstream.JetStream, replicas int) error {
	for _, c := range Streams() {
		c.Replicas = replicas
		if err := setup(ctx, js, c); err != nil {
			return err
		}
	}
	return nil
}

func setup(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) error {
	if s, err := js.Stream(ctx, c.Name); err == nil {
		c.MaxBytes = s.CachedInfo().Config.MaxBytes // what it was made with
	}
	for {
		_, err := js.CreateOrUpdateStream(ctx, c)
		if e := (*jetstream.APIError)(nil); errors.As(err, &e) && ExceedsLimit(e) && c.MaxBytes/2 >= minStreamBytes {
			c.MaxBytes /= 2
			continue
		}
		if err != nil {
			return fmt.Errorf("the stream of copies %s: %w", c.Name, err)
		}
		return nil
	}
}

// ExceedsLimit reports whether a stream's bytes or replicas exceed a limit. These are JetStream's "resource limits exceeded
// for account", "no suitable peers for placement", "insufficient resources", "insufficient storage resources
// available", "replicas > 1 not supported", "stream max bytes exceeds account limit".
func ExceedsLimit(e *jetstream.APIError) bool {
	return slices.Contains([]jetstream.ErrorCode{10002, 10005, 10023, 10047, 10074, 10122}, e.ErrorCode)
}

// CreationTimes holds the creation times of the streams.
type CreationTimes struct{ Copies, Records time.Time }

// StreamsCreated returns the creation times of the streams. A stream that was created again starts empty.
func StreamsCreated(ctx context.Context, js jetstream.JetStream) (m CreationTimes, err error) {
	for name, at := range map[string]*time.Time{fleet.CopyStream: &m.Copies, fleet.CopyRecords: &m.Records} {
		s, err := js.Stream(ctx, name)
		if err != nil {
			return m, err
		}
		*at = s.CachedInfo().Created.UTC()
	}
	return m, nil
}

// Publish stores a sealed message in the fleet. It returns without an error once the server has stored it.
func Publish(ctx context.Context, js jetstream.JetStream, h Head, sealed []byte) error {
	if h.Record {
		_, err := js.Publish(ctx, fleet.CopyRecordSubject(h.Host, h.Session), sealed)
		return err
	}
	id := h.Session + "/" + strconv.FormatUint(h.From.Offset, 10) + "/" + strconv.Itoa(h.From.Marks) + "/" +
		strconv.FormatUint(h.To.Offset, 10) + "/" + strconv.Itoa(h.To.Marks)
	_, err := js.Publish(ctx, fleet.CopySubject(h.Host, h.Session), sealed, jetstream.WithMsgID(h.Host+"/"+id))
	return err
}

// LastChunk returns the newest stored chunk of a session, where replication resumes, or false if none is stored.
func LastChunk(ctx context.Context, js jetstream.JetStream, ca *x509.Certificate, host, session string) (Head, bool, error) {
	s, err := js.Stream(ctx, fleet.CopyStream)
	if err != nil {
		return Head{}, false, err
	}
	m, err := s.GetLastMsgForSubject(ctx, fleet.CopySubject(host, session))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Head{}, false, nil
	}
	if err != nil {
		return Head{}, false, err
	}
	h, _, err := Open(ca, host, session, m.Data)
	if err != nil { // not this host's chunk: ignore it and copy everything again
		return Head{}, false, nil
	}
	h.Kept = m.Time
	return h, true, nil
}

// Sessions returns the IDs of a host's sessions that have a stored record.
func Sessions(ctx context.Context, js jetstream.JetStream, host string) ([]string, error) {
	s, err := js.Stream(ctx, fleet.CopyRecords)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(fleet.CopyRecordSubject(host, "*")))
	if err != nil {
		return nil, err
	}
	var all []string
	for subject := range info.State.Subjects {
		all = append(all, subject[strings.LastIndexByte(subject, '.')+1:])
	}
	return all, nil
}

// Record returns a session's record as its host published it.
func Record(ctx context.Context, js jetstream.JetStream, ca *x509.Certificate, host, session string) (Head, []byte, error) {
	s, err := js.Stream(ctx, fleet.CopyRecords)
	if err != nil {
		return Head{}, nil, err
	}
	m, err := s.GetLastMsgForSubject(ctx, fleet.CopyRecordSubject(host, session))
	if err != nil {
		return Head{}, nil, err
	}
	h, body, err := Open(ca, host, session, m.Data)
	if err == nil && !h.Record {
		err = fmt.Errorf("%w: it is no record", ErrForged)
	}
	h.Kept = m.Time
	return h, body, err
}

// EachChunk reads the chunks of a session, oldest first. It skips and counts in forged the messages that the host did not sign.
func EachChunk(ctx context.Context, js jetstream.JetStream, ca *x509.Certificate, host, session string, each func(h Head, body []byte) error) (forged int, err error) {
	s, err := js.Stream(ctx, fleet.CopyStream)
	if err != nil {
		return 0, err
	}
	for seq := uint64(1); ; {
		m, err := s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(fleet.CopySubject(host, session)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return forged, nil
		}
		if err != nil {
			return forged, err
		}
		seq = m.Sequence + 1
		h, body, err := Open(ca, host, session, m.Data)
		if err == nil && h.Record {
			err = ErrForged
		}
		h.Kept = m.Time
		if err != nil {
			forged++
			continue
		}
		if err := each(h, body); err != nil {
			return forged, err
		}
	}
}
