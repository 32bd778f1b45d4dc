//go:build unix

// Package fleets is the verb fleet: making, serving and joining one, and printing what its hosts say. What the daemon does
// for a fleet is session/daemon/member.
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
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/link"
)

// Port is where a fleet's server listens unless another place is asked for.
const Port = "7722"

// Init makes a fleet.
type Init struct {
	Fleet, Host string
	Reach, NATS []string
	Outside     link.Outside
	Labels      []string
}

// Make writes what makes this machine the first of a fleet.
func (o *Init) Make(ctx context.Context, dir ident.Dir) error {
	if _, err := dir.Settings(); err == nil {
		return errors.New("this machine belongs to a fleet already; `longterm fleet status` says to which, `longterm fleet leave` gives that up")
	}
	host, err := nameOr(o.Host)
	if err != nil {
		return err
	}
	labels, err := parseLabels(o.Labels)
	if err != nil {
		return err
	}
	s := ident.Settings{Labels: labels, Servers: []string{"127.0.0.1:" + Port}, Reach: o.Reach}
	if len(o.NATS) > 0 {
		s.Servers, s.Foreign = o.NATS, true
		for _, server := range o.NATS {
			s.Reach = append(s.Reach, link.Bare(server)) // whoever joins has a user and a password of its own
		}
	} else if len(s.Reach) == 0 {
		s.Reach = []string{net.JoinHostPort(outward(), Port)}
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
			return api.Errorf(api.CodeUnavailable, "the fleet was not made: %v", err).WithHint("docs/fleet.md says what a NATS has to have for a fleet")
		}
	}
	a, err := ident.Found(o.Fleet)
	if err != nil {
		return err
	}
	if err := dir.SaveAuthority(a); err != nil {
		return err
	}
	for _, m := range []ident.Member{
		{Name: host, Kind: ident.Host, May: access.Everything.Names(), Admin: true},
		{Name: host, Kind: ident.Server},
	} {
		key, csr, err := ident.NewKey(m.Name)
		if err != nil {
			return err
		}
		cert, err := dir.Admit(a, m, csr)
		if err != nil {
			return err
		}
		if err := dir.SaveIdentity(&ident.Identity{Member: ident.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}); err != nil {
			return err
		}
	}
	return dir.SaveSettings(s)
}

// absolute has files be found from wherever the daemon runs.
func absolute(o link.Outside) (link.Outside, error) {
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

// nameOr is a name, or that of the system as far as it may be one.
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
			return nil, fmt.Errorf("--label %q: give NAME=VALUE", l)
		}
		labels[key] = value
	}
	return labels, nil
}

// outward is an address of this machine that others may reach; if there is none, loopback's.
func outward() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// Serve says what a server is started with.
type Serve struct {
	Listen, Advertise, Cluster, Dir string
	Routes                          []string
	JSON                            bool
}

// serverProgram is a program of its own: nats-server would make every verb of this one start later.
const serverProgram = "longterm-fleetd"

// Argv is the server's command line.
func (o *Serve) Argv(dir ident.Dir) ([]string, error) {
	_, err := dir.Identity(ident.Server)
	if errors.Is(err, ident.ErrNone) {
		return nil, errors.New("this machine is no server of a fleet: `longterm fleet init` makes a fleet, and `longterm fleet invite --server`, where it was made, a code for another server")
	}
	if err != nil {
		return nil, err
	}
	if s, err := dir.Settings(); err == nil && s.Foreign {
		return nil, fmt.Errorf("this fleet uses a NATS that is there already (%s), which is its server", strings.Join(s.Reach, ", "))
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

// Run becomes the server: it does not return unless it fails.
func (o *Serve) Run(dir ident.Dir) error {
	args, err := o.Argv(dir)
	if err != nil {
		return err
	}
	return companion.Replace(args[0], args[1:], nil)
}

// Invite makes join codes.
type Invite struct {
	May            []string
	Name           string
	For            time.Duration
	Server, Masked bool
}

// Invited is a code.
type Invited struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
}

// maxFor is how long a code may be good.
const maxFor = 30 * 24 * time.Hour

// Make makes a code.
func (o *Invite) Make(dir ident.Dir) (v Invited, err error) {
	a, err := dir.Authority()
	if errors.Is(err, ident.ErrNone) {
		return v, errors.New("codes are made on the machine where the fleet was made; run it there")
	}
	if err != nil {
		return v, err
	}
	if o.For <= 0 || o.For > maxFor {
		return v, fmt.Errorf("--for %v: give up to %v", o.For, maxFor)
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
	in := ident.Invitation{Kind: ident.Host, Name: o.Name, May: o.May, Masked: o.Masked, Expires: time.Now().Add(o.For).UTC().Truncate(time.Second)}
	if o.Server {
		in.Kind, in.May = ident.Server, nil
	}
	in, code := ident.Invite(in, s.Reach, ident.Fingerprint(a.Cert), s.Foreign)
	return Invited{code.String(), in.Expires}, dir.Invite(in)
}

// Join makes this machine part of a fleet.
type Join struct {
	Name    string
	NATS    []string
	Outside link.Outside
	Labels  []string
}

// Join redeems a code, and says what this machine is now.
func (o *Join) Join(ctx context.Context, dir ident.Dir, text string) (ident.Kind, error) {
	code, err := ident.ParseCode(text)
	if err != nil {
		return "", err
	}
	if dir.Has(ident.Host) {
		return "", errors.New("this machine belongs to a fleet already; `longterm fleet leave` gives that up")
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
