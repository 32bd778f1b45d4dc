package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/replica"
)

// ForeignAccess configures access to servers that are not the fleet's own. Their URLs may contain a user and a password.
type ForeignAccess struct {
	Creds string // file with a user's JWT and seed, or an NKey seed; "" for neither
	CA    string // file of CA certificates for TLS to the servers, in addition to the system's
}

func (o ForeignAccess) options() (opts []nats.Option, err error) {
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	if o.Creds == "" {
		return opts, nil
	}
	b, err := os.ReadFile(o.Creds)
	if err != nil {
		return nil, fmt.Errorf("the credentials: %w", err)
	}
	if bytes.Contains(b, []byte("USER JWT")) {
		return append(opts, nats.UserCredentials(o.Creds)), nil
	}
	key, err := nats.NkeyOptionFromSeed(o.Creds)
	if err != nil {
		return nil, fmt.Errorf("the credentials %s have neither a user's JWT nor the seed of a user's NKey: %w", o.Creds, err)
	}
	return append(opts, key), nil
}

// WithoutCredentials returns a server's address without user and password.
func WithoutCredentials(server string) string {
	if u, err := url.Parse(server); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return server
}

// ErrUnauthorized reports that a foreign server rejected this machine's credentials.
var ErrUnauthorized = errors.New("the NATS server does not let this machine in: see its credentials (--creds, or user and password in the URL)")

// Prepare creates the fleet's streams on foreign servers, within their limits. Existing streams are checked, not
// changed.
func Prepare(ctx context.Context, servers []string, o ForeignAccess) error {
	ctx, done := context.WithTimeout(ctx, joinTime)
	defer done()
	opts, err := o.options()
	if err != nil {
		return err
	}
	nc, err := connectAny(servers, append(opts, nats.Name("longterm init"), nats.CustomInboxPrefix(fleet.JoinedSubjects), nats.Timeout(5*time.Second)))
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return ErrUnauthorized
	case err != nil:
		return fmt.Errorf("the NATS server cannot be reached: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	return prepare(ctx, js, nc.ConnectedClusterName() != "")
}

func prepare(ctx context.Context, js jetstream.JetStream, clustered bool) error {
	account, err := js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w, and a fleet needs it: its administrator enables it", err)
	case err != nil:
		return fmt.Errorf("JetStream does not answer (may this user ask $JS.API.>?): %w", err)
	}
	var missing []jetstream.StreamConfig
	for _, c := range append(registry.Streams(), replica.Streams()...) {
		s, err := js.Stream(ctx, c.Name)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			missing = append(missing, c)
		case err != nil:
			return fmt.Errorf("the stream %s: %w", c.Name, err)
		default:
			if err := checkStream(&s.CachedInfo().Config, &c); err != nil {
				return err
			}
		}
	}
	replicas := 1
	if clustered {
		replicas = 3
	}
	for i := range missing {
		if err := create(ctx, js, &missing[i], account, &replicas); err != nil {
			return err
		}
	}
	return nil
}

// checkStream returns an error if an existing stream's configuration does not meet the requirements.
func checkStream(have, want *jetstream.StreamConfig) error {
	lacks := ""
	switch {
	case !have.AllowDirect:
		lacks = "direct gets are not allowed"
	case want.AllowMsgTTL && !have.AllowMsgTTL:
		lacks = "times of single messages are not allowed"
	case want.MaxMsgsPerSubject != have.MaxMsgsPerSubject:
		lacks = fmt.Sprintf("it keeps %d messages of a subject, and not %d", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject)
	case strings.Join(have.Subjects, " ") != strings.Join(want.Subjects, " "):
		lacks = fmt.Sprintf("its subjects are %s, and not %s", strings.Join(have.Subjects, " "), strings.Join(want.Subjects, " "))
	default:
		return nil
	}
	return fmt.Errorf("the stream %s is there and does not do: %s; change it, or delete it and run this again", want.Name, lacks)
}

// shares holds the parts of a limited account's storage: the replicas get half of it.
var shares = map[string]int64{fleet.CopyStream: 2, fleet.CopyRecords: 8, fleet.Stream: 8, "KV_" + fleet.Bucket: 8}

// minStreamBytes is the smallest size of a stream, in bytes.
const minStreamBytes = 4 << 20

// replicasNotSupported is JetStream's code for "replicas > 1 not supported in non-clustered mode".
const replicasNotSupported = 10074

// create creates a stream within an account's limits, with as many replicas as possible. If the servers lack space, it
// prefers a smaller stream with replicas to a larger one that is lost with its server.
func create(ctx context.Context, js jetstream.JetStream, c *jetstream.StreamConfig, account *jetstream.AccountInfo, replicas *int) error {
	most := c.MaxBytes
	for {
		c.Replicas = *replicas
		limits := limitsOf(account, *replicas)
		if room := limits.MaxStore; room > 0 {
			room /= shares[c.Name] * int64(*replicas)
			if room < minStreamBytes {
				return fmt.Errorf("the account's JetStream has room for %d MiB, and a fleet needs %d", limits.MaxStore>>20, int64(*replicas)*minStreamBytes*8>>20)
			}
			if c.MaxBytes <= 0 || room < c.MaxBytes {
				c.MaxBytes = room
			}
		}
		if bound := limits.StoreMaxStreamBytes; bound > 0 && (c.MaxBytes <= 0 || bound < c.MaxBytes) {
			c.MaxBytes = bound
		}
		if limits.MaxBytesRequired && c.MaxBytes <= 0 {
			c.MaxBytes = registryBytes
		}
		_, err := js.CreateStream(ctx, *c)
		var e *jetstream.APIError
		switch {
		case err == nil, errors.Is(err, jetstream.ErrStreamNameAlreadyInUse):
			return nil
		case errors.As(err, &e) && replica.ExceedsLimit(e) && e.ErrorCode != replicasNotSupported && c.MaxBytes/2 >= minStreamBytes:
			c.MaxBytes /= 2
		case *replicas > 1 && errors.As(err, &e) && replica.ExceedsLimit(e):
			*replicas, c.MaxBytes = 1, most
		default:
			return fmt.Errorf("the stream %s is not there, and this account cannot make it: %w", c.Name, err)
		}
	}
}

// registryBytes is the size of the registry on servers that require a limit.
const registryBytes = 256 << 20

// limitsOf returns the account's limits for that many replicas.
func limitsOf(account *jetstream.AccountInfo, replicas int) jetstream.AccountLimits {
	if tier, ok := account.Tiers[fmt.Sprintf("R%d", replicas)]; ok {
		return tier.Limits
	}
	return account.Limits
}
