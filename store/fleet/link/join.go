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
	"github.com/longterm-dev/longterm/store/fleet/ident"
)

// request asks for a certificate, answer is what one gets.
type request struct {
	ID      string `json:"id"`
	Secret  string `json:"secret"`
	Name    string `json:"name"`
	Request []byte `json:"request"`
}

type answer struct {
	Error   string   `json:"error,omitempty"`
	Taken   bool     `json:"taken,omitempty"` // the error is that the name is
	Cert    []byte   `json:"cert,omitempty"`
	CA      []byte   `json:"ca,omitempty"`
	Servers []string `json:"servers,omitempty"`
}

// joinTime bounds how long joining may take.
const joinTime = 20 * time.Second

// Join redeems a join code under a name. Servers that are not the fleet's own are reached as o says, at the addresses that
// the code has, or at these.
func Join(ctx context.Context, code ident.Code, name string, o Outside, servers []string) (*ident.Identity, ident.Settings, error) {
	settings := ident.Settings{Servers: code.Servers, Foreign: code.Foreign, Creds: o.Creds, CA: o.CA}
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
		opts = append(opts, nats.Secure(pinned(code.CA)), nats.UserInfo(code.Inbox(), "")) // the server lets us read there only
	}
	nc, err := connectAny(urls(settings.Servers, code.Foreign), opts)
	if errors.Is(err, nats.ErrAuthorization) && code.Foreign {
		return nil, settings, ErrNotLetIn
	}
	if err != nil {
		return nil, settings, fmt.Errorf("the fleet's server cannot be reached at %v: %w", code.Servers, err)
	}
	defer nc.Close()
	key, csr, err := ident.NewKey(name)
	if err != nil {
		return nil, settings, err
	}
	b, err := json.Marshal(request{code.ID, code.Secret, name, csr})
	if err != nil {
		return nil, settings, err
	}
	m, err := nc.RequestWithContext(ctx, fleet.JoinSubject, b)
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) {
		return nil, settings, errors.New("nobody hands out certificates now: on the machine where the fleet was made longterm's daemon has to run (`longterm fleet status` there)")
	}
	if err != nil {
		return nil, settings, err
	}
	var got answer
	if err := json.Unmarshal(m.Data, &got); err != nil {
		return nil, settings, err
	}
	if got.Taken {
		return nil, settings, ident.ErrTaken
	}
	if got.Error != "" {
		return nil, settings, errors.New(got.Error)
	}
	i := &ident.Identity{Key: key}
	if i.CA, err = ident.ParseCert(got.CA); err == nil {
		i.Cert, err = ident.ParseCert(got.Cert)
	}
	if err != nil {
		return nil, settings, err
	}
	if ident.Fingerprint(i.CA) != code.CA {
		return nil, settings, errors.New("the answer is not of the fleet that the code is for")
	}
	i.Member = ident.MemberOf(i.Cert)
	if len(got.Servers) > 0 && !code.Foreign {
		settings.Servers = got.Servers
	}
	return i, settings, i.Verify()
}

func connectAny(servers []string, opts []nats.Option) (nc *nats.Conn, err error) {
	err = errors.New("the code names none")
	for _, s := range servers {
		if nc, err = nats.Connect(s, opts...); err == nil {
			return nc, nil
		}
	}
	return nil, err
}

// pinned takes servers of the authority with a fingerprint: it is known by nothing else yet.
func pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it, by the fingerprint
		VerifyConnection: func(state tls.ConnectionState) error {
			for _, ca := range state.PeerCertificates {
				if ident.Fingerprint(ca) != fingerprint {
					continue
				}
				pool := x509.NewCertPool()
				pool.AddCert(ca)
				_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, DNSName: ident.AnyServer})
				return err
			}
			return errors.New("the server is not of the fleet that the code is for")
		},
	}
}

// Answer hands out certificates for join codes, on the machine where the fleet was made.
func (l *Link) Answer(dir ident.Dir, a *ident.Authority, servers func() []string) error {
	return l.subscribe(fleet.JoinSubject, func(m *nats.Msg) {
		if !strings.HasPrefix(m.Reply, fleet.JoinedSubjects+".") { // where we may write and it may not
			l.o.Log.Warn("fleet: a request to join wants its answer elsewhere", "subject", m.Reply)
			return
		}
		var r request
		var out answer
		if err := json.Unmarshal(m.Data, &r); err != nil {
			out.Error = "the request cannot be read"
		} else if cert, in, err := dir.Redeem(a, r.ID, r.Secret, r.Name, r.Request); err != nil {
			l.o.Log.Warn("fleet: somebody was not let in", "name", r.Name, "err", err)
			out.Error, out.Taken = err.Error(), errors.Is(err, ident.ErrTaken)
		} else {
			l.o.Log.Info("fleet: joined", "name", r.Name, "kind", in.Kind)
			out = answer{Cert: ident.CertPEM(cert), CA: ident.CertPEM(a.Cert), Servers: servers()}
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
