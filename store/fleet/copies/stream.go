package copies

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

// Bounds of what the fleet keeps. What is over them goes, the oldest first, whichever host's it is.
const (
	KeepTime  = 30 * 24 * time.Hour
	KeepBytes = 4 << 30
	// MaxBody bounds what one message has of a journal or of records.
	MaxBody = 256 << 10
	// recordBytes bounds the records.
	recordBytes = 256 << 20
	// A server whose disk has not the room keeps less.
	leastBytes = 64 << 20
)

// Streams are those of output and of records, kept by one server.
func Streams() []jetstream.StreamConfig {
	all := []jetstream.StreamConfig{
		{
			Name: fleet.CopyStream, Subjects: []string{fleet.Copy("*", "*")}, MaxBytes: KeepBytes, MaxMsgsPerSubject: -1, Compression: jetstream.S2Compression,
			Description: "what sessions of the fleet's hosts printed",
		},
		{
			Name: fleet.CopyRecords, Subjects: []string{fleet.CopyRecord("*", "*")}, MaxBytes: recordBytes, MaxMsgsPerSubject: 1,
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

// Setup makes the streams, or has them kept by more servers. JetStream reserves what a stream may have: where that much
// is not free, a smaller one is made.
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
		if e := (*jetstream.APIError)(nil); errors.As(err, &e) && NoRoom(e) && c.MaxBytes/2 >= leastBytes {
			c.MaxBytes /= 2
			continue
		}
		if err != nil {
			return fmt.Errorf("the stream of copies %s: %w", c.Name, err)
		}
		return nil
	}
}

// NoRoom says that a stream may not have as many bytes, or replicas. These are JetStream's "resource limits exceeded for
// account", "no suitable peers for placement", "insufficient resources", "insufficient storage resources available",
// "replicas > 1 not supported", "stream max bytes exceeds account limit".
func NoRoom(e *jetstream.APIError) bool {
	return slices.Contains([]jetstream.ErrorCode{10002, 10005, 10023, 10047, 10074, 10122}, e.ErrorCode)
}

// Made is when the streams were made.
type Made struct{ Copies, Records time.Time }

// When says when the streams were made: others are empty.
func When(ctx context.Context, js jetstream.JetStream) (m Made, err error) {
	for name, at := range map[string]*time.Time{fleet.CopyStream: &m.Copies, fleet.CopyRecords: &m.Records} {
		s, err := js.Stream(ctx, name)
		if err != nil {
			return m, err
		}
		*at = s.CachedInfo().Created.UTC()
	}
	return m, nil
}

// Publish hands a sealed message to the fleet; it is there when this returns without an error.
func Publish(ctx context.Context, js jetstream.JetStream, h Head, sealed []byte) error {
	if h.Record {
		_, err := js.Publish(ctx, fleet.CopyRecord(h.Host, h.Session), sealed)
		return err
	}
	id := h.Session + "/" + strconv.FormatUint(h.From.Offset, 10) + "/" + strconv.Itoa(h.From.Marks) + "/" +
		strconv.FormatUint(h.To.Offset, 10) + "/" + strconv.Itoa(h.To.Marks)
	_, err := js.Publish(ctx, fleet.Copy(h.Host, h.Session), sealed, jetstream.WithMsgID(h.Host+"/"+id))
	return err
}

// Last is the newest chunk of a session that is there: the place to go on from. There may be none.
func Last(ctx context.Context, js jetstream.JetStream, ca *x509.Certificate, host, session string) (Head, bool, error) {
	s, err := js.Stream(ctx, fleet.CopyStream)
	if err != nil {
		return Head{}, false, err
	}
	m, err := s.GetLastMsgForSubject(ctx, fleet.Copy(host, session))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Head{}, false, nil
	}
	if err != nil {
		return Head{}, false, err
	}
	h, _, err := Open(ca, host, session, m.Data)
	if err != nil { // somebody else's: as if it were not there, and all is copied once more
		return Head{}, false, nil
	}
	h.Kept = m.Time
	return h, true, nil
}

// Sessions are the ids of the sessions of a host of which the fleet has records.
func Sessions(ctx context.Context, js jetstream.JetStream, host string) ([]string, error) {
	s, err := js.Stream(ctx, fleet.CopyRecords)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(fleet.CopyRecord(host, "*")))
	if err != nil {
		return nil, err
	}
	var all []string
	for subject := range info.State.Subjects {
		all = append(all, subject[strings.LastIndexByte(subject, '.')+1:])
	}
	return all, nil
}

// Record is what is recorded of a session, as its host handed it over.
func Record(ctx context.Context, js jetstream.JetStream, ca *x509.Certificate, host, session string) (Head, []byte, error) {
	s, err := js.Stream(ctx, fleet.CopyRecords)
	if err != nil {
		return Head{}, nil, err
	}
	m, err := s.GetLastMsgForSubject(ctx, fleet.CopyRecord(host, session))
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

// Each reads the chunks of a session, the oldest first. What is not the host's is passed over and counted in bad.
func Each(ctx context.Context, js jetstream.JetStream, ca *x509.Certificate, host, session string, each func(h Head, body []byte) error) (bad int, err error) {
	s, err := js.Stream(ctx, fleet.CopyStream)
	if err != nil {
		return 0, err
	}
	for seq := uint64(1); ; {
		m, err := s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(fleet.Copy(host, session)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return bad, nil
		}
		if err != nil {
			return bad, err
		}
		seq = m.Sequence + 1
		h, body, err := Open(ca, host, session, m.Data)
		if err == nil && h.Record {
			err = ErrForged
		}
		h.Kept = m.Time
		if err != nil {
			bad++
			continue
		}
		if err := each(h, body); err != nil {
			return bad, err
		}
	}
}
