// Package link holds a member's only connection to its fleet.
//
// It connects and reconnects in the background, with jittered pauses, and reports each change by callbacks. Streams use
// TLS end to end with the fleet's certificates: the rights of a stream are those of the member in its certificate.
package link

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/stream"
)

// Options configure a member's connection.
type Options struct {
	Identity      *certs.Identity
	Servers       []string
	Foreign       bool // the servers are not the fleet's own: they authenticate members by Outside
	ForeignAccess ForeignAccess
	Revoked       []byte // newest signed revocation list known here
	// OnRevoked is called with each newer revocation list, as signed.
	OnRevoked func(signed []byte)
	// OnOlderRevocations is called if the fleet's list is older than the known one, or not signed by the authority.
	OnOlderRevocations func()
	OnConnect          func()
	Log                *slog.Logger
}

// Link is the connection. Any goroutine may use it.
type Link struct {
	o          Options // its options
	nc         *nats.Conn
	js         jetstream.JetStream
	mux        *stream.Mux
	instanceID string // random id of this process
	// TLS session resumption: a second stream between two members costs a third, without signatures and certificates.
	// Each resumption still checks revocation and makes new keys.
	sessions  tls.ClientSessionCache
	ticketKey [32]byte
	ready     chan struct{}      // closed once Open has set the fields above, or failed
	cancel    context.CancelFunc // cancels the background work
	work      sync.WaitGroup

	revoked      atomic.Pointer[certs.Revocations]
	claimed      atomic.Bool // no other machine uses this name (Claim)
	serverTooOld atomic.Bool // the server is older than the members' API

	mu    sync.Mutex
	peers map[net.Conn]string // certificate serials of peers, by open stream
	last  error               // last error, while disconnected
}

// Open connects, or keeps trying in the background.
func Open(o Options) (*Link, error) {
	l := &Link{o: o, instanceID: rand.Text(), ready: make(chan struct{}), peers: map[net.Conn]string{}}
	defer close(l.ready)
	l.sessions = tls.NewLRUClientSessionCache(sessionsKept)
	_, _ = rand.Read(l.ticketKey[:])
	if o.Revoked != nil {
		if list, err := certs.OpenRevocations(o.Identity.CA, o.Revoked); err == nil {
			l.revoked.Store(list)
		}
	}
	opts := []nats.Option{
		nats.Name("longterm " + o.Identity.Name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.CustomInboxPrefix(fleet.InboxPrefix(o.Identity.Name)),
		nats.ReconnectWait(500 * time.Millisecond), nats.ReconnectJitter(2*time.Second, 2*time.Second), nats.ReconnectBufSize(-1),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(5 * time.Second), nats.IgnoreAuthErrorAbort(),
		nats.ConnectHandler(func(*nats.Conn) { l.handleConnect() }), nats.ReconnectHandler(func(*nats.Conn) { l.handleConnect() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.handleDisconnect(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.handleDisconnect(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.handleError(err) }),
	}
	if o.Foreign {
		more, err := o.ForeignAccess.options()
		if err != nil {
			return nil, err
		}
		opts = append(opts, more...)
	} else {
		opts = append(opts, nats.Secure(serverTLS(o.Identity)), nats.UserInfo(o.Identity.Serial, ""))
	}
	nc, err := nats.Connect(strings.Join(urls(o.Servers, o.Foreign), ","), opts...)
	if err != nil {
		return nil, fmt.Errorf("the fleet's servers: %w", err)
	}
	l.nc = nc
	api := fleet.APIPrefix(o.Identity.Name)
	if o.Foreign {
		api = jetstream.DefaultAPIPrefix
	}
	if l.js, err = jetstream.NewWithAPIPrefix(nc, api, jetstream.WithPublishAsyncMaxPending(4096), jetstream.WithPublishAsyncTimeout(5*time.Second)); err != nil {
		nc.Close()
		return nil, err
	}
	me := o.Identity.Name
	l.mux = stream.New(me, func(to, id string, b []byte) error {
		return nc.PublishMsg(&nats.Msg{Subject: fleet.DataSubject(to, me, id), Reply: fleet.DataSubject(me, to, id), Data: b})
	})
	err = l.subscribe(fleet.DataPatternTo(me), func(m *nats.Msg) {
		f := strings.Split(m.Subject, ".")
		if len(f) != 5 {
			return
		}
		if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
			l.mux.HandleUnroutable(f[3], f[4])
			return
		}
		l.mux.Deliver(f[3], f[4], m.Data)
	})
	err = errors.Join(err, l.subscribe(fleet.NameSubject(me), func(m *nats.Msg) {
		who := l.instanceID
		if l.claimed.Load() {
			who = "+" + who
		}
		if strings.HasPrefix(m.Reply, inboxes) { // else the sender could make us write to subjects that it may not use
			_ = m.Respond([]byte(who))
		}
	}))
	if err != nil {
		nc.Close()
		return nil, err
	}
	ctx, cut := context.WithCancel(context.Background())
	l.cancel = cut
	l.work.Go(func() { registry.Follow(ctx, l.js, fleet.RevokedKey, l.revoke) })
	return l, nil
}

// sessionsKept is the number of members whose TLS sessions are cached.
const sessionsKept = 4096

// inboxes is the common prefix of all members' inboxes.
var inboxes = fleet.InboxPrefix("")

// subscribe handles the messages of a subject.
func (l *Link) subscribe(subject string, do nats.MsgHandler) error {
	sub, err := l.nc.Subscribe(subject, do)
	if err == nil { // streams bound what they have on its way by themselves
		err = sub.SetPendingLimits(-1, -1)
	}
	return err
}

// serverTLS returns the TLS configuration for the fleet's servers.
func serverTLS(i *certs.Identity) *tls.Config {
	t := i.TLS()
	t.ServerName = certs.AnyServer
	return t
}

func urls(servers []string, foreign bool) (all []string) {
	for _, s := range servers {
		if !strings.Contains(s, "://") && !foreign {
			s = "tls://" + s
		}
		all = append(all, s)
	}
	return all
}

// handleConnect handles a connect or reconnect.
func (l *Link) handleConnect() {
	<-l.ready // a server may be there before Open has done its work
	l.setLastError(nil)
	l.serverTooOld.Store(false)
	if l.mux != nil {
		l.mux.RetransmitAll()
	}
	if l.o.OnConnect != nil {
		l.o.OnConnect()
	}
}

// ErrOlder reports that a server does not support the members' API.
var ErrOlder = errors.New("fleet server is older than this machine's longterm; restart it with this version")

func (l *Link) handleError(err error) {
	// A current server allows this to every member, so this one is older.
	if errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), fleet.APIPrefix(l.o.Identity.Name)+".STREAM.INFO.") {
		l.serverTooOld.Store(true)
	}
	l.o.Log.Warn("fleet", "err", err)
}

func (l *Link) handleDisconnect(err error) {
	if err != nil {
		l.setLastError(err)
	}
}

// setLastError records the error of a lost connection.
func (l *Link) setLastError(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = err
}

// ErrRevoked reports that this machine's certificate was revoked.
var ErrRevoked = errors.New("this machine's certificate was revoked; run `longterm fleet leave`, then join with a new code")

// ErrPeerRevoked reports that the other machine's certificate was revoked.
var ErrPeerRevoked = errors.New("was revoked")

// State returns the server's address, or the reason why the link is not connected.
func (l *Link) State() (server string, err error) {
	revoked := l.revoked.Load().Has(l.o.Identity.Serial)
	if revoked && l.o.Foreign { // such a server lets it in still
		return "", ErrRevoked
	}
	if l.nc.IsConnected() {
		if l.serverTooOld.Load() {
			return "", ErrOlder
		}
		return l.nc.ConnectedAddr(), nil
	}
	rejected := errors.Is(l.nc.LastError(), nats.ErrAuthorization)
	if rejected && l.o.Foreign {
		return "", ErrUnauthorized
	}
	if rejected || revoked {
		return "", ErrRevoked
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		return "", errors.New("no server was reached yet")
	}
	return "", l.last
}

// JetStream returns the client for the registry and the events.
func (l *Link) JetStream() jetstream.JetStream { return l.js }

// Identity returns the identity of this member.
func (l *Link) Identity() *certs.Identity { return l.o.Identity }

// ErrNameInUse reports that another machine uses this machine's name.
var ErrNameInUse = errors.New("another machine has this host's name and certificate; it was there first. On one of the two run " +
	"`longterm fleet leave`, and join under another name")

// Claim verifies that no other machine uses this member's name. If two claim it at once, one of them succeeds.
func (l *Link) Claim(ctx context.Context) error {
	inbox := l.nc.NewRespInbox()
	sub, err := l.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := l.nc.PublishRequest(fleet.NameSubject(l.o.Identity.Name), inbox, nil); err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, claimTime)
	defer done()
	answered := false
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && answered, errors.Is(err, nats.ErrTimeout) && answered:
			l.claimed.Store(true)
			return nil
		case err != nil:
			return fmt.Errorf("ask whether the name is free: %w", err)
		}
		who, established := strings.CutPrefix(string(m.Data), "+")
		switch {
		case who == l.instanceID:
			answered = true // so the servers have our subscription
		case established || who < l.instanceID:
			return ErrNameInUse
		}
	}
}

// claimTime is how long Claim waits for another machine that uses the name.
const claimTime = 400 * time.Millisecond

// Subscribe handles the messages of a subject.
func (l *Link) Subscribe(subject string, do nats.MsgHandler) error { return l.subscribe(subject, do) }

// PublishRevocations publishes a signed list to the whole fleet.
func (l *Link) PublishRevocations(ctx context.Context, signed []byte) error {
	_, err := l.js.Publish(ctx, fleet.KeySubject(fleet.RevokedKey), signed)
	if err == nil {
		l.revoke(signed)
	}
	return err
}

// revoke stores a signed list and closes the streams of the members on it.
func (l *Link) revoke(signed []byte) {
	list, err := certs.OpenRevocations(l.o.Identity.CA, signed)
	if err != nil {
		l.o.Log.Error("fleet", "err", err)
	}
	old := l.revoked.Load()
	if l.o.OnOlderRevocations != nil && old != nil && (err != nil || old.Number > list.Number) {
		l.o.OnOlderRevocations()
	}
	if err != nil || old != nil && old.Number >= list.Number {
		return
	}
	l.revoked.Store(list)
	if l.o.OnRevoked != nil {
		l.o.OnRevoked(signed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c, serial := range l.peers {
		if list.Has(serial) {
			go c.Close() // Close sends a TLS alert, which may block
		}
	}
}

// Dial opens a stream to a host and verifies it by its certificate.
func (l *Link) Dial(ctx context.Context, host string) (net.Conn, error) {
	if err := fleet.CheckName(host); err != nil {
		return nil, err
	}
	if _, err := l.State(); err != nil && (!l.nc.IsConnected() || errors.Is(err, ErrRevoked)) {
		return nil, fmt.Errorf("this machine is cut off from its fleet: %w", err)
	}
	s, err := l.mux.Dial(ctx, host)
	if err != nil {
		return nil, err
	}
	t := l.o.Identity.TLS()
	t.ServerName = certs.DNSName(certs.Host, host)
	t.VerifyConnection, t.ClientSessionCache = l.notRevoked, l.sessions
	c := tls.Client(s, t)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	return l.closeOnRevocation(c), nil
}

// notRevoked returns an error if the peer's certificate is revoked.
func (l *Link) notRevoked(state tls.ConnectionState) error {
	if m := certs.MemberOf(state.PeerCertificates[0]); l.revoked.Load().Has(m.Serial) {
		return fmt.Errorf("the certificate of %s %w", m.Name, ErrPeerRevoked)
	}
	return nil
}

// closeOnRevocation wraps a stream so that it closes when the peer's certificate is revoked.
func (l *Link) closeOnRevocation(c *tls.Conn) net.Conn {
	f := &revocableConn{Conn: c, l: l}
	serial := f.Member().Serial
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[f] = serial; l.revoked.Load().Has(serial) { // since the handshake
		go f.Close()
	}
	return f
}

// revocableConn is a stream that Link closes when the peer's certificate is revoked.
type revocableConn struct {
	*tls.Conn
	l    *Link
	once sync.Once
}

// Close implements net.Conn.
func (f *revocableConn) Close() error {
	f.once.Do(func() {
		f.l.mu.Lock()
		delete(f.l.peers, f)
		f.l.mu.Unlock()
	})
	return f.Conn.Close()
}

// Member returns the peer's identity.
func (f *revocableConn) Member() certs.Member {
	return certs.MemberOf(f.ConnectionState().PeerCertificates[0])
}

// MemberOf returns the peer of a stream that came from a Link's listener, or false for other connections.
func MemberOf(c net.Conn) (certs.Member, bool) {
	f, ok := c.(*revocableConn)
	if !ok {
		return certs.Member{}, false
	}
	return f.Member(), true
}

// Listener accepts streams of other members after their TLS handshake.
func (l *Link) Listener() net.Listener {
	li := &listener{l: l, accepted: make(chan net.Conn), done: make(chan struct{})}
	go li.acceptStreams()
	return li
}

// listener accepts the streams of other members.
type listener struct {
	l        *Link
	accepted chan net.Conn // streams after their handshake
	done     chan struct{}
	once     sync.Once
}

// handshakeTime bounds a TLS handshake, handshakes how many run at once.
const (
	handshakeTime = 20 * time.Second
	handshakes    = 256
)

// acceptStreams accepts streams and performs their handshakes.
func (li *listener) acceptStreams() {
	slots := make(chan struct{}, handshakes)
	for {
		raw, err := li.l.mux.Accept()
		if err != nil {
			_ = li.Close()
			return
		}
		select {
		case slots <- struct{}{}:
		case <-li.done:
			_ = raw.Close()
			return
		}
		go func() {
			defer func() { <-slots }()
			t := li.l.o.Identity.TLS()
			t.SetSessionTicketKeys([][32]byte{li.l.ticketKey})
			t.VerifyConnection = func(state tls.ConnectionState) error {
				if m := certs.MemberOf(state.PeerCertificates[0]); m.Name != raw.RemoteAddr().String() || m.Kind != certs.Host {
					return errors.New("certificate of another member")
				}
				return li.l.notRevoked(state)
			}
			c := tls.Server(raw, t)
			ctx, done := context.WithTimeout(context.Background(), handshakeTime)
			defer done()
			if err := c.HandshakeContext(ctx); err != nil {
				li.l.o.Log.Info("fleet: a stream was refused", "from", raw.RemoteAddr(), "err", err)
				_ = raw.Close()
				return
			}
			select {
			case li.accepted <- li.l.closeOnRevocation(c):
			case <-li.done:
				_ = c.Close()
			}
		}()
	}
}

// Accept implements net.Listener.
func (li *listener) Accept() (net.Conn, error) {
	select {
	case c := <-li.accepted:
		return c, nil
	case <-li.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (li *listener) Close() error {
	li.once.Do(func() { close(li.done) })
	return nil
}

// Addr implements net.Listener.
func (li *listener) Addr() net.Addr { return li.l.mux.Addr() }

// Close ends the connection and all streams.
func (l *Link) Close() {
	l.cancel()
	_ = l.mux.Close()
	_ = l.nc.FlushTimeout(200 * time.Millisecond) // sends pending unsubscribes and closes
	l.nc.Close()
	l.work.Wait()
}
