// Package link is a member's one connection to its fleet: everything it has there goes over it.
//
// It is there when it can be and comes back by itself when it cannot, with pauses that are not all members' alike; whoever
// uses it is told what is the case. Streams of bytes are in TLS from end to end, with the fleet's certificates: what is
// served to a stream is served to the member that its certificate names.
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
	"github.com/longterm-dev/longterm/store/fleet/conn"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// Options say whose connection it is.
type Options struct {
	Identity *ident.Identity
	Servers  []string
	Foreign  bool // the servers are not the fleet's own: they know members by Outside
	Outside  Outside
	Revoked  []byte // newest signed list that is known here
	// OnRevoked is told of a newer list; OnBack of each time that the connection is there (again).
	OnRevoked func(signed []byte)
	// OnOlder is told that the fleet has an older list than is known here, or one that the authority did not sign.
	OnOlder func()
	OnBack  func()
	Log     *slog.Logger
}

// Link is the connection. Any goroutine may use it.
type Link struct {
	o    Options
	nc   *nats.Conn
	js   jetstream.JetStream
	mux  *conn.Mux
	boot string // of this process
	// What makes a second stream between the same two cost a third: no signatures, and no certificates sent. Whether the
	// certificate still counts is looked at each time, and keys are made anew.
	sessions  tls.ClientSessionCache
	ticketKey [32]byte
	made      chan struct{} // closed once Open has made what is above, or failed
	cut       context.CancelFunc
	work      sync.WaitGroup

	revoked atomic.Pointer[ident.Revocations]
	claimed atomic.Bool
	older   atomic.Bool // the server is

	mu    sync.Mutex
	peers map[net.Conn]string // serials, of streams under way
	last  error               // why there is no connection
}

// Open makes the connection, or goes on trying.
func Open(o Options) (*Link, error) {
	l := &Link{o: o, boot: rand.Text(), made: make(chan struct{}), peers: map[net.Conn]string{}}
	defer close(l.made)
	l.sessions = tls.NewLRUClientSessionCache(sessionsKept)
	_, _ = rand.Read(l.ticketKey[:])
	if o.Revoked != nil {
		if list, err := ident.OpenRevocations(o.Identity.CA, o.Revoked); err == nil {
			l.revoked.Store(list)
		}
	}
	opts := []nats.Option{
		nats.Name("longterm " + o.Identity.Name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.CustomInboxPrefix(fleet.InboxOf(o.Identity.Name)),
		nats.ReconnectWait(500 * time.Millisecond), nats.ReconnectJitter(2*time.Second, 2*time.Second), nats.ReconnectBufSize(-1),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(5 * time.Second), nats.IgnoreAuthErrorAbort(),
		nats.ConnectHandler(func(*nats.Conn) { l.back() }), nats.ReconnectHandler(func(*nats.Conn) { l.back() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.lost(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.lost(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.failed(err) }),
	}
	if o.Foreign {
		more, err := o.Outside.options()
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
	api := fleet.APIOf(o.Identity.Name)
	if o.Foreign {
		api = jetstream.DefaultAPIPrefix
	}
	if l.js, err = jetstream.NewWithAPIPrefix(nc, api, jetstream.WithPublishAsyncMaxPending(4096), jetstream.WithPublishAsyncTimeout(5*time.Second)); err != nil {
		nc.Close()
		return nil, err
	}
	me := o.Identity.Name
	l.mux = conn.New(me, func(to, id string, b []byte) error {
		return nc.PublishMsg(&nats.Msg{Subject: fleet.Data(to, me, id), Reply: fleet.Data(me, to, id), Data: b})
	})
	err = l.subscribe(fleet.DataTo(me), func(m *nats.Msg) {
		f := strings.Split(m.Subject, ".")
		if len(f) != 5 {
			return
		}
		if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
			l.mux.Nobody(f[3], f[4])
			return
		}
		l.mux.Deliver(f[3], f[4], m.Data)
	})
	err = errors.Join(err, l.subscribe(fleet.Hello(me), func(m *nats.Msg) {
		who := l.boot
		if l.claimed.Load() {
			who = "+" + who
		}
		if strings.HasPrefix(m.Reply, inboxes) { // else somebody would have us write what it may not
			_ = m.Respond([]byte(who))
		}
	}))
	if err != nil {
		nc.Close()
		return nil, err
	}
	ctx, cut := context.WithCancel(context.Background())
	l.cut = cut
	l.work.Go(func() { registry.Follow(ctx, l.js, fleet.RevokedKey, l.revoke) })
	return l, nil
}

// sessionsKept is of how many members it is kept what a stream was made with.
const sessionsKept = 4096

// inboxes is what all members' begin with.
var inboxes = fleet.InboxOf("")

func (l *Link) subscribe(subject string, do nats.MsgHandler) error {
	sub, err := l.nc.Subscribe(subject, do)
	if err == nil { // streams bound what they have on its way by themselves
		err = sub.SetPendingLimits(-1, -1)
	}
	return err
}

func serverTLS(i *ident.Identity) *tls.Config {
	t := i.TLS()
	t.ServerName = ident.AnyServer
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

func (l *Link) back() {
	<-l.made // a server may be there before Open has done its work
	l.note(nil)
	l.older.Store(false)
	if l.mux != nil {
		l.mux.Reconnected()
	}
	if l.o.OnBack != nil {
		l.o.OnBack()
	}
}

// ErrOlder says that a server knows nothing of what members ask there.
var ErrOlder = errors.New("the fleet's server is of an older version than this machine's longterm; start it anew with this version")

func (l *Link) failed(err error) {
	// What any member may ask of a server that has it: so it has not.
	if errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), fleet.APIOf(l.o.Identity.Name)+".STREAM.INFO.") {
		l.older.Store(true)
	}
	l.o.Log.Warn("fleet", "err", err)
}

func (l *Link) lost(err error) {
	if err != nil {
		l.note(err)
	}
}

func (l *Link) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = err
}

// ErrRevoked says that the fleet has this machine in no more.
var ErrRevoked = errors.New("this machine's certificate was revoked, and no other lets it in; `longterm fleet leave`, and join again with a new code")

// ErrPeerRevoked says that the fleet has the other machine in no more.
var ErrPeerRevoked = errors.New("was revoked")

// State says where the link is connected, or why it is not.
func (l *Link) State() (server string, err error) {
	revoked := l.revoked.Load().Has(l.o.Identity.Serial)
	if revoked && l.o.Foreign { // such a server lets it in still
		return "", ErrRevoked
	}
	if l.nc.IsConnected() {
		if l.older.Load() {
			return "", ErrOlder
		}
		return l.nc.ConnectedAddr(), nil
	}
	refused := errors.Is(l.nc.LastError(), nats.ErrAuthorization)
	if refused && l.o.Foreign {
		return "", ErrNotLetIn
	}
	if refused || revoked {
		return "", ErrRevoked
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		return "", errors.New("no server was reached yet")
	}
	return "", l.last
}

// JetStream is what registry and events are read by.
func (l *Link) JetStream() jetstream.JetStream { return l.js }

// Identity is whose connection it is.
func (l *Link) Identity() *ident.Identity { return l.o.Identity }

// ErrTwo says that another machine has this one's name.
var ErrTwo = errors.New("another machine has this host's name and certificate; it was there first. On one of the two run " +
	"`longterm fleet leave`, and join under another name")

// Claim makes sure that nobody else has this member's name. Of two who claim it at once one is let.
func (l *Link) Claim(ctx context.Context) error {
	inbox := l.nc.NewRespInbox()
	sub, err := l.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := l.nc.PublishRequest(fleet.Hello(l.o.Identity.Name), inbox, nil); err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, claimTime)
	defer done()
	heard := false
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && heard, errors.Is(err, nats.ErrTimeout) && heard:
			l.claimed.Store(true)
			return nil
		case err != nil:
			return fmt.Errorf("ask whether the name is free: %w", err)
		}
		who, established := strings.CutPrefix(string(m.Data), "+")
		switch {
		case who == l.boot:
			heard = true // so the servers have our subscription
		case established || who < l.boot:
			return ErrTwo
		}
	}
}

// claimTime is how long is waited for others of the same name.
const claimTime = 400 * time.Millisecond

// Request asks who answers a subject.
func (l *Link) Subscribe(subject string, do nats.MsgHandler) error { return l.subscribe(subject, do) }

// PublishRevocations hands a signed list to the whole fleet.
func (l *Link) PublishRevocations(ctx context.Context, signed []byte) error {
	_, err := l.js.Publish(ctx, fleet.KeySubject(fleet.RevokedKey), signed)
	if err == nil {
		l.revoke(signed)
	}
	return err
}

// revoke takes a signed list, and ends streams of those who are on it.
func (l *Link) revoke(signed []byte) {
	list, err := ident.OpenRevocations(l.o.Identity.CA, signed)
	if err != nil {
		l.o.Log.Error("fleet", "err", err)
	}
	old := l.revoked.Load()
	if l.o.OnOlder != nil && old != nil && (err != nil || old.Number > list.Number) {
		l.o.OnOlder()
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
			go c.Close() // it says goodbye to somebody who may not listen
		}
	}
}

// Dial is a stream of bytes to a host, which is the one that its certificate names.
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
	t.ServerName = ident.DNSName(ident.Host, host)
	t.VerifyConnection, t.ClientSessionCache = l.notRevoked, l.sessions
	c := tls.Client(s, t)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	return l.followed(c), nil
}

func (l *Link) notRevoked(state tls.ConnectionState) error {
	if m := ident.MemberOf(state.PeerCertificates[0]); l.revoked.Load().Has(m.Serial) {
		return fmt.Errorf("the certificate of %s %w", m.Name, ErrPeerRevoked)
	}
	return nil
}

// followed has a stream end when the other side's certificate is revoked.
func (l *Link) followed(c *tls.Conn) net.Conn {
	f := &followed{Conn: c, l: l}
	serial := f.Member().Serial
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[f] = serial; l.revoked.Load().Has(serial) { // since the handshake
		go f.Close()
	}
	return f
}

// followed is a stream of a member whose certificate counted when it began.
type followed struct {
	*tls.Conn
	l    *Link
	once sync.Once
}

// Close implements net.Conn.
func (f *followed) Close() error {
	f.once.Do(func() {
		f.l.mu.Lock()
		delete(f.l.peers, f)
		f.l.mu.Unlock()
	})
	return f.Conn.Close()
}

// Member is who is at the other end.
func (f *followed) Member() ident.Member {
	return ident.MemberOf(f.ConnectionState().PeerCertificates[0])
}

// MemberOf is who is at the other end of a stream that a Link's listener took.
func MemberOf(c net.Conn) (ident.Member, bool) {
	f, ok := c.(*followed)
	if !ok {
		return ident.Member{}, false
	}
	return f.Member(), true
}

// Listener takes streams of other members, once they have shown who they are.
func (l *Link) Listener() net.Listener {
	li := &listener{l: l, got: make(chan net.Conn), done: make(chan struct{})}
	go li.take()
	return li
}

type listener struct {
	l    *Link
	got  chan net.Conn
	done chan struct{}
	once sync.Once
}

// handshakeTime bounds how long somebody may take to show who it is, handshakes how many do at once.
const (
	handshakeTime = 20 * time.Second
	handshakes    = 256
)

func (li *listener) take() {
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
				if m := ident.MemberOf(state.PeerCertificates[0]); m.Name != raw.RemoteAddr().String() || m.Kind != ident.Host {
					return errors.New("the certificate is somebody else's")
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
			case li.got <- li.l.followed(c):
			case <-li.done:
				_ = c.Close()
			}
		}()
	}
}

// Accept implements net.Listener.
func (li *listener) Accept() (net.Conn, error) {
	select {
	case c := <-li.got:
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
	l.cut()
	_ = l.mux.Close()
	_ = l.nc.FlushTimeout(200 * time.Millisecond) // what says goodbye
	l.nc.Close()
	l.work.Wait()
}
