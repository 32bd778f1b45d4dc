//go:build unix

// Package fleets implements the verb fleet: creating, serving and joining a fleet, and printing the answers of its
// hosts. session/daemon/fleetmember has the daemon's part.
package fleets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
)

// Port is the default port of a fleet's server.
const Port = "7722"

// Init holds the parameters of a new fleet.
type Init struct {
	Fleet, Host string
	Reach, NATS []string
	Outside     link.ForeignAccess
	Labels      []string
}

// Make creates the fleet's files on this machine, which becomes its first member.
func (o *Init) Make(ctx context.Context, dir certs.Dir) error {
	if _, err := dir.Settings(); err == nil {
		return errors.New("this machine belongs to a fleet already; see `longterm fleet status`, or leave it with `longterm fleet leave`")
	}
	host, err := nameOr(o.Host)
	if err != nil {
		return err
	}
	labels, err := parseLabels(o.Labels)
	if err != nil {
		return err
	}
	s := certs.Settings{Labels: labels, Servers: []string{"127.0.0.1:" + Port}, Reach: o.Reach}
	if len(o.NATS) > 0 {
		s.Servers, s.Foreign = o.NATS, true
		for _, server := range o.NATS {
			s.Reach = append(s.Reach, link.WithoutCredentials(server)) // each member has its own user and password
		}
	} else if len(s.Reach) == 0 {
		s.Reach = []string{net.JoinHostPort(reachableAddr(), Port)}
	} else if _, port, err := net.SplitHostPort(s.Reach[0]); err != nil {
		return fmt.Errorf("--address %s: %w; give HOST:PORT", s.Reach[0], err)
	} else {
		s.Servers = append([]string{"127.0.0.1:" + port}, s.Reach...)
	}
	if o.Outside, err = absolute(o.Outside); err != nil {
		return err
	}
	if s.Creds, s.CA = o.Outside.Creds, o.Outside.CA; s.Foreign {
		if err := link.Prepare(ctx, s.Servers, o.Outside); err != nil {
			return api.Errorf(api.CodeUnavailable, "fleet not created: %v", err).WithHint("see `longterm help fleet` for what a fleet requires of a NATS")
		}
	}
	a, err := certs.NewAuthority(o.Fleet)
	if err != nil {
		return err
	}
	if err := dir.SaveAuthority(a); err != nil {
		return err
	}
	for _, m := range []certs.Member{
		{Name: host, Kind: certs.Host, May: apitoken.Everything.Names(), Admin: true},
		{Name: host, Kind: certs.Server},
	} {
		key, csr, err := certs.NewKey(m.Name)
		if err != nil {
			return err
		}
		cert, err := dir.Admit(a, m, csr)
		if err != nil {
			return err
		}
		if err := dir.SaveIdentity(&certs.Identity{Member: certs.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}); err != nil {
			return err
		}
	}
	return dir.SaveSettings(s)
}

// absolute makes file names absolute, because the daemon runs in another directory.
func absolute(o link.ForeignAccess) (link.ForeignAccess, error) {
	for _, file := range []*string{&o.Creds, &o.CA} {
		if *file == "" {
			continue
		}
		path, err := filepath.Abs(*file)
		if err != nil {
			return o, err
		}
		*file = path
	}
	return o, nil
}

// nameOr returns name, or a valid form of the host name.
func nameOr(name string) (string, error) {
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return "", err
		}
		first, _, _ := strings.Cut(strings.ToLower(host), ".")
		name = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, first)
		name = strings.Trim(name[:min(len(name), 40)], "-")
	}
	if err := fleet.CheckName(name); err != nil {
		return "", fmt.Errorf("%w (--name)", err)
	}
	return name, nil
}

func parseLabels(list []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, l := range list {
		key, value, ok := strings.Cut(l, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--label %q: not NAME=VALUE", l)
		}
		labels[key] = value
	}
	return labels, nil
}

// reachableAddr returns an address of this machine that others can probably reach, else the loopback address.
func reachableAddr() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// Serve holds the parameters of a fleet server.
type Serve struct {
	Listen, Advertise, Cluster, Dir string
	Routes                          []string
	JSON                            bool
}

// serverProgram is a separate program, because linking nats-server would delay the start of every verb.
const serverProgram = "longterm-fleetd"

// Argv returns the server's command line.
func (o *Serve) Argv(dir certs.Dir) ([]string, error) {
	_, err := dir.Identity(certs.Server)
	if errors.Is(err, certs.ErrNone) {
		return nil, errors.New("this machine is no server of a fleet; create a fleet with `longterm fleet init`, or a code for another server with `longterm fleet invite --server` where the fleet was created")
	}
	if err != nil {
		return nil, err
	}
	if s, err := dir.Settings(); err == nil && s.Foreign {
		return nil, fmt.Errorf("this fleet uses an existing NATS as its server (%s)", strings.Join(s.Reach, ", "))
	}
	program, err := companion.Find(serverProgram)
	if err != nil {
		return nil, fmt.Errorf("%w; releases have it beside longterm", err)
	}
	args := []string{program, "-state", string(dir), "-listen", o.Listen, "-advertise", o.Advertise, "-cluster", o.Cluster, "-route", strings.Join(o.Routes, ","), "-dir", o.Dir}
	if o.JSON {
		args = append(args, "-json")
	}
	return args, nil
}

// Run replaces this process by the server. It returns only on failure.
func (o *Serve) Run(dir certs.Dir) error {
	args, err := o.Argv(dir)
	if err != nil {
		return err
	}
	return companion.Replace(args[0], args[1:], nil)
}

// Invite holds the parameters of a join code.
type Invite struct {
	May            []string // what the new member may do
	Name           string
	For            time.Duration // validity
	Server, Masked bool          // the code is for a server; the code is printed masked
}

// Invitation is a join code with its expiry.
type Invitation struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
}

// maxValidity is the longest validity of a code.
const maxValidity = 30 * 24 * time.Hour

// Make creates a join code.
func (o *Invite) Make(dir certs.Dir) (v Invitation, err error) {
	a, err := dir.Authority()
	if errors.Is(err, certs.ErrNone) {
		return v, errors.New("codes are made on the machine where the fleet was made; run it there")
	}
	if err != nil {
		return v, err
	}
	if o.For <= 0 || o.For > maxValidity {
		return v, fmt.Errorf("--for %v: out of range (maximum %v)", o.For, maxValidity)
	}
	if o.Name != "" {
		if err := fleet.CheckName(o.Name); err != nil {
			return v, err
		}
	}
	s, err := dir.Settings()
	if err != nil {
		return v, err
	}
	in := certs.Invitation{Kind: certs.Host, Name: o.Name, May: o.May, Masked: o.Masked, Expires: time.Now().Add(o.For).UTC().Truncate(time.Second)}
	if o.Server {
		in.Kind, in.May = certs.Server, nil
	}
	in, code := certs.Invite(in, s.Reach, certs.Fingerprint(a.Cert), s.Foreign)
	return Invitation{code.String(), in.Expires}, dir.Invite(in)
}

// Join holds the parameters of joining a fleet.
type Join struct {
	Name    string
	NATS    []string
	Outside link.ForeignAccess
	Labels  []string
}

// Join redeems a join code and returns this machine's new kind of membership.
func (o *Join) Join(ctx context.Context, dir certs.Dir, text string) (certs.Kind, error) {
	code, err := certs.ParseCode(text)
	if err != nil {
		return "", err
	}
	if dir.Has(certs.Host) {
		return "", errors.New("this machine belongs to a fleet already; leave it with `longterm fleet leave`")
	}
	if o.Name, err = nameOr(o.Name); err != nil {
		return "", err
	}
	labels, err := parseLabels(o.Labels)
	if err != nil {
		return "", err
	}
	if o.Outside, err = absolute(o.Outside); err != nil {
		return "", err
	}
	id, settings, err := link.Join(ctx, code, o.Name, o.Outside, o.NATS)
	if err != nil {
		return "", err
	}
	settings.Labels = labels
	if err := dir.SaveIdentity(id); err != nil {
		return "", err
	}
	return id.Kind, dir.SaveSettings(settings)
}
