// Package server runs nats-server in this process for a fleet: JetStream on the local disk, and members identified by
// certificates, each restricted to its subjects.
//
// Servers of one fleet authenticate each other by certificates too, and form a cluster. The first server that starts
// creates the registry's streams; their replicas grow with the cluster.
package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/replica"
)

// Config holds the parameters of a server.
type Config struct {
	Identity *certs.Identity
	Dir      string // directory of the server's files
	Listen   string // HOST:PORT
	// Advertise is the HOST:PORT that members use, and that the servers of a cluster announce to them. Default: Listen.
	Advertise string
	// Cluster is the HOST:PORT for other servers, or "" without a cluster. Routes are the addresses of the others.
	Cluster string
	Routes  []string
	Revoked []byte // newest signed revocation list known here
	// OnRevoked, if set, is called with each new valid revocation list, as signed.
	OnRevoked func(signed []byte)
	Log       *slog.Logger

	interval time.Duration // interval of the maintenance loop; 0: maintainInterval
}

// maintainInterval is the default interval of the maintenance loop (maintain).
const maintainInterval = 5 * time.Second

// Server is a running server.
type Server struct {
	cfg           Config
	srv           *nats.Server
	local         *client.Conn       // connection of this process to the server
	secret        string             // authenticates local
	cancel        context.CancelFunc // ends the background work
	work          sync.WaitGroup
	ready         chan struct{}
	dir           string // JetStream's directory
	rejectsWrites bool   // JetStream rejects writes; only maintain uses it

	revoked atomic.Pointer[certs.Revocations]
}

// readyTime is the timeout for a server to listen.
const readyTime = 15 * time.Second

// Start starts a server. It listens on return; Ready reports when the registry exists.
func Start(cfg Config) (*Server, error) {
	if cfg.Identity.Kind != certs.Server {
		return nil, errors.New("the certificate is not that of a server")
	}
	host, port, err := hostPort(cfg.Listen)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, secret: rand.Text(), ready: make(chan struct{})}
	if cfg.Revoked != nil {
		if list, err := certs.OpenRevocations(cfg.Identity.CA, cfg.Revoked); err == nil {
			s.revoked.Store(list)
		}
	}
	o := &nats.Options{
		ServerName: cfg.Identity.Name, Host: host, Port: port, NoSigs: true, JetStream: true, DisableJetStreamBanner: true,
		StoreDir: filepath.Join(cfg.Dir, "alone"), WriteDeadline: 10 * time.Second, MaxPayload: 1 << 20, MaxPending: 64 << 20,
		PingInterval: 10 * time.Second, MaxPingsOut: 2, AuthTimeout: 10, TLSTimeout: 10, NoSystemAccount: false,
		CustomClientAuthentication: memberAuth{s}, TLSConfig: s.tls(tls.VerifyClientCertIfGiven),
	}
	o.JetStreamLimits.DefaultMaxConsumers = -1 // each member has one, and more while it looks; a thousand would be all
	if cfg.Advertise != "" {
		if _, _, err := hostPort(cfg.Advertise); err != nil {
			return nil, err
		}
		o.ClientAdvertise = cfg.Advertise
	}
	if cfg.Cluster != "" {
		if err := s.cluster(o); err != nil {
			return nil, err
		}
	}
	if s.srv, err = nats.NewServer(o); err != nil {
		return nil, fmt.Errorf("the server: %w", err)
	}
	s.dir = o.StoreDir
	s.srv.SetLoggerV2(logger{cfg.Log}, false, false, false)
	s.srv.Start()
	if !s.srv.ReadyForConnections(readyTime) {
		s.srv.Shutdown()
		return nil, fmt.Errorf("cannot listen on %s (is another server running?)", cfg.Listen)
	}
	s.local, err = client.Connect("", client.InProcessServer(s.srv), client.UserInfo("local", s.secret), client.MaxReconnects(-1),
		client.CustomInboxPrefix("_INBOX_local"))
	if err != nil {
		s.srv.Shutdown()
		return nil, err
	}
	if err := s.serveAPI(); err != nil {
		s.local.Close()
		s.srv.Shutdown()
		return nil, err
	}
	ctx, cut := context.WithCancel(context.Background())
	s.cancel = cut
	s.work.Go(func() { s.maintain(ctx) })
	return s, nil
}

func (s *Server) cluster(o *nats.Options) error {
	host, port, err := hostPort(s.cfg.Cluster)
	if err != nil {
		return err
	}
	o.StoreDir = filepath.Join(s.cfg.Dir, "cluster")
	t := s.tls(tls.RequireAndVerifyClientCert)
	t.ServerName = certs.AnyServer
	o.Cluster = nats.ClusterOpts{Name: s.cfg.Identity.Fleet, Host: host, Port: port, TLSConfig: t, TLSTimeout: 10, PoolSize: 3}
	o.CustomRouterAuthentication = peerAuth{s}
	for _, r := range s.cfg.Routes {
		if _, _, err := net.SplitHostPort(r); err != nil {
			return fmt.Errorf("%q is no address of a server: %w", r, err)
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: r})
	}
	return nil
}

func (s *Server) tls(auth tls.ClientAuthType) *tls.Config {
	t := s.cfg.Identity.TLS()
	t.ClientAuth = auth
	return t
}

func hostPort(addr string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil {
		return "", 0, fmt.Errorf("%q is no address: give HOST:PORT, as in 0.0.0.0:7722", addr)
	}
	if port == 0 {
		port = nats.RANDOM_PORT
	}
	return host, port, nil
}

// Addr returns the address for members.
func (s *Server) Addr() string { return s.srv.Addr().String() }

// ClusterAddr returns the address for other servers, or "" without a cluster.
func (s *Server) ClusterAddr() string {
	if a := s.srv.ClusterAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Ready returns a channel that is closed once the registry exists.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Members returns the number of connections.
func (s *Server) Members() int { return s.srv.NumClients() }

// maintain creates the streams, adapts their replicas to the cluster's size, and disconnects revoked members.
func (s *Server) maintain(ctx context.Context) {
	js, err := jetstream.New(s.local)
	if err != nil {
		s.cfg.Log.Error("the registry", "err", err)
		return
	}
	replicas, copied := 0, 0 // how many servers keep the registry, and copies
	pause := 200 * time.Millisecond
	var lastErr error
	for ready := false; ctx.Err() == nil; {
		s.restartJetStream()
		if want := s.replicas(); want > replicas { // of a cluster only the leader knows how many there are

			try, done := context.WithTimeout(ctx, 10*time.Second)
			err := registry.Setup(try, js, want)
			done()
			if err == nil {
				replicas = want
			} else {
				lastErr = s.logOnce("the registry cannot be made yet", lastErr, err)
			}
		}
		if replicas > copied { // the registry works without
			try, done := context.WithTimeout(ctx, 10*time.Second)
			err := replica.Setup(try, js, replicas)
			done()
			if err == nil {
				copied = replicas
			} else {
				lastErr = s.logOnce("what sessions print cannot be kept yet", lastErr, err)
			}
		}
		if !ready && streamsExist(ctx, js) {
			ready, pause = true, cmp.Or(s.cfg.interval, maintainInterval)
			close(s.ready)
			s.work.Go(func() { s.followRevocations(ctx, js) })
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// logOnce warns the server's operator about missing disk space, unless the last warning was the same. Other errors,
// such as a missing leader, pass by themselves and are logged as info.
func (s *Server) logOnce(what string, lastErr, err error) error {
	var e *jetstream.APIError
	if !errors.As(err, &e) || !replica.ExceedsLimit(e) {
		s.cfg.Log.Info(what, "err", err)
		return lastErr
	}
	if lastErr == nil || lastErr.Error() != err.Error() {
		s.cfg.Log.Warn(what+": there is too little room on the disk", "dir", s.cfg.Dir, "err", err)
	}
	return err
}

// streamsExist reports whether the registry and the event stream exist, whichever server created them.
func streamsExist(ctx context.Context, js jetstream.JetStream) bool {
	ctx, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	_, err := js.KeyValue(ctx, fleet.Bucket)
	if err == nil {
		_, err = js.Stream(ctx, fleet.Stream)
	}
	return err == nil
}

// replicas returns the number of servers that store each message: an odd number up to 3, or 0 with fewer than 3 peers.
func (s *Server) replicas() int {
	if s.cfg.Cluster == "" {
		return 1
	}
	if len(s.srv.JetStreamClusterPeers()) >= 3 {
		return 3
	}
	return 0 // two of three have to be there to decide anything
}

func (s *Server) followRevocations(ctx context.Context, js jetstream.JetStream) {
	registry.Follow(ctx, js, fleet.RevokedKey, func(b []byte) {
		list, err := certs.OpenRevocations(s.cfg.Identity.CA, b)
		if err != nil {
			s.cfg.Log.Error("the list of revocations", "err", err)
			return
		}
		s.Revoke(list)
		if s.cfg.OnRevoked != nil {
			s.cfg.OnRevoked(b)
		}
		select { // catches members that connected while the list was stored
		case <-ctx.Done():
		case <-time.After(time.Second):
			s.disconnect(s.revoked.Load())
		}
	})
}

// Revoke stores a revocation list unless a newer one is known, and disconnects the members on it.
func (s *Server) Revoke(list *certs.Revocations) {
	if old := s.revoked.Load(); old != nil && old.Number >= list.Number {
		return
	}
	s.revoked.Store(list)
	s.disconnect(list)
}

// disconnect closes the connections of listed members. It collects them first, as each closed connection shifts the
// server's listing.
func (s *Server) disconnect(list *certs.Revocations) {
	var found []uint64
	for offset := 0; ; {
		all, err := s.srv.Connz(&nats.ConnzOptions{Username: true, Offset: offset, Limit: 1024})
		if err != nil || len(all.Conns) == 0 {
			break
		}
		for _, c := range all.Conns {
			if list.Has(c.AuthorizedUser) {
				found = append(found, c.Cid)
			}
		}
		offset += len(all.Conns)
	}
	for _, id := range found {
		_ = s.srv.DisconnectClientByID(id)
	}
}

// Close ends the server.
func (s *Server) Close() {
	s.cancel()
	s.work.Wait()
	s.local.Close()
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
}

// memberAuth authenticates members by their certificates. The NATS user name of a connection is its certificate's serial,
// so that connections can be found by it.
type memberAuth struct{ s *Server }

// Check implements server.Authentication.
func (m memberAuth) Check(c nats.ClientAuthentication) bool {
	o := c.GetOpts()
	if o.Username == "local" {
		return subtle.ConstantTimeCompare([]byte(o.Password), []byte(m.s.secret)) == 1
	}
	cert := certOf(c)
	if cert == nil { // a client with a join code; its answer depends on the code
		c.RegisterUser(&nats.User{Username: "join", Permissions: &nats.Permissions{
			Publish: &nats.SubjectPermission{Allow: []string{fleet.JoinSubject}}, Subscribe: joinInbox(o.Username),
		}})
		return true
	}
	who := certs.MemberOf(cert)
	if who.Kind != certs.Host || fleet.CheckName(who.Name) != nil || o.Username != who.Serial || m.s.revoked.Load().Has(who.Serial) {
		m.s.cfg.Log.Warn("a connection was refused", "member", who.Name, "kind", who.Kind, "address", c.RemoteAddress())
		return false
	}
	c.RegisterUser(&nats.User{Username: who.Serial, Permissions: PermissionsOf(who)})
	return true
}

// joinInbox returns where a client without a certificate may read: the inbox of its code, whose token is its user name. An
// older client has no user name, and may read directly below the inboxes, where newer clients get no answers.
func joinInbox(user string) *nats.SubjectPermission {
	if certs.IsInbox(user) {
		return &nats.SubjectPermission{Allow: []string{fleet.JoinedSubjects + "." + user + ".>"}}
	}
	return &nats.SubjectPermission{Allow: []string{fleet.JoinedSubjects + ".*.*"}, Deny: []string{fleet.JoinedSubjects + ".*.*.>"}}
}

func certOf(c nats.ClientAuthentication) *x509.Certificate {
	state := c.GetTLSConnectionState()
	if state == nil || len(state.VerifiedChains) == 0 || len(state.PeerCertificates) == 0 {
		return nil
	}
	return state.PeerCertificates[0]
}

// PermissionsOf returns the subjects that a member may use.
func PermissionsOf(m certs.Member) *nats.Permissions {
	kv := "KV_" + fleet.Bucket
	pub := []string{
		fleet.DataPatternFrom(m.Name), fleet.NameSubject("*"), fleet.EventPattern(m.Name),
		fleet.KeySubject(fleet.HostKey(m.Name)), fleet.KeySubject(fleet.RecordKey(m.Name, ">")), fleet.KeySubject(fleet.CursorKey(m.Name, ">")),
		fleet.CopySubject(m.Name, "*"), fleet.CopyRecordSubject(m.Name, "*"), "$JS.FC.>",
	}
	requests := []string{"INFO", "STREAM.INFO." + fleet.CopyStream, "STREAM.INFO." + fleet.CopyRecords, "DIRECT.GET." + fleet.CopyStream + "." + fleet.CopySubject(m.Name, "*")}
	if mayReadReplicas(m) {
		requests = append(requests, "DIRECT.GET."+fleet.CopyStream, "DIRECT.GET."+fleet.CopyStream+".>", "DIRECT.GET."+fleet.CopyRecords+".>")
	}
	for _, stream := range []string{kv, fleet.Stream} {
		requests = append(requests, "STREAM.INFO."+stream, "CONSUMER.CREATE."+stream+".>", "CONSUMER.INFO."+stream+".*",
			"CONSUMER.DELETE."+stream+".*", "CONSUMER.MSG.NEXT."+stream+".*", "DIRECT.GET."+stream+".>")
	}
	for _, what := range requests {
		pub = append(pub, fleet.APIPrefix(m.Name)+"."+what)
	}
	sub := []string{fleet.DataPatternTo(m.Name), fleet.InboxPrefix(m.Name) + ".>", fleet.NameSubject(m.Name)}
	if m.Admin {
		pub, sub = append(pub, fleet.KeySubject("a.>")), append(sub, fleet.JoinSubject)
	}
	return &nats.Permissions{
		Publish: &nats.SubjectPermission{Allow: pub}, Subscribe: &nats.SubjectPermission{Allow: sub},
		Response: &nats.ResponsePermission{MaxMsgs: 1, Expires: 10 * time.Second},
	}
}

// mayReadReplicas reports whether a member may read replicas of other hosts' output. It needs all rights that it would need
// on a live session.
func mayReadReplicas(m certs.Member) bool {
	for _, right := range []string{"look", "type", "approve", "manage"} {
		if !slices.Contains(m.May, right) {
			return false
		}
	}
	return !m.Masked
}

// peerAuth admits only the fleet's other servers.
type peerAuth struct{ s *Server }

// Check implements server.Authentication.
func (p peerAuth) Check(c nats.ClientAuthentication) bool {
	cert := certOf(c)
	return cert != nil && certs.MemberOf(cert).Kind == certs.Server && !p.s.revoked.Load().Has(certs.MemberOf(cert).Serial)
}

// logger passes nats-server's log to a slog.Logger.
type logger struct{ log *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Fatalf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l logger) Errorf(format string, v ...any)  { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Debugf(format string, v ...any)  {}
func (l logger) Tracef(format string, v ...any)  {}
