package link_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// world is a separate fleet: an authority, and its servers.
type world struct {
	t   *testing.T
	dir certs.Dir
	ca  *certs.Authority
	srv *server.Server
	cfg server.Config
}

// restart ends the server and starts it again where it was.
func (w *world) restart() {
	w.t.Helper()
	w.cfg.Listen = w.srv.Addr()
	w.srv.Close()
	var err error
	if w.srv, err = server.Start(w.cfg); err != nil {
		w.t.Fatal(err)
	}
	<-w.srv.Ready()
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (w *world) identity(k certs.Kind, name string, admin bool) *certs.Identity {
	w.t.Helper()
	key, csr, err := certs.NewKey(name)
	if err != nil {
		w.t.Fatal(err)
	}
	cert, err := w.dir.Admit(w.ca, certs.Member{Name: name, Kind: k, May: []string{"look", "type"}, Admin: admin}, csr)
	if err != nil {
		w.t.Fatal(err)
	}
	i := &certs.Identity{CA: w.ca.Cert, Cert: cert, Key: key, Member: certs.MemberOf(cert)}
	if err := i.Verify(); err != nil {
		w.t.Fatal(err)
	}
	return i
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: certs.Dir(t.TempDir())}
	var err error
	if w.ca, err = certs.NewAuthority("test"); err != nil {
		t.Fatal(err)
	}
	w.cfg = server.Config{Identity: w.identity(certs.Server, "one", false), Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: quiet()}
	if w.srv, err = server.Start(w.cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.srv.Close() })
	<-w.srv.Ready()
	return w
}

func (w *world) link(i *certs.Identity) *link.Link {
	w.t.Helper()
	l, err := link.Open(link.Options{Identity: i, Servers: []string{w.srv.Addr()}, Log: quiet()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(l.Close)
	w.claim(l)
	return l
}

// try claims a link's name, as often as a busy server needs.
func (w *world) try(l *link.Link) (err error) {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for range 100 {
		if err = l.Claim(w.t.Context()); err == nil || errors.Is(err, link.ErrNameInUse) {
			break
		}
		<-pause.C
	}
	return err
}

func (w *world) claim(l *link.Link) {
	w.t.Helper()
	if err := w.try(l); err != nil {
		w.t.Fatal(err)
	}
}

// echo serves streams by echoing them, and reports whose streams ended.
func echo(l *link.Link) (ended chan string) {
	li := l.Listener()
	ended = make(chan string, 10)
	go func() {
		for {
			c, err := li.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				m, _ := link.MemberOf(c)
				_, _ = fmt.Fprintf(c, "%s may %s\n", m.Name, strings.Join(m.May, ","))
				_, _ = io.Copy(c, c)
				ended <- m.Name
			}()
		}
	}()
	return ended
}

// FEATURES: R94
func TestStream_NamesCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.link(w.identity(certs.Host, "a", false)), w.link(w.identity(certs.Host, "b", false))
	echo(b)
	c, err := a.Dial(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() { _, _ = c.Write(big) }()
	want := append([]byte("a may look,type\n"), big...)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%.60q, %v", got, err)
	}
	if _, err := a.Dial(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), "no host of this name") {
		t.Errorf("without a receiver: %v", err)
	}
}

// TestSubjectsOfOthers checks that a member publishes and receives only its own subjects.
//
// FEATURES: R94
func TestSubjectsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.identity(certs.Host, "a", false)
	failed := make(chan error, 10)
	nc, err := nats.Connect("tls://"+w.srv.Addr(), nats.Secure(asMember(i)),
		nats.UserInfo(i.Serial, ""), nats.CustomInboxPrefix(fleet.InboxPrefix("a")),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { failed <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	refused := func(what string, try func() error) {
		t.Helper()
		if err := errors.Join(try(), nc.Flush()); err != nil {
			t.Fatal(what, err)
		}
		select {
		case err := <-failed:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s was let", what)
		}
	}
	for _, subject := range []string{
		fleet.KeySubject(fleet.HostKey("b")), fleet.KeySubject(fleet.RecordKey("b", "x")), fleet.KeySubject(fleet.CursorKey("b", "x")),
		fleet.KeySubject(fleet.RevokedKey), fleet.EventSubject("b", "x"), fleet.DataSubject("c", "b", "1"), fleet.JoinSubject,
		fleet.CopySubject("b", "x"), fleet.CopyRecordSubject("b", "x"), fleet.APIPrefix("a") + ".DIRECT.GET." + fleet.CopyStream,
		fleet.APIPrefix("a") + ".STREAM.PURGE." + fleet.CopyStream, fleet.APIPrefix("a") + ".DIRECT.GET." + fleet.CopyStream + "." + fleet.CopySubject("b", "x"),
		fleet.APIPrefix("a") + ".CONSUMER.CREATE." + fleet.CopyStream + ".x", fleet.APIPrefix("a") + ".STREAM.DELETE.KV_" + fleet.Bucket,
		fleet.APIPrefix("a") + ".STREAM.PURGE." + fleet.Stream, fleet.APIPrefix("a") + ".STREAM.CREATE.mine", fleet.APIPrefix("a") + ".STREAM.NAMES",
		fleet.APIPrefix("b") + ".STREAM.INFO." + fleet.Stream, "$JS.API.STREAM.INFO." + fleet.Stream, "$JS.API.CONSUMER.CREATE." + fleet.Stream + ".x",
		"$JS.API.DIRECT.GET." + fleet.Stream + ".x", "$JS.ACK." + fleet.Stream + ".x", "$SYS.REQ.SERVER.PING",
	} {
		refused("publish to "+subject, func() error { return nc.Publish(subject, []byte("x")) })
	}
	for _, subject := range []string{">", fleet.DataPatternTo("b"), fleet.InboxPrefix("b") + ".>", fleet.JoinSubject, fleet.NameSubject("b"), "$KV.>", fleet.EventPattern("*")} {
		refused("subscribe to "+subject, func() error { _, err := nc.Subscribe(subject, func(*nats.Msg) {}); return err })
	}
	js, err := jetstream.NewWithAPIPrefix(nc, fleet.APIPrefix("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{fleet.KeySubject(fleet.HostKey("a")), fleet.KeySubject(fleet.RecordKey("a", "x")), fleet.EventSubject("a", "x")} {
		if _, err := js.Publish(t.Context(), subject, []byte("{}")); err != nil {
			t.Errorf("its own %s: %v", subject, err)
		}
	}
	if all, err := registry.Snapshot(t.Context(), js, registry.AllPatterns()); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	// A host's certificate does not make it a server, nor another host.
	if _, err := nats.Connect("tls://"+w.srv.Addr(), nats.Secure(asMember(i)), nats.UserInfo("other", "")); err == nil {
		t.Error("a user that is not the certificate's was let in")
	}
}

// TestJoin checks that a code is valid once, for a client that has all of it.
//
// FEATURES: R94
func TestJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.link(w.identity(certs.Host, "base", true))
	if err := admin.Answer(w.dir, w.ca, func() []string { return []string{w.srv.Addr()} }); err != nil {
		t.Fatal(err)
	}
	invite := func(in certs.Invitation) certs.Code {
		in, code := certs.Invite(in, []string{w.srv.Addr()}, certs.Fingerprint(w.ca.Cert), false)
		if err := w.dir.Invite(in); err != nil {
			t.Fatal(err)
		}
		again, err := certs.ParseCode(code.String())
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	hour := time.Now().Add(time.Hour)
	code := invite(certs.Invitation{Kind: certs.Host, May: []string{"look"}, Expires: hour})
	wrong := code
	wrong.Secret += "x"
	other := code
	other.CA = strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		code certs.Code
		as   string
		want string
	}{
		"a wrong secret":    {wrong, "h", "not known"},
		"another fleet's":   {other, "h", "not of the fleet"},
		"a taken name":      {code, "base", "a host of this name"},
		"a name of no form": {code, "H.x", "small letters"},
		"expired":           {invite(certs.Invitation{Kind: certs.Host, Expires: time.Now().Add(-time.Second)}), "h", "expired"},
		"of another name":   {invite(certs.Invitation{Kind: certs.Host, Name: "z", Expires: hour}), "h", "for the name z"},
	} {
		if _, _, err := link.Join(t.Context(), c.code, c.as, link.ForeignAccess{}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	i, settings, err := link.Join(t.Context(), code, "h", link.ForeignAccess{}, nil)
	if err != nil || i.Name != "h" || len(i.May) != 1 || i.Admin || settings.Servers[0] != w.srv.Addr() {
		t.Fatalf("%+v, %v", i, err)
	}
	if _, _, err := link.Join(t.Context(), code, "h2", link.ForeignAccess{}, nil); err == nil || !strings.Contains(err.Error(), "was used") {
		t.Errorf("a second time: %v", err)
	}
	w.link(i)
}

// TestRevoked checks that a revoked member loses its streams and its connection, and cannot reconnect, and that others
// stay.
//
// FEATURES: R94
func TestRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, b, c := w.link(w.identity(certs.Host, "base", true)), w.link(w.identity(certs.Host, "b", false)), w.link(w.identity(certs.Host, "c", false))
	ended := echo(admin)
	open := func(l *link.Link) net.Conn {
		s, err := l.Dial(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(s, make([]byte, len("b may look,type\n"))); err != nil {
			t.Fatal(err)
		}
		return s
	}
	_, ofC := open(b), open(c)
	signed, err := w.dir.Revoke(w.ca, "b")
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.PublishRevocations(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	if who := <-ended; who != "b" {
		t.Errorf("the stream of %s ended", who)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := b.State(); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still connected")
		}
		ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
		<-ctx.Done()
		done()
	}
	if _, err := ofC.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(ofC, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// TestStreamsAreResumed checks that a second stream between the same two members needs no signatures, and its client is
// identified nevertheless.
//
// FEATURES: R94
func TestStreamsAreResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base, b, c := w.link(w.identity(certs.Host, "base", false)), w.link(w.identity(certs.Host, "b", false)), w.link(w.identity(certs.Host, "c", false))
	echo(base)
	for _, want := range []struct {
		from    *link.Link
		name    string
		resumed bool
	}{{b, "b", false}, {b, "b", true}, {c, "c", false}, {b, "b", true}, {c, "c", true}} {
		s, err := want.from.Dial(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		said := make([]byte, len("b may look,type\n"))
		if _, err := io.ReadFull(s, said); err != nil || !strings.HasPrefix(string(said), want.name+" ") {
			t.Errorf("%s: %q, %v", want.name, said, err)
		}
		if got := s.(interface{ ConnectionState() tls.ConnectionState }).ConnectionState(); got.DidResume != want.resumed {
			t.Errorf("%s: resumed %v, not %v", want.name, got.DidResume, want.resumed)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestClocksMayDiffer checks that clocks of a fleet may differ by an hour, either way: certificates are valid on each
// machine from their creation.
//
// FEATURES: R94
func TestClocksMayDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.identity(certs.Host, "a", false)
	pool := x509.NewCertPool()
	pool.AddCert(i.CA)
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		_, err := i.Cert.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: time.Now().Add(off), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		if err != nil {
			t.Errorf("by a clock that is off by %v: %v", off, err)
		}
	}
}

// TestTwoOfOneName checks that of two machines with one name and certificate the second is notified.
//
// FEATURES: R94
func TestTwoOfOneName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.identity(certs.Host, "a", false)
	w.link(i)
	second, err := link.Open(link.Options{Identity: i, Servers: []string{w.srv.Addr()}, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := w.try(second); !errors.Is(err, link.ErrNameInUse) {
		t.Error(err)
	}
}

// TestAnswersGoToInboxes checks that a client does not choose where a member writes its answer: it goes to an inbox,
// and nowhere that the client may not write.
//
// FEATURES: R94
func TestAnswersGoToInboxes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.link(w.identity(certs.Host, "base", true))
	if err := admin.Answer(w.dir, w.ca, func() []string { return nil }); err != nil {
		t.Fatal(err)
	}
	id := w.identity(certs.Host, "a", false)
	stranger := asMember(id)
	stranger.Certificates, stranger.GetClientCertificate = nil, nil
	for _, c := range []struct {
		subject string
		opts    []nats.Option
	}{
		{fleet.JoinSubject, []nats.Option{nats.Secure(stranger), nats.CustomInboxPrefix(fleet.JoinedSubjects)}},
		{fleet.NameSubject("base"), []nats.Option{nats.Secure(asMember(id)), nats.UserInfo(id.Serial, ""), nats.CustomInboxPrefix(fleet.InboxPrefix("a"))}},
	} {
		nc, err := nats.Connect("tls://"+w.srv.Addr(), c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		for _, reply := range []string{fleet.KeySubject(fleet.RevokedKey), fleet.KeySubject(fleet.HostKey("base"))} {
			if err := nc.PublishRequest(c.subject, reply, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := nc.RequestWithContext(t.Context(), c.subject, []byte("{}")); err != nil {
			t.Errorf("%s: an answer to an inbox: %v", c.subject, err)
		}
		// Earlier answers are before this one in the bucket.
		if _, err := admin.JetStream().Publish(t.Context(), fleet.KeySubject("a.last"), nil); err != nil {
			t.Fatal(err)
		}
		kv, err := admin.JetStream().KeyValue(t.Context(), fleet.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{fleet.RevokedKey, fleet.HostKey("base")} {
			if e, err := kv.Get(t.Context(), key); !errors.Is(err, jetstream.ErrKeyNotFound) {
				t.Errorf("%s wrote %s: %v, %v", c.subject, key, e, err)
			}
		}
	}
}

// TestJoinAnswers_UnreadableWithoutCode checks that only the holder of a join code can read its answer. An older
// client, which has no inbox of its code, gets its answer too.
//
// FAULT: H24
func TestJoinAnswers_UnreadableWithoutCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.link(w.identity(certs.Host, "base", true))
	if err := admin.Answer(w.dir, w.ca, func() []string { return nil }); err != nil {
		t.Fatal(err)
	}
	in, code := certs.Invite(certs.Invitation{Kind: certs.Host, Expires: time.Now().Add(time.Hour)}, []string{w.srv.Addr()}, certs.Fingerprint(w.ca.Cert), false)
	if err := w.dir.Invite(in); err != nil {
		t.Fatal(err)
	}
	stranger := asMember(w.identity(certs.Host, "a", false))
	stranger.Certificates, stranger.GetClientCertificate = nil, nil
	read := make(chan *nats.Msg, 10)
	var listening []*nats.Conn
	for _, user := range []string{"", "join", certs.Code{ID: "other"}.Inbox()} {
		nc, err := nats.Connect("tls://"+w.srv.Addr(), nats.Secure(stranger.Clone()), nats.UserInfo(user, ""), nats.CustomInboxPrefix(fleet.JoinedSubjects),
			nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // for subjects that it may not subscribe to
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		for _, subject := range []string{".>", ".*.>", ".*.*", ".*.*.*", ".*.*.>", "." + code.Inbox() + ".>"} {
			if _, err := nc.ChanSubscribe(fleet.JoinedSubjects+subject, read); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		listening = append(listening, nc)
	}
	if i, _, err := link.Join(t.Context(), code, "h", link.ForeignAccess{}, nil); err != nil || i.Name != "h" {
		t.Fatal(err)
	}
	older, err := nats.Connect("tls://"+w.srv.Addr(), nats.Secure(stranger.Clone()), nats.CustomInboxPrefix(fleet.JoinedSubjects))
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	for _, nc := range listening {
		if err := nc.Flush(); err != nil { // messages before the answer were delivered
			t.Fatal(err)
		}
	}
	select {
	case m := <-read:
		t.Errorf("the answer at %s was read", m.Subject)
	default:
	}
	if m, err := older.RequestWithContext(t.Context(), fleet.JoinSubject, []byte("{}")); err != nil || !strings.Contains(string(m.Data), "not known") {
		t.Errorf("an older client: %v, %v", m, err)
	}
}

// FEATURES: R94
func TestListThatIsNotTheAuthoritysIsNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.identity(certs.Host, "base", true)
	w.identity(certs.Host, "b", false)
	signed, err := w.dir.Revoke(w.ca, "b")
	if err != nil {
		t.Fatal(err)
	}
	older := make(chan struct{}, 10)
	l, err := link.Open(link.Options{
		Identity: id, Servers: []string{w.srv.Addr()}, Log: quiet(), Revoked: signed, OnOlderRevocations: func() { older <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	w.claim(l)
	if _, err := l.JetStream().Publish(t.Context(), fleet.KeySubject(fleet.RevokedKey), []byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	<-older
}

// TestRevocations_NewestStored checks that the stored list is the newest one that the authority signed, whatever is
// published later.
//
// FEATURES: R94
func TestRevocations_NewestStored(t *testing.T) {
	t.Parallel()
	w := &world{t: t, dir: certs.Dir(t.TempDir())}
	var err error
	if w.ca, err = certs.NewAuthority("test"); err != nil {
		t.Fatal(err)
	}
	var lists [][]byte
	for _, name := range []string{"a", "b"} {
		w.identity(certs.Host, name, false)
		signed, err := w.dir.Revoke(w.ca, name)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, signed)
	}
	other := certs.Dir(t.TempDir())
	for _, kept := range []struct{ list, want []byte }{{lists[0], lists[0]}, {lists[1], lists[1]}, {lists[0], lists[1]}} {
		if err := other.KeepRevocations(w.ca.Cert, kept.list); err != nil || !bytes.Equal(other.SignedRevocations(), kept.want) {
			t.Errorf("%v, %q", err, other.SignedRevocations())
		}
	}
	if err := other.KeepRevocations(w.ca.Cert, []byte("nonsense")); err == nil || !bytes.Equal(other.SignedRevocations(), lists[1]) {
		t.Errorf("%v, %q", err, other.SignedRevocations())
	}
}

func FuzzParseCode(f *testing.F) {
	_, c := certs.Invite(certs.Invitation{}, []string{"h:1"}, strings.Repeat("0a", 32), false)
	f.Add(c.String())
	f.Add("ltjoin-e30")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := certs.ParseCode(s); err == nil {
			if again, err := certs.ParseCode(c.String()); err != nil || again.ID != c.ID || again.CA != c.CA {
				t.Errorf("%+v, %v", again, err)
			}
		}
	})
}

func asMember(i *certs.Identity) *tls.Config {
	c := i.TLS()
	c.ServerName = certs.AnyServer
	return c
}
