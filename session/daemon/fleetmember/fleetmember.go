//go:build unix

// Package fleetmember is this machine's membership in a fleet: it publishes its sessions and their completions, copies
// their output to the fleet's server, and serves the API to other hosts within the rights of their certificates.
//
//	events of the bus ─→ records (at most ten times a second each) ─→ store/fleet/registry
//	completions       ─→ forward: a subscription whose cursor moves when the stream has them
//	streams of others ─→ http.Server with the handler of httpapi
//
// This machine's disk remains authoritative. While the fleet is unreachable, sessions continue; changes are published
// after the reconnect. Each task above has one goroutine; all end with the membership's context.
package fleetmember

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// Completions is the set of subscriptions to completions of this machine.
type Completions interface {
	Put(ctx context.Context, name, session string, n api.NewSubscription) (api.Subscription, error)
	Read(ctx context.Context, name string, in api.ReadCompletions) (api.Completions, error)
	Ack(ctx context.Context, name string, in api.AckCompletions) (api.Subscription, error)
	Remove(ctx context.Context, name string) error
}

// Config holds the dependencies of a Member.
type Config struct {
	Dir         certs.Dir
	Build       string
	Log         *slog.Logger
	Handler     http.Handler // serves requests of other hosts, whose rights CallerOf returns
	Sessions    func() []api.Session
	Bus         *events.Bus
	Completions Completions
	Mask        func(string) string // redacts secrets in a command line

	CopySources   func() []Source      // sessions that are copied to the fleet
	CopyRate      func() int64         // bytes a second; 0: nothing is copied
	HasSession    func(id string) bool // reports whether this machine has a session
	ImportSession ImportSession
	Scratch       string // temporary directory for restores, beside the sessions' directory
	// OpenReplicaDaemon opens a read-only daemon for replicas in a new directory below Lost. Lost is emptied at the start.
	OpenReplicaDaemon func(dir string) (ReplicaDaemon, error)
	ReplicaDir        string
}

// Member is this machine's membership in a fleet, if any. Any goroutine may use it.
type Member struct {
	cfg       Config
	restoring sync.Mutex // one restore at a time
	lost      *lostHosts

	knownMu sync.Mutex // guards the file of hosts that are known

	mu         sync.Mutex  // guards what follows
	membership *membership // nil: not a member
	problem    error       // why membership is nil although one is configured
	leaving    bool        // the daemon ends
}

// New returns a Member that is inactive until Reload.
func New(cfg Config) *Member {
	m := &Member{cfg: cfg}
	m.lost = &lostHosts{m: m, all: map[string]*HostReplica{}, ending: map[string]*HostReplica{}}
	return m
}

// membership is the membership in one fleet.
type membership struct {
	m                 *Member
	id                *certs.Identity
	settings          certs.Settings
	link              *link.Link
	pub               *registry.Publisher
	srv               *http.Server
	ctx               context.Context // canceled when the membership ends
	cancel            context.CancelFunc
	work              sync.WaitGroup
	reconnected       chan struct{} // signals a reconnect of the link
	ready             chan struct{} // closed once the fields above are set
	began             time.Time
	connected         chan struct{} // closed once a server was reached
	once              sync.Once
	copier            *copier
	copyNow           chan struct{} // signals that output should be copied at once
	revocationsBehind chan struct{} // signals that the fleet's revocation list is older than ours

	mu       sync.Mutex
	claimErr error             // why other hosts do not see this host
	unsent   uint64            // completions that are not forwarded yet
	records  map[string]record // published sessions
}

// errNameUnclaimed is returned until this machine has claimed its name in the fleet.
var errNameUnclaimed = errors.New("no server was reached yet")

// Reload applies the membership on disk, after a fleet was created, joined or left.
func (m *Member) Reload() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leaving {
		return errReplaced()
	}
	m.stop()
	m.problem = m.start()
	if errors.Is(m.problem, certs.ErrNone) {
		m.problem = nil
		return nil
	}
	if m.problem != nil {
		m.cfg.Log.Error("the fleet", "err", m.problem)
	}
	return m.problem
}

// start starts the membership on disk, if any. The caller holds mu.
func (m *Member) start() error {
	settings, err := m.cfg.Dir.Settings()
	if err != nil {
		return err
	}
	id, err := m.cfg.Dir.Identity(certs.Host)
	if err != nil {
		return err
	}
	p := &membership{m: m, id: id, settings: settings, claimErr: errNameUnclaimed, reconnected: make(chan struct{}, 1), ready: make(chan struct{}), began: time.Now(), connected: make(chan struct{}), revocationsBehind: make(chan struct{}, 1), records: map[string]record{}}
	p.copier, p.copyNow = newCopier(p), make(chan struct{}, 1)
	defer close(p.ready)
	p.link, err = link.Open(link.Options{
		Identity: id, Servers: settings.Servers, Foreign: settings.Foreign, ForeignAccess: link.ForeignAccess{Creds: settings.Creds, CA: settings.CA}, Log: m.cfg.Log,
		Revoked: m.cfg.Dir.SignedRevocations(), OnConnect: p.onReconnect,
		OnOlderRevocations: p.signalRevocations,
		OnRevoked: func(b []byte) {
			if err := m.cfg.Dir.KeepRevocations(id.CA, b); err != nil {
				m.cfg.Log.Warn("the fleet", "err", err)
			}
		},
	})
	if err != nil {
		return err
	}
	p.pub = registry.NewPublisher(p.link.JetStream(), id.Name)
	p.pub.Log = m.cfg.Log
	p.srv = &http.Server{
		Handler: m.cfg.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(m.cfg.Log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			who, _ := link.MemberOf(c)
			return context.WithValue(ctx, grantKey{}, grantOf(who))
		},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.work.Go(func() { p.run(p.ctx) })
	m.membership = p
	return nil
}

type grantKey struct{}

// Caller is a client on another host and its rights.
type Caller struct {
	Host  string
	Grant apitoken.Grant
}

// CallerOf returns the remote caller of a request's context.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(grantKey{}).(Caller)
	return c, ok && c.Host != ""
}

// TokenPrefix starts the token names that stand for members.
const TokenPrefix = "fleet:"

// grantOf returns the rights of a member's certificate here. A certificate without a known right grants nothing.
func grantOf(m certs.Member) Caller {
	may, err := apitoken.ParseRights(m.May)
	if err != nil || may == 0 {
		return Caller{}
	}
	g := apitoken.Grant{Name: TokenPrefix + m.Name, May: may, Masked: m.Masked}
	if may == apitoken.Everything {
		g.Level = apitoken.All
	}
	return Caller{Host: m.Name, Grant: g}
}

// run claims the host's name, then publishes and serves until the context ends.
func (p *membership) run(ctx context.Context) {
	log := p.m.cfg.Log
	if a, err := p.m.cfg.Dir.Authority(); err == nil {
		err := p.link.Answer(p.m.cfg.Dir, a, func() []string { return p.settings.Reach })
		if err != nil {
			log.Error("the fleet: join codes are not answered", "err", err)
		}
		p.signalRevocations()
		p.work.Go(func() { p.guardRevocations(ctx) })
	}
	for pause := time.Second; ; pause = min(2*pause, 15*time.Second) {
		err := p.link.Claim(ctx)
		p.mu.Lock()
		old := p.claimErr
		p.claimErr = err
		p.mu.Unlock()
		if err == nil {
			break
		}
		if errors.Is(err, link.ErrNameInUse) && !errors.Is(old, link.ErrNameInUse) {
			log.Error("the fleet does not see this host", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.reconnected:
		case <-time.After(registry.Jitter(pause)):
		}
	}
	log.Info("part of a fleet", "fleet", p.id.Fleet, "host", p.id.Name)
	li := p.link.Listener()
	p.work.Go(func() { _ = p.srv.Serve(li) })
	p.work.Go(func() { p.forward(ctx) })
	p.work.Go(func() { p.copier.run(ctx) })
	p.work.Go(func() { p.learnHosts(ctx) })
	p.publish(ctx)
}

// guardRevocations publishes the local revocation list whenever the fleet has an older one, at most once a second.
func (p *membership) guardRevocations(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.revocationsBehind:
		}
		if b := p.m.cfg.Dir.SignedRevocations(); b != nil {
			p.announce(ctx, b)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// signalRevocations handles a revocation list of the fleet that is older than ours.
func (p *membership) signalRevocations() {
	select {
	case p.revocationsBehind <- struct{}{}:
	default:
	}
}

// announce publishes the local revocation list, in case the fleet lost it.
func (p *membership) announce(ctx context.Context, b []byte) {
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, time.Minute) {
		if p.link.PublishRevocations(ctx, b) == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(registry.Jitter(pause)):
		}
	}
}

// onReconnect handles a reconnect of the link.
func (p *membership) onReconnect() {
	<-p.ready // the link may be there before start has done its work
	p.once.Do(func() { close(p.connected) })
	select {
	case p.reconnected <- struct{}{}:
	default:
	}
	p.copier.reconnected.Store(true)
	select {
	case p.copyNow <- struct{}{}:
	default:
	}
	if p.pub != nil {
		p.pub.Resync()
	}
}

// stop ends the membership. The caller holds mu.
func (m *Member) stop() {
	p := m.membership
	if p == nil {
		return
	}
	m.membership = nil
	p.cancel()
	m.lost.closeAll()
	_ = p.srv.Close()
	p.link.Close()
	p.work.Wait()
}

// Close ends the membership with its daemon. Later requests must be repeated at the next daemon.
func (m *Member) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving = true
	m.stop()
}

// errReplaced returns the error of a stopping daemon. The membership itself continues.
func errReplaced() error {
	return api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again").Retryable()
}

// firstConnectTimeout bounds how long a request after the start waits for the first connection to the fleet.
const firstConnectTimeout = 3 * time.Second

// awaitFirstConnect waits a limited time for the first connection after a start, so that a daemon's restart does not
// make the fleet look unreachable.
func (p *membership) awaitFirstConnect(ctx context.Context) {
	left := time.Until(p.began.Add(firstConnectTimeout))
	if left <= 0 {
		return
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-p.connected:
	case <-t.C:
	case <-p.ctx.Done():
	case <-ctx.Done():
	}
}

// current returns the membership, or why this machine has none.
func (m *Member) current() (*membership, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.leaving:
		return nil, errReplaced()
	case m.membership != nil:
		return m.membership, nil
	case m.problem != nil:
		return nil, api.Errorf(api.CodeNoFleet, "fleet membership not usable: %v", m.problem).WithHint("see `longterm fleet status`")
	}
	return nil, api.Errorf(api.CodeNoFleet, "this machine belongs to no fleet").WithHint("`longterm fleet init` makes one, `longterm fleet join CODE` joins one")
}

// unreachable returns the error for requests that need an unreachable fleet.
func unreachable(err error) error {
	return api.Errorf(api.CodeUnavailable, "fleet unreachable: %v", err).WithHint("see `longterm fleet status`; this machine's sessions continue")
}

// Dial opens a stream to the daemon of another host.
func (m *Member) Dial(ctx context.Context, host string) (net.Conn, error) {
	p, err := m.current()
	if err != nil {
		return nil, err
	}
	if host == p.id.Name { // the local socket identifies the caller; this way would not
		return nil, api.Errorf(api.CodeInvalid, "%s is this machine", host).WithHint("ask its daemon itself, without naming a host")
	}
	ctx, done := context.WithTimeout(ctx, dialTime)
	defer done()
	p.awaitFirstConnect(ctx)
	c, err := p.link.Dial(ctx, host)
	if err != nil && p.ctx.Err() != nil { // the membership has ended
		if _, err := m.current(); err != nil {
			return nil, err
		}
	}
	// a revoked certificate does not become valid again
	if errors.Is(err, link.ErrRevoked) || errors.Is(err, link.ErrPeerRevoked) {
		return nil, api.Errorf(api.CodeDenied, "the host %s of the fleet is not reached: %v", host, err).
			WithHint("run `longterm fleet invite` on the fleet's first machine to admit a machine again")
	}
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "fleet host %s unreachable: %v", host, err).WithHint("`longterm fleet hosts` lists the connected hosts; sessions of a lost one can be read from its replica, and `longterm fleet restore %s` restores them here", host)
	}
	return c, nil
}

// dialTime bounds how long a host may take to answer.
const dialTime = 10 * time.Second

// Revoke revokes a member's certificate.
func (m *Member) Revoke(ctx context.Context, name string) error {
	p, err := m.current()
	if err != nil {
		return err
	}
	a, err := m.cfg.Dir.Authority()
	if err != nil {
		return api.Errorf(api.CodeNoFleet, "certificates are taken back on the machine where the fleet was made").WithHint("run it there")
	}
	if name == p.id.Name {
		return api.Errorf(api.CodeInvalid, "%s is this machine, where the fleet was made", name).WithHint("`longterm fleet leave --force` gives the whole fleet up")
	}
	b, err := m.cfg.Dir.Revoke(a, name)
	if err != nil {
		return api.Errorf(api.CodeNotFound, "%v", err)
	}
	if err := p.link.PublishRevocations(ctx, b); err != nil {
		m.mu.Lock()
		if m.membership == p { // otherwise it ended, and announces at its next start
			p.work.Go(func() { p.announce(p.ctx, b) })
		}
		m.mu.Unlock()
		return unreachable(fmt.Errorf("%w; the certificate is revoked here, other machines are notified once reachable", err))
	}
	return nil
}
