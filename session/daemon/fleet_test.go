//go:build unix

package daemon

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// inFleet makes a daemon the host "house" of a fleet with a server of its own.
func inFleet(t *testing.T, r *running) {
	t.Helper()
	dir := ident.Dir(r.dirs.Fleet())
	a, err := ident.Found("test")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(dir.SaveAuthority(a))
	identity := func(m ident.Member) *ident.Identity {
		key, csr, err := ident.NewKey(m.Name)
		must(err)
		cert, err := dir.Admit(a, m, csr)
		must(err)
		return &ident.Identity{Member: ident.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}
	}
	srv, err := server.Start(server.Config{
		Identity: identity(ident.Member{Name: "house", Kind: ident.Server}), Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
	})
	must(err)
	t.Cleanup(srv.Close)
	<-srv.Ready()
	must(dir.SaveIdentity(identity(ident.Member{Name: "house", Kind: ident.Host, May: access.Everything.Names(), Admin: true})))
	must(dir.SaveSettings(ident.Settings{Servers: []string{srv.Addr()}, Reach: []string{srv.Addr()}}))
	if a := r.ask("POST", "/fleet", api.FleetAct{Act: "reload"}); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for {
		var list []api.FleetHost
		if a := r.ask("GET", "/fleet/hosts", nil); a.status == http.StatusOK {
			list = get[[]api.FleetHost](r, "GET", "/fleet/hosts", nil)
		}
		if len(list) > 0 && list[0].State == "connected" || t.Context().Err() != nil {
			return
		}
	}
}

// dialItself has the daemon connect to the host that it is, as it would to another.
func dialItself(t *testing.T, r *running) {
	t.Helper()
	c := client.New(client.Options{Dirs: r.dirs, Build: func() string { return "test" }})
	defer c.Close()
	conn, err := c.DialFleet(t.Context(), "house")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	req, err := http.NewRequestWithContext(context.Background(), "GET", "http://longterm"+api.Version+"/status", nil)
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
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
}
