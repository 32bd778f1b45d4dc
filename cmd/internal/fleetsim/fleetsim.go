//go:build unix

// Package fleetsim simulates many hosts of a fleet in one process, to measure a fleet without machines. Each host has
// its own certificate, connection and registry entry, and answers requests for sessions, output and searches as a real
// one does. Only the sessions are invented.
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
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// Limits of a simulation, set by the connections of one process and the memory of a server.
const (
	MaxHosts    = 10000
	MaxSessions = 10000
)

// Options configure a simulation.
type Options struct {
	Authority *certs.Authority
	Servers   []string
	Hosts     int
	Sessions  int // of each host
}

// Check returns an error if the options exceed the limits.
func (o *Options) Check() error {
	if o.Hosts < 1 || o.Hosts > MaxHosts {
		return fmt.Errorf("cannot simulate %d hosts; use 1 to %d", o.Hosts, MaxHosts)
	}
	if o.Sessions < 0 || o.Sessions > MaxSessions {
		return fmt.Errorf("cannot simulate %d sessions per host; use at most %d", o.Sessions, MaxSessions)
	}
	return nil
}

// Fleet holds the simulated hosts.
type Fleet struct {
	o     Options
	hosts []*host
	cut   context.CancelFunc // stops background work
	work  sync.WaitGroup
}

// host is one simulated host.
type host struct {
	name           string
	link           *link.Link
	pub            *registry.Publisher
	srv            *http.Server
	ready          chan struct{} // closed once the fields above are set
	began          time.Time
	connects       atomic.Int64 // number of established connections
	connectsAtMark int64        // connects at the last call of Mark

	mu       sync.Mutex
	sessions []api.FleetSession
}

// maxParallel bounds how many hosts are started or closed at once.
const maxParallel = 64

// leaveTime bounds the attempt to remove simulated hosts from the registry.
const leaveTime = 30 * time.Second

// Start starts the hosts; they have no sessions before Fill. If it fails, it removes the started hosts from the
// registry and closes them.
func Start(ctx context.Context, o Options) (*Fleet, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	running, cut := context.WithCancel(context.Background())
	f := &Fleet{o: o, cut: cut}
	if err := f.startAll(ctx, running, f.startHost); err != nil {
		return nil, err
	}
	f.work.Go(func() { f.publishHosts(running) })
	return f, nil
}

// startAll starts all hosts. If one fails, it closes the others.
func (f *Fleet) startAll(ctx, running context.Context, begin func(context.Context, string) (*host, error)) error {
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
		failed = errors.Join(failed, fmt.Errorf("simulated hosts remain in the registry as unreachable: %w", err))
	}
	f.Close()
	return failed
}

// Name returns the name of host i.
func Name(i int) string { return fmt.Sprintf("sim-%d", i+1) }

// ID returns the id of session i of a host.
func ID(i int) string { return "s" + strconv.Itoa(i+1) }

func each(n int, do func(i int)) {
	slots := make(chan struct{}, maxParallel)
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

// issue creates a certificate whose key exists only in this process.
func issue(a *certs.Authority, m certs.Member) (*certs.Identity, error) {
	key, csr, err := certs.NewKey(m.Name)
	if err != nil {
		return nil, err
	}
	cert, err := a.Issue(m, csr)
	if err != nil {
		return nil, err
	}
	return &certs.Identity{Member: certs.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}, nil
}

// Open opens one more connection, for a member that only reads.
func Open(a *certs.Authority, servers []string, name string, onConnect func()) (*link.Link, error) {
	id, err := issue(a, certs.Member{Name: name, Kind: certs.Host}) // hosts may not operate other hosts
	if err != nil {
		return nil, err
	}
	return link.Open(link.Options{Identity: id, Servers: servers, Log: slog.New(slog.DiscardHandler), OnConnect: onConnect})
}

func (f *Fleet) startHost(ctx context.Context, name string) (*host, error) {
	h := &host{name: name, ready: make(chan struct{}), began: time.Now().UTC().Truncate(time.Second)}
	l, err := Open(f.o.Authority, f.o.Servers, name, func() {
		<-h.ready
		if h.pub != nil {
			h.pub.Resync()
			h.connects.Add(1)
		}
	})
	if err != nil {
		close(h.ready)
		return nil, err
	}
	h.link, h.pub = l, registry.NewPublisher(l.JetStream(), name)
	close(h.ready)
	if err := claim(ctx, l); err != nil {
		l.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	h.srv = &http.Server{Handler: h.routes(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	li := l.Listener()
	f.work.Go(func() { _ = h.srv.Serve(li) })
	h.publishHost()
	return h, nil
}

// claim claims the name and retries while the server is busy.
func claim(ctx context.Context, l *link.Link) error {
	for {
		err := l.Claim(ctx)
		if err == nil || errors.Is(err, link.ErrNameInUse) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(registry.Jitter(500 * time.Millisecond)):
		}
	}
}

func (h *host) publishHost() {
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

// publishHosts publishes each host's record as often as a real host does, evenly spread over the period.
func (f *Fleet) publishHosts(ctx context.Context) {
	const every = 5 * time.Second
	tick := time.NewTicker(every / time.Duration(len(f.hosts)))
	defer tick.Stop()
	for i := 0; ; i = (i + 1) % len(f.hosts) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.hosts[i].publishHost()
		}
	}
}

// Fill adds the sessions to each host.
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
		h.publishHost()
	}
}

// Change sets the command of a session. Successive n cycle through the hosts.
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

// Complete publishes the end of a command of a session. n must be unique.
func (f *Fleet) Complete(ctx context.Context, n int) error {
	h, code := f.hosts[n%len(f.hosts)], 0
	c := api.Completion{
		Seq: uint64(n) + 1, Kind: "command", Session: ID(0), Name: "build-1", State: "exited", //nolint:gosec // n is not negative
		ExitCode: &code, Text: "make -j2 all", At: time.Now().UTC(),
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return registry.PublishEvent(ctx, h.link.JetStream(), h.name, c.Kind, fmt.Sprintf("%d.%d", h.began.UnixNano(), n), b)
}

// Mark makes Settle wait until the currently connected hosts have reconnected.
func (f *Fleet) Mark() {
	for _, h := range f.hosts {
		h.connectsAtMark = h.connects.Load()
	}
}

// isSettled reports whether the host is connected and the registry holds its latest state.
func (h *host) isSettled() bool {
	_, err := h.link.State()
	return err == nil && h.connects.Load() != h.connectsAtMark && h.pub.IsSynced()
}

// Settle waits until the registry holds the state that each host had when Settle was called. It checks hosts one by
// one: they publish all the time, so there may be no moment in which all are up to date.
func (f *Fleet) Settle(ctx context.Context) error {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	waiting := slices.Clone(f.hosts)
	for {
		if waiting = slices.DeleteFunc(waiting, (*host).isSettled); len(waiting) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d hosts have unpublished state: %w", len(waiting), len(f.hosts), ctx.Err())
		case <-look.C:
		}
	}
}

// Leave removes the hosts and their sessions from the registry.
func (f *Fleet) Leave(ctx context.Context) error {
	for _, h := range f.hosts {
		h.mu.Lock()
		h.sessions = nil
		h.mu.Unlock()
		h.pub.Withdraw()
	}
	return f.Settle(ctx)
}

// Close closes all hosts.
func (f *Fleet) Close() {
	f.cut()
	each(len(f.hosts), func(i int) {
		_ = f.hosts[i].srv.Close()
		f.hosts[i].link.Close()
	})
	f.work.Wait()
}
