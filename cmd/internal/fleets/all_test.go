//go:build unix

package fleets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// slow is a way to a host that died just now: it is dialled for as long as the daemon does that, then its copy is fetched.
type slow struct{ client.RemoteHost }

func (slow) Dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(10 * time.Second):
	}
	go func() {
		if _, err := http.ReadRequest(bufio.NewReader(there)); err != nil {
			return
		}
		<-time.After(50 * time.Second)
		_, _ = there.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"hits\":[]}"))
	}()
	return here, nil
}

// TestSearchWaitsForTheCopyOfAHostThatDied checks that a search waits for the replica of a host that is not known to be
// unreachable yet.
//
// FEATURES: R94
func TestSearchWaitsForTheCopyOfAHostThatDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time passes
		of := func(api.FleetHost, func(api.FleetCopy)) *client.Client {
			return client.New(client.Options{Build: func() string { return "test" }, Remote: slow{}})
		}
		f, err := Search(t.Context(), []api.FleetHost{{Host: "died", State: "connected"}}, of, client.SearchQuery{Text: "x"}, func([]Hit) error { return nil })
		if err != nil || f.Hosts != 1 || len(f.Missing) != 0 {
			t.Errorf("%+v, %v", f, err)
		}
	})
}

// hosted fakes a host that answers a search at once, or never, and reports when its connection was closed.
type hosted struct {
	client.RemoteHost
	answers bool
	dialed  atomic.Bool // a canceled search may not have reached it
	gone    chan struct{}
}

func (h *hosted) Dial(context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	h.dialed.Store(true)
	go func() {
		defer close(h.gone)
		r := bufio.NewReader(there)
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		if h.answers {
			body := `{"hits":[{"session":"s","name":"n"}]}`
			_, _ = fmt.Fprintf(there, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
		_, _ = r.ReadByte()
	}()
	return here, nil
}

// TestSearch_SlowHosts_DoNotDelayOthers checks that hits of a host are returned before other hosts have answered. A
// host without an answer is named after its timeout. A canceled search ends at once, on every host.
//
// FEATURES: R115
func TestSearch_SlowHosts_DoNotDelayOthers(t *testing.T) {
	enough := errors.New("nobody reads any more")
	for name, c := range map[string]struct {
		cancel bool  // the user breaks off
		reads  error // error of the receiver
		ends   bool  // at once
	}{"waited for": {}, "broken off": {cancel: true, ends: true}, "not read": {reads: enough, ends: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ways := map[string]*hosted{"quick": {answers: true}, "slow": {}, "slower": {}}
				var list []api.FleetHost
				for host, w := range ways {
					w.gone = make(chan struct{})
					list = append(list, api.FleetHost{Host: host, State: "connected"})
				}
				of := func(h api.FleetHost, _ func(api.FleetCopy)) *client.Client {
					return client.New(client.Options{Build: func() string { return "test" }, Remote: ways[h.Host]})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began, told := time.Now(), -time.Second
				f, err := Search(ctx, list, of, client.SearchQuery{Text: "x"}, func(hits []Hit) error {
					if told = time.Since(began); len(hits) != 1 || hits[0].Host != "quick" {
						t.Errorf("%+v", hits)
					}
					if c.cancel {
						cancel()
					}
					return c.reads
				})
				took := time.Since(began)
				if told != 0 || err != c.reads || f.Hits != 1 || len(f.Missing) != 2 || f.Missing[0].Host != "slow" || f.Missing[1].Host != "slower" {
					t.Errorf("returned after %v: %+v, %v", told, f, err)
				}
				if c.ends != (took == 0) || took > copyTime+dialTime {
					t.Errorf("it took %v", took)
				}
				if !c.ends && !strings.Contains(f.Missing[0].Why, "no answer within") {
					t.Errorf("%+v", f.Missing)
				}
				synctest.Wait()
				for _, w := range ways {
					if w.dialed.Load() { // else it would wait forever
						<-w.gone
					}
				}
			})
		})
	}
}

// TestFits checks that a session is placed by labels, on the host with the most idle processors and free memory.
// Unreachable and drained hosts get none, and a requested host comes first if it may.
//
// FEATURES: R94
func TestFits(t *testing.T) {
	hosts := []api.FleetHost{
		{Host: "busy", State: "connected", CPUs: 4, Load: 6, Memory: 100, Free: 80},
		{Host: "idle", State: "connected", CPUs: 4, Load: 0.1, Memory: 100, Free: 50},
		{Host: "full", State: "connected", CPUs: 64, Memory: 100, Free: 1},
		{Host: "gpu", State: "connected", CPUs: 2, Load: 1, Memory: 100, Free: 50, Labels: map[string]string{"gpu": "a100"}},
		{Host: "gone", State: "away", CPUs: 64, Memory: 100, Free: 100, Labels: map[string]string{"gpu": "a100"}},
		{Host: "shut", State: "connected", CPUs: 64, Memory: 100, Free: 100, Drained: true},
	}
	for name, c := range map[string]struct {
		want Want
		fits string // or the text of the error
	}{
		"anywhere":          {Want{}, "idle gpu busy full"},
		"near one":          {Want{Near: "busy"}, "busy idle gpu full"},
		"near a drained":    {Want{Near: "shut"}, "idle gpu busy full"},
		"by a label":        {Want{On: []string{"gpu"}}, "gpu"},
		"by its value":      {Want{On: []string{"gpu=a100"}}, "gpu"},
		"by another value":  {Want{On: []string{"gpu=h100"}}, "0 away, 0 drained"},
		"near nobody known": {Want{Near: "none"}, `no host "none"`},
	} {
		fits, err := c.want.Fits(hosts)
		var got []string
		for _, h := range fits {
			got = append(got, h.Host)
		}
		if err != nil && !strings.Contains(err.Error(), c.fits) || err == nil && strings.Join(got, " ") != c.fits {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
