//go:build unix

// Package member is this machine's part in a fleet: it tells the fleet of its sessions and of what ends, and serves the
// API to other hosts of it, each within what its certificate allows.
//
//	events of the bus ─→ records (at most ten times a second each) ─→ store/fleet/registry
//	completions       ─→ forward: a subscription whose cursor moves when the stream has them
//	streams of others ─→ http.Server with the handler of httpapi
//
// What is on this machine's disk stays the truth. Cut off, everything here goes on; what changed meanwhile is told when
// the fleet is back.
package member

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// Completions are what ended here, by subscriptions with cursors.
type Completions interface {
	Put(ctx context.Context, name, session string, n api.NewSubscription) (api.Subscription, error)
	Read(ctx context.Context, name string, in api.ReadCompletions) (api.Completions, error)
	Ack(ctx context.Context, name string, in api.AckCompletions) (api.Subscription, error)
	Remove(ctx context.Context, name string) error
}

// Config is what it works with.
type Config struct {
	Dir         ident.Dir
	Build       string
	Log         *slog.Logger
	Handler     http.Handler // takes GrantOf from the request's context
	Sessions    func() []api.Session
	Bus         *events.Bus
	Completions Completions
	Mask        func(string) string // secrets in a command line

	Copies   func() []Source      // sessions that are copied to the fleet
	CopyRate func() int64         // bytes a second; 0: nothing is copied
	Here     func(id string) bool // this machine has the session
	TakeIn   TakeIn
	Scratch  string // directory for what is being restored, beside the sessions'
	// OpenShelf makes an instance for copies in a directory of its own below Lost, which has nothing when this begins.
	OpenShelf func(dir string) (Shelf, error)
	Lost      string
}

// Member is the part. Any goroutine may use it.
type Member struct {
	cfg       Config
	restoring sync.Mutex // one restore at a time
	lost      *lostHosts

	knownMu sync.Mutex // guards the file of hosts that are known

	mu      sync.Mutex // guards what follows
	part    *part      // nil: there is none
	why     error      // why there is none though there should be
	leaving bool       // the daemon ends
}

// New makes it; Reload begins.
func New(cfg Config) *Member {
	m := &Member{cfg: cfg}
	m.lost = &lostHosts{m: m, all: map[string]*Lost{}, ending: map[string]*Lost{}}
	return m
}

// part is the part in one fleet.
type part struct {
	m        *Member
	id       *ident.Identity
	settings ident.Settings
	link     *link.Link
	pub      *registry.Publisher
	srv      *http.Server
	ctx      context.Context // ends with the part
	cut      context.CancelFunc
	work     sync.WaitGroup
	back     chan struct{}
	made     chan struct{} // closed once what is above is there
	began    time.Time
	first    chan struct{} // closed once a server was reached
	once     sync.Once
	copier   *copier
	copyNow  chan struct{}
	older    chan struct{} // the fleet's list of revocations is older than ours

	mu      sync.Mutex
	claim   error // why others do not see this host
	unsent  uint64
	records map[string]record // by session
}

// errNotYet stands until the name was claimed.
var errNotYet = errors.New("no server was reached yet")

// Reload reads what was written by who made, joined or left a fleet.
func (m *Member) Reload() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leaving {
		return replaced()
	}
	m.stop()
	m.why = m.start()
	if errors.Is(m.why, ident.ErrNone) {
		m.why = nil
		return nil
	}
	if m.why != nil {
		m.cfg.Log.Error("the fleet", "err", m.why)
	}
	return m.why
}

func (m *Member) start() error {
	settings, err := m.cfg.Dir.Settings()
	if err != nil {
		return err
	}
	id, err := m.cfg.Dir.Identity(ident.Host)
	if err != nil {
		return err
	}
	p := &part{m: m, id: id, settings: settings, claim: errNotYet, back: make(chan struct{}, 1), made: make(chan struct{}), began: time.Now(), first: make(chan struct{}), older: make(chan struct{}, 1), records: map[string]record{}}
	p.copier, p.copyNow = newCopier(p), make(chan struct{}, 1)
	defer close(p.made)
	p.link, err = link.Open(link.Options{
		Identity: id, Servers: settings.Servers, Foreign: settings.Foreign, Outside: link.Outside{Creds: settings.Creds, CA: settings.CA}, Log: m.cfg.Log,
		Revoked: m.cfg.Dir.SignedRevocations(), OnBack: p.isBack,
		OnOlder: p.isOlder,
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
	p.ctx, p.cut = context.WithCancel(context.Background())
	p.work.Go(func() { p.run(p.ctx) })
	m.part = p
	return nil
}

type grantKey struct{}

// Caller is who asks from another host, and what it may.
type Caller struct {
	Host  string
	Grant access.Grant
}

// CallerOf is who asks, of a request's context.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(grantKey{}).(Caller)
	return c, ok && c.Host != ""
}

// TokenPrefix is what the tokens begin with that members are known by.
const TokenPrefix = "fleet:"

// grantOf is what a member's certificate allows here. One that names no right that is known may nothing.
func grantOf(m ident.Member) Caller {
	may, err := access.ParseRights(m.May)
	if err != nil || may == 0 {
		return Caller{}
	}
	g := access.Grant{Name: TokenPrefix + m.Name, May: may, Masked: m.Masked}
	if may == access.Everything {
		g.Level = access.All
	}
	return Caller{Host: m.Name, Grant: g}
}

// run claims the name, then tells and serves until the end.
func (p *part) run(ctx context.Context) {
	log := p.m.cfg.Log
	if a, err := p.m.cfg.Dir.Authority(); err == nil {
		err := p.link.Answer(p.m.cfg.Dir, a, func() []string { return p.settings.Reach })
		if err != nil {
			log.Error("the fleet: join codes are not answered", "err", err)
		}
		p.isOlder()
		p.work.Go(func() { p.guardRevocations(ctx) })
	}
	for pause := time.Second; ; pause = min(2*pause, 15*time.Second) {
		err := p.link.Claim(ctx)
		p.mu.Lock()
		old := p.claim
		p.claim = err
		p.mu.Unlock()
		if err == nil {
			break
		}
		if errors.Is(err, link.ErrTwo) && !errors.Is(old, link.ErrTwo) {
			log.Error("the fleet does not see this host", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.back:
		case <-time.After(registry.Jitter(pause)):
		}
	}
	log.Info("part of a fleet", "fleet", p.id.Fleet, "host", p.id.Name)
	li := p.link.Listener()
	p.work.Go(func() { _ = p.srv.Serve(li) })
	p.work.Go(func() { p.forward(ctx) })
	p.work.Go(func() { p.copier.run(ctx) })
	p.work.Go(func() { p.learnHosts(ctx) })
	p.tell(ctx)
}

// guardRevocations tells the list that is kept here as often as the fleet has another, at most once a second.
func (p *part) guardRevocations(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.older:
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

func (p *part) isOlder() {
	select {
	case p.older <- struct{}{}:
	default:
	}
}

// announce tells the list of revocations that is kept here, in case the fleet lost it.
func (p *part) announce(ctx context.Context, b []byte) {
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

// isBack is told that the link is there again.
func (p *part) isBack() {
	<-p.made // the link may be there before start has done its work
	p.once.Do(func() { close(p.first) })
	select {
	case p.back <- struct{}{}:
	default:
	}
	p.copier.back.Store(true)
	select {
	case p.copyNow <- struct{}{}:
	default:
	}
	if p.pub != nil {
		p.pub.Anew()
	}
}

// stop ends the part. The caller holds mu.
func (m *Member) stop() {
	p := m.part
	if p == nil {
		return
	}
	m.part = nil
	p.cut()
	m.lost.closeAll()
	_ = p.srv.Close()
	p.link.Close()
	p.work.Wait()
}

// Close ends it, with its daemon: who asks from now on is to ask the next one.
func (m *Member) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving = true
	m.stop()
}

// replaced is the answer of a daemon that ends: this machine is part of its fleet as before.
func replaced() error {
	return api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again").AgainSoon()
}

// firstTime is how long after its start what needs the fleet waits for the first connection to it.
const firstTime = 3 * time.Second

// reached waits for the first connection, where the part has only begun: who asked the daemon before this one, which was
// connected, is not to be told that the fleet is out of reach.
func (p *part) reached(ctx context.Context) {
	left := time.Until(p.began.Add(firstTime))
	if left <= 0 {
		return
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-p.first:
	case <-t.C:
	case <-p.ctx.Done():
	case <-ctx.Done():
	}
}

// now is the part, or why there is none.
func (m *Member) now() (*part, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.leaving:
		return nil, replaced()
	case m.part != nil:
		return m.part, nil
	case m.why != nil:
		return nil, api.Errorf(api.CodeNoFleet, "this machine's part in its fleet is not in order: %v", m.why).WithHint("see `longterm fleet status`")
	}
	return nil, api.Errorf(api.CodeNoFleet, "this machine belongs to no fleet").WithHint("`longterm fleet init` makes one, `longterm fleet join CODE` joins one")
}

// cutOff is the error of what the fleet would be needed for.
func cutOff(err error) error {
	return api.Errorf(api.CodeUnavailable, "the fleet cannot be asked: %v", err).WithHint("`longterm fleet status` says what is the case; this machine's own sessions go on")
}

// Dial is a stream of bytes to the daemon of another host.
func (m *Member) Dial(ctx context.Context, host string) (net.Conn, error) {
	p, err := m.now()
	if err != nil {
		return nil, err
	}
	if host == p.id.Name { // its own socket knows who asks, and this way it would not
		return nil, api.Errorf(api.CodeInvalid, "%s is this machine", host).WithHint("ask its daemon itself, without naming a host")
	}
	ctx, done := context.WithTimeout(ctx, dialTime)
	defer done()
	p.reached(ctx)
	c, err := p.link.Dial(ctx, host)
	if err != nil && p.ctx.Err() != nil { // the part ended meanwhile
		if _, err := m.now(); err != nil {
			return nil, err
		}
	}
	if errors.Is(err, link.ErrRevoked) || errors.Is(err, link.ErrPeerRevoked) { // it does not get better: nobody waits for it
		return nil, api.Errorf(api.CodeDenied, "the host %s of the fleet is not reached: %v", host, err).
			WithHint("`longterm fleet invite`, where the fleet was made, lets a machine in anew")
	}
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "the host %s of the fleet cannot be reached: %v", host, err).WithHint("`longterm fleet hosts` says which are connected; what the fleet has copied of one that is gone can be read as if it were there, and `longterm fleet restore %s` has it here", host)
	}
	return c, nil
}

// dialTime bounds how long a host may take to answer.
const dialTime = 10 * time.Second

// Revoke takes a member's certificate back.
func (m *Member) Revoke(ctx context.Context, name string) error {
	p, err := m.now()
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
		if m.part == p { // else it has ended, and announces when it begins again
			p.work.Go(func() { p.announce(p.ctx, b) })
		}
		m.mu.Unlock()
		return cutOff(fmt.Errorf("%w; the certificate is revoked here, and the others are told when they can be", err))
	}
	return nil
}
