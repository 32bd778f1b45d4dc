//go:build unix

// Package fleetsim has many light hosts of a fleet in one process, for measuring without machines. Each has a
// certificate, a connection and a registry entry of its own, as a real one has, and answers what a real one would of its
// sessions, their output and searches; only the sessions are made up.
package fleetsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// Most that may be asked for: a process has no more connections, and a server no more room.
const (
	MaxHosts    = 10000
	MaxSessions = 10000
)

// Options say what there is to be.
type Options struct {
	Authority *ident.Authority
	Servers   []string
	Hosts     int
	Sessions  int // of each host
}

// Check says what is wrong with them.
func (o *Options) Check() error {
	if o.Hosts < 1 || o.Hosts > MaxHosts {
		return fmt.Errorf("%d hosts cannot be simulated; give 1 to %d", o.Hosts, MaxHosts)
	}
	if o.Sessions < 0 || o.Sessions > MaxSessions {
		return fmt.Errorf("%d sessions of a host cannot be simulated; give up to %d", o.Sessions, MaxSessions)
	}
	return nil
}

// Fleet are hosts that are simulated.
type Fleet struct {
	o     Options
	hosts []*host
	cut   context.CancelFunc
	work  sync.WaitGroup
}

// host is one of them.
type host struct {
	name  string
	link  *link.Link
	pub   *registry.Publisher
	srv   *http.Server
	made  chan struct{} // closed once what is above is there
	began time.Time
	backs atomic.Int64 // how often the connection was there (again)
	seen  int64        // of that, what was before Mark

	mu       sync.Mutex
	sessions []api.FleetSession
}

// atOnce is how many hosts are begun or ended at once.
const atOnce = 64

// leaveTime bounds how long is tried to take simulated hosts out of the registry.
const leaveTime = 30 * time.Second

// Begin begins the hosts; they have no sessions before Fill. What it began it takes out of the registry and ends when it
// fails.
func Begin(ctx context.Context, o Options) (*Fleet, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	running, cut := context.WithCancel(context.Background())
	f := &Fleet{o: o, cut: cut}
	if err := f.beginAll(ctx, running, f.begin); err != nil {
		return nil, err
	}
	f.work.Go(func() { f.tellHosts(running) })
	return f, nil
}

// beginAll begins all hosts, or none.
func (f *Fleet) beginAll(ctx, running context.Context, begin func(context.Context, string) (*host, error)) error {
	hosts := make([]*host, f.o.Hosts)
	var mu sync.Mutex
	var failed error
	each(f.o.Hosts, func(i int) {
		h, err := begin(ctx, Name(i))
		mu.Lock()
		defer mu.Unlock()
		if hosts[i] = h; err != nil {
			failed = errors.Join(failed, err)
			return
		}
		f.work.Go(func() { h.pub.Run(running) })
	})
	f.hosts = slices.DeleteFunc(hosts, func(h *host) bool { return h == nil })
	if failed == nil {
		return nil
	}
	left, done := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer done()
	if err := f.Leave(left); err != nil {
		failed = errors.Join(failed, fmt.Errorf("simulated hosts are still in the registry, as away: %w", err))
	}
	f.Close()
	return failed
}

// Name is the name of a host.
func Name(i int) string { return fmt.Sprintf("sim-%d", i+1) }

// ID is that of a session of a host.
func ID(i int) string { return "s" + strconv.Itoa(i+1) }

func each(n int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	work.Wait()
}

// issue makes a certificate whose key is nowhere but in this process.
func issue(a *ident.Authority, m ident.Member) (*ident.Identity, error) {
	key, csr, err := ident.NewKey(m.Name)
	if err != nil {
		return nil, err
	}
	cert, err := a.Issue(m, csr)
	if err != nil {
		return nil, err
	}
	return &ident.Identity{Member: ident.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}, nil
}

// Open is one more connection, of a member that only looks.
func Open(a *ident.Authority, servers []string, name string, onBack func()) (*link.Link, error) {
	id, err := issue(a, ident.Member{Name: name, Kind: ident.Host}) // it may do nothing on other hosts
	if err != nil {
		return nil, err
	}
	return link.Open(link.Options{Identity: id, Servers: servers, Log: slog.New(slog.DiscardHandler), OnBack: onBack})
}

func (f *Fleet) begin(ctx context.Context, name string) (*host, error) {
	h := &host{name: name, made: make(chan struct{}), began: time.Now().UTC().Truncate(time.Second)}
	l, err := Open(f.o.Authority, f.o.Servers, name, func() {
		<-h.made
		if h.pub != nil {
			h.pub.Anew()
			h.backs.Add(1)
		}
	})
	if err != nil {
		close(h.made)
		return nil, err
	}
	h.link, h.pub = l, registry.NewPublisher(l.JetStream(), name)
	close(h.made)
	if err := claim(ctx, l); err != nil {
		l.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	h.srv = &http.Server{Handler: h.routes(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	li := l.Listener()
	f.work.Go(func() { _ = h.srv.Serve(li) })
	h.tellHost()
	return h, nil
}

// claim claims the name, as often as a busy server needs.
func claim(ctx context.Context, l *link.Link) error {
	for {
		err := l.Claim(ctx)
		if err == nil || errors.Is(err, link.ErrTwo) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(registry.Jitter(500 * time.Millisecond)):
		}
	}
}

func (h *host) tellHost() {
	h.mu.Lock()
	n := len(h.sessions)
	h.mu.Unlock()
	b, err := json.Marshal(api.FleetHost{
		Host: h.name, Build: "simulated", CPUs: 1, Memory: 1 << 30, Free: 1 << 29, Labels: map[string]string{"simulated": "yes"},
		Drained: true, Running: n, Sessions: n, Time: time.Now().UTC(),
	})
	if err == nil {
		h.pub.Host(b)
	}
}

// tellHosts has each host tell of itself as often as a real one does, and not all at once.
func (f *Fleet) tellHosts(ctx context.Context) {
	const every = 5 * time.Second
	tick := time.NewTicker(every / time.Duration(len(f.hosts)))
	defer tick.Stop()
	for i := 0; ; i = (i + 1) % len(f.hosts) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.hosts[i].tellHost()
		}
	}
}

// Fill gives each host its sessions.
func (f *Fleet) Fill() {
	for _, h := range f.hosts {
		h.mu.Lock()
		for i := range f.o.Sessions {
			h.sessions = append(h.sessions, api.FleetSession{
				ID: ID(i), Name: "build-" + strconv.Itoa(i+1), State: "running", Command: "make -j2 all", Cwd: "/home/user/src/project", Since: h.began,
			})
		}
		h.mu.Unlock()
		for i := range f.o.Sessions {
			h.change(i, "make -j2 all")
		}
		h.tellHost()
	}
}

// Change has a session run another command. Counting over all hosts goes on from host to host.
func (f *Fleet) Change(n int, command string) {
	f.hosts[n%len(f.hosts)].change(n/len(f.hosts)%f.o.Sessions, command)
}

func (h *host) change(i int, command string) {
	h.mu.Lock()
	h.sessions[i].Command = command
	b, err := json.Marshal(h.sessions[i])
	h.mu.Unlock()
	if err == nil {
		h.pub.Set(ID(i), b)
	}
}

// Tell has a host tell that a command of a session ended; n is never the same twice.
func (f *Fleet) Tell(ctx context.Context, n int) error {
	h, code := f.hosts[n%len(f.hosts)], 0
	c := api.Completion{
		Seq: uint64(n) + 1, Kind: "command", Session: ID(0), Name: "build-1", State: "exited", //nolint:gosec // n is not negative
		ExitCode: &code, Text: "make -j2 all", At: time.Now().UTC(),
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return registry.Tell(ctx, h.link.JetStream(), h.name, c.Kind, fmt.Sprintf("%d.%d", h.began.UnixNano(), n), b)
}

// Mark has Settle wait for hosts to come back that are connected now.
func (f *Fleet) Mark() {
	for _, h := range f.hosts {
		h.seen = h.backs.Load()
	}
}

// settled says that the host is connected and the registry said all that was the case just now.
func (h *host) settled() bool {
	_, err := h.link.State()
	return err == nil && h.backs.Load() != h.seen && h.pub.Settled()
}

// Settle waits until the registry says of each host what was the case when this was called. Each tells of itself all the
// time, so that there may be no moment in which nobody has anything to tell.
func (f *Fleet) Settle(ctx context.Context) error {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	waiting := slices.Clone(f.hosts)
	for {
		if waiting = slices.DeleteFunc(waiting, (*host).settled); len(waiting) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d hosts have not told all: %w", len(waiting), len(f.hosts), ctx.Err())
		case <-look.C:
		}
	}
}

// Leave takes the hosts and their sessions out of the registry.
func (f *Fleet) Leave(ctx context.Context) error {
	for _, h := range f.hosts {
		h.mu.Lock()
		h.sessions = nil
		h.mu.Unlock()
		h.pub.Leave()
	}
	return f.Settle(ctx)
}

// Close ends all hosts.
func (f *Fleet) Close() {
	f.cut()
	each(len(f.hosts), func(i int) {
		_ = f.hosts[i].srv.Close()
		f.hosts[i].link.Close()
	})
	f.work.Wait()
}
