//go:build unix

package fleetsim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// newServer is a fleet without members.
func newServer(t *testing.T) Options {
	t.Helper()
	a, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	id, err := issue(a, certs.Member{Name: "one", Kind: certs.Server})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(server.Config{Identity: id, Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	<-s.Ready()
	return Options{Authority: a, Servers: []string{s.Addr()}, Hosts: 3, Sessions: 4}
}

// asks sends a request to a host as another member does.
func asks[T any](t *testing.T, l *link.Link, host, path string) (v T) {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx, host) }}}
	defer c.CloseIdleConnections()
	resp, err := c.Get("http://" + host + api.Version + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, json.Unmarshal(b, &v)); err != nil {
		t.Fatalf("%s: %v: %s", path, err, b)
	}
	return v
}

// TestFleet checks that simulated hosts are in the registry with their sessions, answer requests like real ones,
// publish changes, and leave nothing behind.
//
// FEATURES: R94
func TestFleet(t *testing.T) {
	o := newServer(t)
	f, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := issue(o.Authority, certs.Member{Name: "viewer", Kind: certs.Host, May: []string{"look"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := link.Open(link.Options{Identity: id, Servers: o.Servers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := claim(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	told := func() (hosts, sessions int, all string) {
		t.Helper()
		if err := f.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := registry.Snapshot(t.Context(), l.JetStream(), registry.AllPatterns())
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, e := range list {
			if e.Record == "" {
				hosts++
			} else {
				sessions++
			}
			b.Write(append(e.Value, '\n'))
		}
		return hosts, sessions, b.String()
	}
	f.Fill()
	if hosts, sessions, all := told(); hosts != 3 || sessions != 12 {
		t.Errorf("%d hosts, %d sessions: %s", hosts, sessions, all)
	}
	f.Change(4, "another command")
	if _, _, all := told(); strings.Count(all, "another command") != 1 {
		t.Errorf("%s", all)
	}
	if list := asks[[]api.Session](t, l, Name(1), "/sessions"); len(list) != 4 || list[1].Command != "another command" {
		t.Errorf("%+v", list)
	}
	text := asks[api.OutputText](t, l, Name(0), "/sessions/"+ID(0)+"/output/text").Text
	if data := asks[api.Output](t, l, Name(0), "/sessions/"+ID(0)+"/output").Data; text == "" || string(data) != text {
		t.Errorf("%q, as text %q", data, text)
	}
	if found := asks[api.Found](t, l, Name(2), "/search?text="+SearchWord); len(found.Hits) != 1 || found.Hits[0].Session != ID(0) {
		t.Errorf("%+v", found)
	}
	if e := asks[api.Error](t, l, Name(2), "/sessions/none"); e.Code != api.CodeNotFound {
		t.Errorf("%+v", e)
	}
	if err := f.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hosts, sessions, all := told(); hosts+sessions != 0 {
		t.Errorf("%d hosts, %d sessions are left: %s", hosts, sessions, all)
	}
}

// TestStart_RemovesHosts_WhenOneFails checks that Start removes the started hosts from the registry if one fails to
// start.
//
// FEATURES: R94
func TestStart_RemovesHosts_WhenOneFails(t *testing.T) {
	o := newServer(t)
	l, err := Open(o.Authority, o.Servers, "viewer", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there := func() int {
		t.Helper()
		list, err := registry.Snapshot(t.Context(), l.JetStream(), registry.AllPatterns())
		if err != nil {
			t.Error(err)
		}
		return len(list)
	}
	running, cut := context.WithCancel(t.Context())
	f := &Fleet{o: o, cut: cut}
	broken := errors.New("it cannot begin")
	err = f.startAll(t.Context(), running, func(ctx context.Context, name string) (*host, error) {
		if name != Name(1) {
			return f.startHost(ctx, name)
		}
		for there() < o.Hosts-1 && !t.Failed() { // the others have
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
		return nil, broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if n := there(); n != 0 {
		t.Errorf("%d are left", n)
	}
}
