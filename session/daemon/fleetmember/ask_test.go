//go:build unix

package fleetmember

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// TestNamesWhileCutOff checks that while the fleet is unreachable, a known name of one of its hosts is not used for
// another machine, and an unknown name is left to ssh.
//
// FEATURES: R94
func TestNamesWhileCutOff(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := certs.Dir(t.TempDir())
	a, err := certs.NewAuthority("team")
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.SaveAuthority(a); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"admitted", "here"} {
		key, csr, err := certs.NewKey(name)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := dir.Admit(a, certs.Member{Name: name, Kind: certs.Host}, csr)
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.SaveIdentity(&certs.Identity{Member: certs.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.SaveSettings(certs.Settings{Servers: []string{l.Addr().String()}}); err != nil {
		t.Fatal(err)
	}
	m := New(Config{Dir: dir, Log: slog.New(slog.DiscardHandler), Handler: http.NotFoundHandler()})
	m.remember([]api.FleetHost{{Host: "seen"}, {Host: "Not a name"}})
	m.remember([]api.FleetHost{{Host: "later"}, {Host: "seen"}})
	_ = l.Close() // so that the first connection attempt ends at once
	if err := m.Reload(); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for name, known := range map[string]bool{"admitted": true, "here": true, "seen": true, "later": true, "elsewhere": false} {
		hosts, _, err := m.Ask(t.Context(), name, false)
		if known && err == nil || !known && (err != nil || len(hosts) != 0) {
			t.Errorf("%s: %v, %v", name, hosts, err)
		}
		if _, _, err := m.Ask(t.Context(), name, true); err == nil {
			t.Errorf("sessions of %s are listed", name)
		}
	}
}

// TestSessionsOfHostsThatAreAway checks that a running session of an unreachable host counts as lost, and an ended one
// as ended.
//
// FEATURES: R94
func TestSessionsOfHostsThatAreAway(t *testing.T) {
	_, list := ParseEntries([]registry.Entry{
		{Host: "here", Value: []byte(`{"host":"here"}`)},
		{Host: "here", Record: "1", Value: []byte(`{"id":"1","state":"running"}`)},
		{Host: "gone", Record: "2", Value: []byte(`{"id":"2","state":"running"}`)},
		{Host: "gone", Record: "3", Value: []byte(`{"id":"3","state":"exited"}`)},
		// JetStream's answer to a member that stored a record.
		{Host: "gone", Value: []byte(`{"stream":"KV_LT_REGISTRY","seq":7}`)},
		{Host: "here", Record: "4", Value: []byte(`{"stream":"KV_LT_REGISTRY","seq":8}`)},
	})
	if len(list) != 3 {
		t.Errorf("%+v", list)
	}
	got := map[string]string{}
	for _, s := range list {
		got[s.ID] = s.State
	}
	if got["1"] != "running" || got["2"] != "lost" || got["3"] != "exited" {
		t.Errorf("%v", got)
	}
}

// TestWrongClocks_Reported checks that a late message of a host does not count as a wrong clock, and a wrong clock is
// reported.
//
// FEATURES: R94
func TestWrongClocks_Reported(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for off, want := range map[time.Duration]int64{-4 * time.Second: 0, -time.Hour: -3600000, 20 * time.Second: 20000} {
		b, err := json.Marshal(api.FleetHost{Host: "one", Time: at.Add(off)})
		if err != nil {
			t.Fatal(err)
		}
		hosts, _ := ParseEntries([]registry.Entry{{Host: "one", Value: b, Time: at}})
		if len(hosts) != 1 || hosts[0].Skew != want {
			t.Errorf("%v: %+v", off, hosts)
		}
	}
}

// TestStaleHostIsAway checks that a host that is in the registry but has not been heard of for long is unreachable, and
// so are its sessions.
//
// FEATURES: R94
func TestStaleHostIsAway(t *testing.T) {
	now := time.Now().Add(-time.Hour) // the servers' clock
	entry := func(name string, age time.Duration) registry.Entry {
		b, err := json.Marshal(api.FleetHost{Host: name})
		if err != nil {
			t.Fatal(err)
		}
		return registry.Entry{Host: name, Value: b, Time: now.Add(-age)}
	}
	hosts, list := ParseEntries([]registry.Entry{
		entry("ghost", 20*time.Minute), {Host: "ghost", Record: "s", Value: []byte(`{"id":"s","state":"running"}`), Time: now.Add(-21 * time.Minute)}, entry("late", registry.HostTime), entry("there", 0),
	})
	want := map[string]string{"ghost": "away", "late": "connected", "there": "connected"}
	for i := range hosts {
		if hosts[i].State != want[hosts[i].Host] {
			t.Errorf("%s counts as %s", hosts[i].Host, hosts[i].State)
		}
	}
	if len(hosts) != 3 || len(list) != 1 || list[0].State != "lost" || !list[0].Unreachable || !hosts[0].Seen.Equal(now.Add(-20*time.Minute)) {
		t.Errorf("%+v, %+v", hosts, list)
	}
}
