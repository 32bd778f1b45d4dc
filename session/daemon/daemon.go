//go:build unix

// Package daemon assembles the daemon: it owns the sessions, stores their history and serves clients. All its state can
// be rebuilt, so it may be killed, restarted and upgraded at any time; the rest is in the keepers.
//
//	lock → store → keepers → adopt sessions → serve → report ready to the main keeper
//
// The registry holds the sessions, with one lock for its maps. A session's owner does all work on that session (package
// session). A keeperLink is the connection to one keeper, with a goroutine that reads it and reconnects. The subpackages are:
// authorize decides approvals, jobs runs commands, spawn starts processes, httpapi and pagesocket serve clients, subscriptions
// delivers completions, fleetmember connects other machines.
package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/compareruns"
	"github.com/longterm-dev/longterm/session/daemon/executions"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/daemon/inbox"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/ports"
	"github.com/longterm-dev/longterm/session/daemon/push"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/subscriptions"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Config holds the settings of a daemon.
type Config struct {
	Dirs  paths.Dirs
	Build string
	Log   *slog.Logger
	// KeeperArgv makes the command line of a keeper with a placement key.
	KeeperArgv func(key string, daemon bool) []string
	// LinkArgv returns the command of the process that holds the connection to an ssh host; nil without such hosts.
	LinkArgv func(t hosts.Target, program string) []string
	// PushClient sends notifications to push services; nil: that of package push.
	PushClient *http.Client
	// Poller controls the polling intervals; nil: a new one.
	Poller *idlepoll.Poller
}

// shutdownTime bounds how long an ending daemon waits for its clients' requests.
const shutdownTime = 2 * time.Second

// Daemon is a running daemon.
type Daemon struct {
	cfg      Config
	log      *slog.Logger
	store    *store.Store
	reg      *registry.Registry
	jobs     *jobs.Set
	gate     *authorize.Gateway
	execs    *executions.Set
	subs     *subscriptions.Set
	inbox    *inbox.Set
	push     *push.Set
	ports    *ports.Watch
	started  time.Time
	locks    locks
	conf     *liveconfig.Settings
	audit    *audit.Log
	known    *redact.Vault
	tokens   *apitoken.Store
	api      atomic.Pointer[httpapi.Server] // set before anything is served
	tcp      *tcpListener                   // likewise
	web      *webServer                     // likewise
	fleet    *fleetmember.Member
	shares   *shares        // likewise
	webhooks *webhook.Queue // notifications to webhooks
	crashed  bool           // the previous daemon crashed
	// isReplica means that its sessions are replicas of another machine's.
	isReplica bool

	launchMu  sync.Mutex // one keeper at a time is started; before mu
	upgradeMu sync.Mutex // held by the one upgrade; before launching

	mu      sync.Mutex // guards the fields below
	keepers map[string]*keeperLink
	notices []string
	// stateProblem describes a removed or replaced state directory; empty if none.
	stateProblem string

	poller *idlepoll.Poller
	stop   chan api.Stop
}

// ErrRunning is returned when another daemon holds the lock.
var ErrRunning = errors.New("another daemon is running")

// Run serves until a stop is requested or ctx ends.
func Run(ctx context.Context, cfg Config) (err error) {
	d := &Daemon{
		cfg: cfg, log: cfg.Log, started: time.Now(),
		keepers: map[string]*keeperLink{}, stop: make(chan api.Stop, 1), poller: cmp.Or(cfg.Poller, new(idlepoll.Poller)), tokens: apitoken.Open(cfg.Dirs.Tokens()),
	}
	if err := cfg.Dirs.Make(); err != nil {
		return err
	}
	if err := d.acquire(); err != nil {
		return err
	}
	defer d.unlock()
	d.crashed = d.watchCrash()
	d.conf = liveconfig.Open(cfg.Dirs, cfg.Log)
	keepSecrets, err := d.openSecrets()
	if err != nil {
		return err
	}
	defer keepSecrets()
	if err := d.openAudit(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, d.audit.CloseMarked(audit.Record{Actor: identity.Actor{UID: os.Getuid(), PID: os.Getpid()}}))
	}()
	if d.webhooks, err = webhook.Open(cfg.Dirs.Notices(), nil, cfg.Log); err != nil {
		return err
	}
	defer d.webhooks.Close()
	if err := d.open(ctx); err != nil {
		return err
	}
	defer d.store.Close()
	d.reg.AdoptAll(ctx, cfg.Dirs.KeeperKeys(), d.adopt)
	d.jobs.Resume()
	d.subs.Labels, d.subs.Publish = d.reg.LabelsOf, d.reg.Bus.Send
	if err := d.subs.Start(); err != nil {
		d.log.Error("start the hooks of subscriptions", "err", err)
	}
	hears := d.reg.Bus.Listen()
	defer d.reg.Bus.Unsubscribe(hears)
	d.subs.Follow(hears.C, d.conf.Hooks)
	messages := d.reg.Bus.Listen()
	defer d.reg.Bus.Unsubscribe(messages)
	defer d.inbox.Follow(messages.C)()
	listener, err := d.listen()
	if err != nil {
		return err
	}
	face := httpapi.New(d, d.reg, d.jobs, d.store, d.conf, d.log, cfg.Build, d.gate)
	d.api.Store(face)
	handler := d.withActivity(face.Handler())
	d.tcp = &tcpListener{handler: face.RequireToken(handler), parseScheduler: face.ClassifyRequest, log: d.log}
	d.tcp.setAddress(d.conf.Get().HTTP.Listen)
	defer d.tcp.close()
	d.openFleet(face)
	defer d.fleet.Close()
	d.web = newWebServer(face.WebHandler(), d.log, cfg.Dirs.Web(), func() config.HTTP { return d.conf.Get().HTTP })
	d.web.retryListen()
	defer d.web.close()
	news := d.reg.Bus.Listen()
	defer d.reg.Bus.Unsubscribe(news)
	defer d.push.Follow(news.C, face.InboxOf)()
	d.shares = openShares(face.ShareHandler, d.tokens, d.log, cfg.Dirs.Shares())
	defer d.shares.close()
	srv := &http.Server{Handler: handler, ConnContext: httpapi.WithPeer, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn)}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	d.ready()
	stopWatching := d.keepPaths(srv)
	defer d.reg.Start(ctx)()
	defer d.ports.Start(ctx)()
	restored := make(chan struct{})
	go func() { defer close(restored); d.reg.RestoreLost(ctx); face.ClearFiles() }()

	how := api.Stop{}
	select {
	case <-ctx.Done():
	case how = <-d.stop:
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	}
	<-restored
	stopWatching() // before it is removed on purpose
	return d.shutDown(srv, how)
}

// acquire takes the locks that make this the only daemon. It waits briefly for a daemon that is ending.
func (d *Daemon) acquire() error {
	deadline := time.Now().Add(shutdownTime + time.Second)
	for {
		err := d.lockAll()
		if !errors.Is(err, launch.ErrRunning) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w (locks %s and %s)", ErrRunning, d.cfg.Dirs.DaemonStateLock(), d.cfg.Dirs.DaemonLock())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// open opens the store, the locks and the logs.
func (d *Daemon) open(ctx context.Context) error {
	st, err := store.Open(d.cfg.Dirs.Database())
	if err != nil {
		return err
	}
	d.store = st
	err = d.load(ctx)
	if errors.Is(err, store.ErrCorrupt) { // deeper than what is looked at when it is opened
		d.log.Error("the database is replaced", "err", err)
		if err := d.store.Close(); err != nil {
			d.log.Warn("close the database", "err", err)
		}
		if d.store, err = store.Replace(d.cfg.Dirs.Database()); err != nil {
			return err
		}
		err = d.load(ctx)
	}
	if err == nil {
		d.reg.OpenIndex()
	}
	return err
}

// load reads the state that the previous daemon left.
func (d *Daemon) load(ctx context.Context) error {
	if err := d.assemble(ctx); err != nil {
		return err
	}
	return errors.Join(d.reg.Load(ctx), d.jobs.Load(ctx))
}

// assemble creates the parts that serve requests.
func (d *Daemon) assemble(ctx context.Context) error {
	d.reg = registry.New(registry.Config{
		Dirs: d.cfg.Dirs, Build: d.cfg.Build, Log: d.log, Store: d.store, Settings: d.conf, Crashed: d.crashed, Host: d,
		Known: d.known, CheckRestart: d.checkRestart, Post: d.webhooks.Post, ReusedHostName: d.reusedHostName, IsReplica: d.isReplica,
		Poller: d.poller,
	})
	d.reg.Bus.StartAfter(uint64(time.Now().UnixMicro())) // after those of the daemon before
	if err := d.openGate(ctx); err != nil {
		return err
	}
	d.execs = executions.New(d.gate, d.reg, d.log)
	d.jobs = jobs.New(d.reg, d.store, d.conf, d.log, d.gate)
	d.jobs.Audit = d
	if !d.isReplica {
		d.ports = ports.New(d.reg, d.poller)
		d.push = push.New(d.pushConfig())
	}
	d.subs = subscriptions.New(d.store, d.jobs, d.log)
	d.subs.Mask, d.subs.Post = d.known.RedactCommand, d.webhooks.Post
	d.reg.FindFailures = (&compareruns.Finder{Registry: d.reg, Store: d.store}).FindFailures
	d.inbox = inbox.New(d.reg, d.gate, d.store, d.conf, d.log)
	return nil
}

// listen listens on the daemon's socket.
func (d *Daemon) listen() (net.Listener, error) {
	path := d.cfg.Dirs.Socket()
	// We hold the lock, so an existing socket belongs to a killed daemon.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove stale socket: %w", err)
	}
	l, err := netsock.Listen(path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return httpapi.OwnPeers(l, d.log), nil
}

// ready reports to the keepers that the daemon serves clients.
func (d *Daemon) ready() {
	for _, k := range d.links() {
		if err := k.Link().Ready(d.cfg.Dirs.Socket()); err != nil {
			d.log.Warn("report ready to the keeper", "keeper", k.Key(), "err", err)
		}
	}
	d.log.Info("serving", "socket", d.cfg.Dirs.Socket(), "took", time.Since(d.started))
}

// shutDown ends gracefully: it saves checkpoints, closes clients' connections, and reports to the keeper whether to start
// another daemon.
func (d *Daemon) shutDown(srv *http.Server, how api.Stop) error {
	d.log.Info("ending", "restart", how.Restart, "kill_sessions", how.KillSessions)
	if how.KillSessions {
		// Before connections close: waiting clients must not start another daemon.
		if err := atomicfile.Write(d.cfg.Dirs.Stopped(), atomicfile.Options{}, []byte(time.Now().Format(time.RFC3339Nano))); err != nil {
			d.log.Warn("mark the stop as intended", "err", err)
		}
		d.reg.KillAll()
	}
	links := d.links()
	for _, k := range links {
		if err := k.Link().Leave(how.Restart); err != nil {
			d.log.Warn("report the stop to the keeper", "keeper", k.Key(), "err", err)
		}
	}
	d.fleet.Close() // before its sessions and store close
	d.gate.MarkStopping()
	d.execs.Close()
	d.jobs.Close() // before its callers are cut off, which would end their jobs
	d.subs.Close() // after the jobs: those of hooks continue
	d.reg.Bus.Close()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close() // streams end only when they are cut
	}
	_ = os.Remove(d.cfg.Dirs.Socket())
	d.reg.StopAll()
	for _, k := range links {
		k.close(how.KillSessions)
	}
	return err
}

// Stop requests the daemon's end; the first request counts.
func (d *Daemon) Stop(how api.Stop) {
	select {
	case d.stop <- how:
	default:
	}
}

// checkRestart checks whether a session's program that ended by itself, or with the machine, may be restarted. It
// stores the judged file in req.
func (d *Daemon) checkRestart(ctx context.Context, e *registry.Handle, req *api.Restore) error {
	n, err := d.reg.RestoreRequest(ctx, e, *req)
	if err != nil {
		return err
	}
	ask := jobs.NewSessionRequest("", identity.Actor{UID: os.Getuid(), Agent: e.Record().Agent}, n)
	ask.Session, ask.Kept = e.ID(), n.Policy
	ask.ID = restartRequestID(&ask, e.Session.Status().Ended)
	req.Judged = n.Judged
	if jobs.IsPlainShell(n) {
		return d.gate.RecordUnjudged(ctx, ask)
	}
	answer, err := d.gate.Admit(ctx, ask)
	if err == nil {
		d.gate.Started(e.ID(), ask, answer)
	}
	return err
}

// restartRequestID returns the ID of the request to restart a session that ended at a time. Later daemons use the same
// ID, so one approval suffices. Clients cannot choose IDs with a colon.
func restartRequestID(a *authorize.Request, ended time.Time) string {
	if ended.IsZero() {
		return uuid.NewString()
	}
	b, err := json.Marshal([]any{a.Session, ended.UnixNano(), a.Actor.Agent, a.Path, a.File, a.Argv, a.Settings, a.Cwd, a.Kept})
	if err != nil {
		return uuid.NewString() // of plain values
	}
	sum := sha256.Sum256(b)
	return "again:" + hex.EncodeToString(sum[:16])
}

// OnCommand implements Host.
func (d *Daemon) OnCommand(e *registry.Handle, c *session.Command) { d.jobs.OnCommand(e, c) }

// IsStopping implements Host.
func (d *Daemon) IsStopping() bool { return d.jobs.IsStopping() }

// Notice records a repair at the start that users should know about.
func (d *Daemon) Notice(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	d.log.Warn(msg)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notices = append(d.notices, msg)
}

// Subscriptions returns the subscriptions to completions.
func (d *Daemon) Subscriptions() *subscriptions.Set { return d.subs }

// Inbox implements httpapi.Daemon.
func (d *Daemon) Inbox() *inbox.Set { return d.inbox }

// Ports implements httpapi.Daemon.
func (d *Daemon) Ports() *ports.Watch { return d.ports }
