//go:build unix

package daemon

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// inFleet makes a daemon the host "house" of a fleet with a private server.
func inFleet(t *testing.T, r *running) {
	t.Helper()
	dir := certs.Dir(r.dirs.Fleet())
	a, err := certs.NewAuthority("test")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(dir.SaveAuthority(a))
	identity := func(m certs.Member) *certs.Identity {
		t.Helper()
		i, err := admit(dir, a, m)
		must(err)
		return i
	}
	srv, err := server.Start(server.Config{
		Identity: identity(certs.Member{Name: "house", Kind: certs.Server}), Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
	})
	must(err)
	t.Cleanup(srv.Close)
	<-srv.Ready()
	must(dir.SaveIdentity(identity(certs.Member{Name: "house", Kind: certs.Host, May: apitoken.Everything.Names(), Admin: true})))
	must(dir.SaveSettings(certs.Settings{Servers: []string{srv.Addr()}, Reach: []string{srv.Addr()}}))
	if a := r.ask("POST", "/fleet", api.FleetAct{Act: "reload"}); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 6000 {
		var list []api.FleetHost
		if a := r.ask("GET", "/fleet/hosts", nil); a.status == http.StatusOK {
			list = get[[]api.FleetHost](r, "GET", "/fleet/hosts", nil)
		}
		if len(list) > 0 && list[0].State == "connected" {
			return
		}
		<-look.C
	}
	t.Fatal("the fleet does not see its host")
}

// admit makes a member of a fleet.
func admit(dir certs.Dir, a *certs.Authority, m certs.Member) (*certs.Identity, error) {
	key, csr, err := certs.NewKey(m.Name)
	if err != nil {
		return nil, err
	}
	cert, err := dir.Admit(a, m, csr)
	if err != nil {
		return nil, err
	}
	return &certs.Identity{Member: certs.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}, nil
}

// serveOther is another host of the fleet, "other", which a test serves.
func serveOther(t *testing.T, r *running, handler http.HandlerFunc) {
	t.Helper()
	dir := certs.Dir(r.dirs.Fleet())
	a, err := dir.Authority()
	if err != nil {
		t.Fatal(err)
	}
	s, err := dir.Settings()
	if err != nil {
		t.Fatal(err)
	}
	id, err := admit(dir, a, certs.Member{Name: "other", Kind: certs.Host})
	if err != nil {
		t.Fatal(err)
	}
	back := make(chan struct{}, 1)
	there, err := link.Open(link.Options{
		Identity: id, Servers: s.Servers, Log: slog.New(slog.DiscardHandler), OnConnect: func() {
			select {
			case back <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(there.Close)
	<-back
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for range 100 { // a busy server may not answer within the time of one claim
		if err = there.Claim(t.Context()); err == nil || errors.Is(err, link.ErrNameInUse) {
			break
		}
		<-pause.C
	}
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: handler}
	t.Cleanup(func() { _ = srv.Close() })
	li := there.Listener()
	go func() { _ = srv.Serve(li) }()
}

// dialOther makes the daemon connect to another host of the fleet.
func dialOther(t *testing.T, r *running) {
	t.Helper()
	serveOther(t, r, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "it is the other") })
	c := client.New(client.Options{Dirs: r.dirs, Build: func() string { return "test" }})
	defer c.Close()
	conn, err := c.DialFleet(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://longterm/", nil)
	if err == nil {
		err = req.Write(conn)
	}
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "it is the other" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFleet_RejectsSelfAndAgents checks that a daemon does not connect to itself over the fleet, where the caller would
// be lost, and to no host for an agent.
//
// FEATURES: R94
func TestFleet_RejectsSelfAndAgents(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	inFleet(t, r)
	refused := func(host, agent string, want api.Code) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://daemon"+api.Version+"/fleet/dial?host="+host, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "longterm")
		if agent != "" {
			req.Header.Set(identity.Header, agent)
		}
		resp, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		if resp.StatusCode == http.StatusSwitchingProtocols || !strings.Contains(string(b), `"`+string(want)+`"`) {
			t.Errorf("%s for %q: %d %s", host, agent, resp.StatusCode, b)
		}
	}
	refused("house", "", api.CodeInvalid)
	refused("house", "bot", api.CodeDenied)
	refused("other", "bot", api.CodeDenied)
	refused("other&copy=true", "bot", api.CodeDenied)
}
