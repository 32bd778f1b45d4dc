package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
)

// request is a request for a certificate.
type request struct {
	ID      string `json:"id"`
	Secret  string `json:"secret"`
	Name    string `json:"name"`
	Request []byte `json:"request"`
}

// answer is the reply to a request: a certificate, or an error.
type answer struct {
	Error   string   `json:"error,omitempty"`
	Taken   bool     `json:"taken,omitempty"` // the error is that another host has the name
	Cert    []byte   `json:"cert,omitempty"`
	CA      []byte   `json:"ca,omitempty"`
	Servers []string `json:"servers,omitempty"`
}

// joinTime is the timeout for joining.
const joinTime = 20 * time.Second

// Join redeems a join code under a name. Servers other than the fleet's own are reached by o, at servers or else the
// code's addresses.
func Join(ctx context.Context, code certs.Code, name string, o ForeignAccess, servers []string) (*certs.Identity, certs.Settings, error) {
	settings := certs.Settings{Servers: code.Servers, Foreign: code.Foreign, Creds: o.Creds, CA: o.CA}
	if len(servers) > 0 && code.Foreign {
		settings.Servers = servers
	}
	if err := fleet.CheckName(name); err != nil {
		return nil, settings, err
	}
	ctx, done := context.WithTimeout(ctx, joinTime)
	defer done()
	opts := []nats.Option{nats.Name("longterm join"), nats.CustomInboxPrefix(fleet.JoinedSubjects + "." + code.Inbox()), nats.Timeout(5 * time.Second)}
	if code.Foreign {
		more, err := o.options()
		if err != nil {
			return nil, settings, err
		}
		opts = append(opts, more...)
	} else {
		opts = append(opts, nats.Secure(pinnedConfig(code.CA)), nats.UserInfo(code.Inbox(), "")) // the server lets us read there only
	}
	nc, err := connectAny(urls(settings.Servers, code.Foreign), opts)
	if errors.Is(err, nats.ErrAuthorization) && code.Foreign {
		return nil, settings, ErrUnauthorized
	}
	if err != nil {
		return nil, settings, fmt.Errorf("the fleet's server cannot be reached at %v: %w", code.Servers, err)
	}
	defer nc.Close()
	key, csr, err := certs.NewKey(name)
	if err != nil {
		return nil, settings, err
	}
	b, err := json.Marshal(request{code.ID, code.Secret, name, csr})
	if err != nil {
		return nil, settings, err
	}
	m, err := nc.RequestWithContext(ctx, fleet.JoinSubject, b)
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) {
		return nil, settings, errors.New("no answer from the machine that created the fleet; start its daemon (`longterm fleet status` there)")
	}
	if err != nil {
		return nil, settings, err
	}
	var got answer
	if err := json.Unmarshal(m.Data, &got); err != nil {
		return nil, settings, err
	}
	if got.Taken {
		return nil, settings, certs.ErrNameTaken
	}
	if got.Error != "" {
		return nil, settings, errors.New(got.Error)
	}
	i := &certs.Identity{Key: key}
	if i.CA, err = certs.ParseCert(got.CA); err == nil {
		i.Cert, err = certs.ParseCert(got.Cert)
	}
	if err != nil {
		return nil, settings, err
	}
	if certs.Fingerprint(i.CA) != code.CA {
		return nil, settings, errors.New("the answer is not of the fleet that the code is for")
	}
	i.Member = certs.MemberOf(i.Cert)
	if len(got.Servers) > 0 && !code.Foreign {
		settings.Servers = got.Servers
	}
	return i, settings, i.Verify()
}

// connectAny connects to the first server that accepts.
func connectAny(servers []string, opts []nats.Option) (nc *nats.Conn, err error) {
	err = errors.New("the code names none")
	for _, s := range servers {
		if nc, err = nats.Connect(s, opts...); err == nil {
			return nc, nil
		}
	}
	return nil, err
}

// pinnedConfig accepts servers whose authority has this fingerprint: a joining machine knows nothing else yet.
func pinnedConfig(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it, by the fingerprint
		VerifyConnection: func(state tls.ConnectionState) error {
			for _, ca := range state.PeerCertificates {
				if certs.Fingerprint(ca) != fingerprint {
					continue
				}
				pool := x509.NewCertPool()
				pool.AddCert(ca)
				_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, DNSName: certs.AnyServer})
				return err
			}
			return errors.New("the server is not of the fleet that the code is for")
		},
	}
}

// Answer issues certificates for join codes. Call it on the machine that created the fleet.
func (l *Link) Answer(dir certs.Dir, a *certs.Authority, servers func() []string) error {
	return l.subscribe(fleet.JoinSubject, func(m *nats.Msg) {
		if !strings.HasPrefix(m.Reply, fleet.JoinedSubjects+".") { // not a join inbox: the sender may not write there itself
			l.o.Log.Warn("fleet: a request to join wants its answer elsewhere", "subject", m.Reply)
			return
		}
		var r request
		var out answer
		if err := json.Unmarshal(m.Data, &r); err != nil {
			out.Error = "the request cannot be read"
		} else if cert, in, err := dir.Redeem(a, r.ID, r.Secret, r.Name, r.Request); err != nil {
			l.o.Log.Warn("fleet: join rejected", "name", r.Name, "err", err)
			out.Error, out.Taken = err.Error(), errors.Is(err, certs.ErrNameTaken)
		} else {
			l.o.Log.Info("fleet: joined", "name", r.Name, "kind", in.Kind)
			out = answer{Cert: certs.CertPEM(cert), CA: certs.CertPEM(a.Cert), Servers: servers()}
		}
		b, err := json.Marshal(out)
		if err == nil {
			err = m.Respond(b)
		}
		if err != nil {
			l.o.Log.Warn("fleet: answer a join", "err", err)
		}
	})
}
