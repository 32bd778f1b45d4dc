// Package server runs nats-server in this process for a fleet: JetStream on this machine's disk, members by their
// certificates, and each member with the subjects that are its own.
//
// Servers of one fleet know each other by certificates, too, and make a cluster. What the registry and the events are
// kept in is made by whoever starts first, and grows with the cluster.
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
	"github.com/longterm-dev/longterm/store/fleet/copies"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// Config is what a server is started with.
type Config struct {
	Identity *ident.Identity
	Dir      string // for what is kept
	Listen   string // HOST:PORT
	// Advertise is where members reach it, HOST:PORT, which servers of a cluster tell them; empty: where it listens.
	Advertise string
	// Cluster is where other servers connect, HOST:PORT; empty: there are no others. Routes are theirs.
	Cluster string
	Routes  []string
	Revoked []byte // newest signed list that is known here
	// OnRevoked is told of each list that counts, as it is signed; nil: nobody is.
	OnRevoked func(signed []byte)
	Log       *slog.Logger

	every time.Duration // how often it is looked whether all is as it should be; 0: lookEvery
}

// lookEvery is how often that is looked at.
const lookEvery = 5 * time.Second

// Server is a server that runs.
type Server struct {
	cfg    Config
	srv    *nats.Server
	local  *client.Conn
	secret string
	cut    context.CancelFunc
	work   sync.WaitGroup
	ready  chan struct{}
	dir    string // where JetStream keeps things
	down   bool   // it takes nothing; of keep alone

	revoked atomic.Pointer[ident.Revocations]
}

// readyTime bounds how long a server may take to listen.
const readyTime = 15 * time.Second

// Start starts a server. It listens when this returns; Ready tells when it can keep things.
func Start(cfg Config) (*Server, error) {
	if cfg.Identity.Kind != ident.Server {
		return nil, errors.New("the certificate is not that of a server")
	}
	host, port, err := hostPort(cfg.Listen)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, secret: rand.Text(), ready: make(chan struct{})}
	if cfg.Revoked != nil {
		if list, err := ident.OpenRevocations(cfg.Identity.CA, cfg.Revoked); err == nil {
			s.revoked.Store(list)
		}
	}
	o := &nats.Options{
		ServerName: cfg.Identity.Name, Host: host, Port: port, NoSigs: true, JetStream: true, DisableJetStreamBanner: true,
		StoreDir: filepath.Join(cfg.Dir, "alone"), WriteDeadline: 10 * time.Second, MaxPayload: 1 << 20, MaxPending: 64 << 20,
		PingInterval: 10 * time.Second, MaxPingsOut: 2, AuthTimeout: 10, TLSTimeout: 10, NoSystemAccount: false,
		CustomClientAuthentication: members{s}, TLSConfig: s.tls(tls.VerifyClientCertIfGiven),
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
		return nil, fmt.Errorf("the server does not listen on %s: is another one there?", cfg.Listen)
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
	s.cut = cut
	s.work.Go(func() { s.keep(ctx) })
	return s, nil
}

func (s *Server) cluster(o *nats.Options) error {
	host, port, err := hostPort(s.cfg.Cluster)
	if err != nil {
		return err
	}
	o.StoreDir = filepath.Join(s.cfg.Dir, "cluster")
	t := s.tls(tls.RequireAndVerifyClientCert)
	t.ServerName = ident.AnyServer
	o.Cluster = nats.ClusterOpts{Name: s.cfg.Identity.Fleet, Host: host, Port: port, TLSConfig: t, TLSTimeout: 10, PoolSize: 3}
	o.CustomRouterAuthentication = peers{s}
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

// Addr is where members connect.
func (s *Server) Addr() string { return s.srv.Addr().String() }

// ClusterAddr is where other servers connect.
func (s *Server) ClusterAddr() string {
	if a := s.srv.ClusterAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Ready is closed once the registry is there.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Members is how many connections there are.
func (s *Server) Members() int { return s.srv.NumClients() }

// keep makes what the registry is kept in, follows the cluster's size, and ends who is revoked.
func (s *Server) keep(ctx context.Context) {
	js, err := jetstream.New(s.local)
	if err != nil {
		s.cfg.Log.Error("the registry", "err", err)
		return
	}
	made, copied := 0, 0 // how many servers keep the registry, and copies
	pause := 200 * time.Millisecond
	var said error
	for ready := false; ctx.Err() == nil; {
		s.keepsAgain()
		if want := s.replicas(); want > made { // of a cluster only the leader knows how many there are

			try, done := context.WithTimeout(ctx, 10*time.Second)
			err := registry.Setup(try, js, want)
			done()
			if err == nil {
				made = want
			} else {
				said = s.sayOnce("the registry cannot be made yet", said, err)
			}
		}
		if made > copied { // the registry works without
			try, done := context.WithTimeout(ctx, 10*time.Second)
			err := copies.Setup(try, js, made)
			done()
			if err == nil {
				copied = made
			} else {
				said = s.sayOnce("what sessions print cannot be kept yet", said, err)
			}
		}
		if !ready && there(ctx, js) {
			ready, pause = true, cmp.Or(s.cfg.every, lookEvery)
			close(s.ready)
			s.work.Go(func() { s.followRevocations(ctx, js) })
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// sayOnce tells whoever runs the server when there is too little room, unless that was said before. That there is no leader
// yet, say, passes by itself.
func (s *Server) sayOnce(what string, said, err error) error {
	var e *jetstream.APIError
	if !errors.As(err, &e) || !copies.NoRoom(e) {
		s.cfg.Log.Info(what, "err", err)
		return said
	}
	if said == nil || said.Error() != err.Error() {
		s.cfg.Log.Warn(what+": there is too little room on the disk", "dir", s.cfg.Dir, "err", err)
	}
	return err
}

// there says that the registry and the events are there, whichever server made them.
func there(ctx context.Context, js jetstream.JetStream) bool {
	ctx, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	_, err := js.KeyValue(ctx, fleet.Bucket)
	if err == nil {
		_, err = js.Stream(ctx, fleet.Stream)
	}
	return err == nil
}

// replicas is how many servers keep each thing: an odd number, no more than there are.
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
		list, err := ident.OpenRevocations(s.cfg.Identity.CA, b)
		if err != nil {
			s.cfg.Log.Error("the list of revocations", "err", err)
			return
		}
		s.Revoke(list)
		if s.cfg.OnRevoked != nil {
			s.cfg.OnRevoked(b)
		}
		select { // who was let in while the list was taken is found now
		case <-ctx.Done():
		case <-time.After(time.Second):
			s.disconnect(s.revoked.Load())
		}
	})
}

// Revoke takes a list of revocations, unless a newer one is known, and ends the connections of who is on it.
func (s *Server) Revoke(list *ident.Revocations) {
	if old := s.revoked.Load(); old != nil && old.Number >= list.Number {
		return
	}
	s.revoked.Store(list)
	s.disconnect(list)
}

// disconnect ends the connections of who is on a list. They are looked for first: each one that ends moves those after
// it in what the server lists.
func (s *Server) disconnect(list *ident.Revocations) {
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
	s.cut()
	s.work.Wait()
	s.local.Close()
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
}

// members lets members in by their certificates. What a connection calls its user is its certificate's serial, so that
// connections can be found by it.
type members struct{ s *Server }

// Check implements server.Authentication.
func (m members) Check(c nats.ClientAuthentication) bool {
	o := c.GetOpts()
	if o.Username == "local" {
		return subtle.ConstantTimeCompare([]byte(o.Password), []byte(m.s.secret)) == 1
	}
	cert := certOf(c)
	if cert == nil { // somebody with a join code, which its answer depends on
		c.RegisterUser(&nats.User{Username: "join", Permissions: &nats.Permissions{
			Publish: &nats.SubjectPermission{Allow: []string{fleet.JoinSubject}}, Subscribe: joinInbox(o.Username),
		}})
		return true
	}
	who := ident.MemberOf(cert)
	if who.Kind != ident.Host || fleet.CheckName(who.Name) != nil || o.Username != who.Serial || m.s.revoked.Load().Has(who.Serial) {
		m.s.cfg.Log.Warn("a connection was refused", "member", who.Name, "kind", who.Kind, "address", c.RemoteAddress())
		return false
	}
	c.RegisterUser(&nats.User{Username: who.Serial, Permissions: PermissionsOf(who)})
	return true
}

// joinInbox returns where a client without a certificate may read: the inbox of its code, whose token is its user name. An
// older client has no user name, and may read directly below the inboxes, where newer clients get no answers.
func joinInbox(user string) *nats.SubjectPermission {
	if ident.IsInbox(user) {
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

// PermissionsOf are the subjects of a member.
func PermissionsOf(m ident.Member) *nats.Permissions {
	kv := "KV_" + fleet.Bucket
	pub := []string{
		fleet.DataFrom(m.Name), fleet.Hello("*"), fleet.EventsOf(m.Name),
		fleet.KeySubject(fleet.HostKey(m.Name)), fleet.KeySubject(fleet.RecordKey(m.Name, ">")), fleet.KeySubject(fleet.CursorKey(m.Name, ">")),
		fleet.Copy(m.Name, "*"), fleet.CopyRecord(m.Name, "*"), "$JS.FC.>",
	}
	asks := []string{"INFO", "STREAM.INFO." + fleet.CopyStream, "STREAM.INFO." + fleet.CopyRecords, "DIRECT.GET." + fleet.CopyStream + "." + fleet.Copy(m.Name, "*")}
	if readsCopies(m) {
		asks = append(asks, "DIRECT.GET."+fleet.CopyStream, "DIRECT.GET."+fleet.CopyStream+".>", "DIRECT.GET."+fleet.CopyRecords+".>")
	}
	for _, stream := range []string{kv, fleet.Stream} {
		asks = append(asks, "STREAM.INFO."+stream, "CONSUMER.CREATE."+stream+".>", "CONSUMER.INFO."+stream+".*",
			"CONSUMER.DELETE."+stream+".*", "CONSUMER.MSG.NEXT."+stream+".*", "DIRECT.GET."+stream+".>")
	}
	for _, what := range asks {
		pub = append(pub, fleet.APIOf(m.Name)+"."+what)
	}
	sub := []string{fleet.DataTo(m.Name), fleet.InboxOf(m.Name) + ".>", fleet.Hello(m.Name)}
	if m.Admin {
		pub, sub = append(pub, fleet.KeySubject("a.>")), append(sub, fleet.JoinSubject)
	}
	return &nats.Permissions{
		Publish: &nats.SubjectPermission{Allow: pub}, Subscribe: &nats.SubjectPermission{Allow: sub},
		Response: &nats.ResponsePermission{MaxMsgs: 1, Expires: 10 * time.Second},
	}
}

// readsCopies says that a member reads what others' sessions printed: one that may do everything there while they live.
func readsCopies(m ident.Member) bool {
	for _, right := range []string{"look", "type", "approve", "manage"} {
		if !slices.Contains(m.May, right) {
			return false
		}
	}
	return !m.Masked
}

// peers lets other servers in, and nobody else.
type peers struct{ s *Server }

// Check implements server.Authentication.
func (p peers) Check(c nats.ClientAuthentication) bool {
	cert := certOf(c)
	return cert != nil && ident.MemberOf(cert).Kind == ident.Server && !p.s.revoked.Load().Has(ident.MemberOf(cert).Serial)
}

// logger is the server's log as ours.
type logger struct{ log *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Fatalf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l logger) Errorf(format string, v ...any)  { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Debugf(format string, v ...any)  {}
func (l logger) Tracef(format string, v ...any)  {}
