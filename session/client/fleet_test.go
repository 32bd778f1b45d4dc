//go:build unix

package client

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestFollowedHost_ReconnectsWithoutReplica checks that a follower of a host does not read its replica while the host
// is unreachable, and reaches it later.
// FEATURES: R94
func TestFollowedHost_ReconnectsWithoutReplica(t *testing.T) {
	t.Parallel()
	away := rejects(api.Errorf(api.CodeUnavailable, "it cannot be reached"))
	f, c := newFakeDaemon(t, away, away, disconnects("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n"))
	v := &ViaFleet{Local: c, Host: "lost", IsUnreachable: true, NeedsLive: true}
	for range 2 {
		if _, err := v.Dial(t.Context()); err == nil {
			t.Error("the unreachable host was reached")
		}
	}
	conn, err := v.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if slices.ContainsFunc(f.requests(), func(r receivedRequest) bool { return strings.Contains(r.line, "copy") }) {
		t.Errorf("got requests %v", f.requests())
	}
}

// memoryHost is a RemoteHost with connections in memory. Each answers once and reports its close.
type memoryHost struct {
	RemoteHost
	gone chan time.Time
}

func (p *memoryHost) Dial(context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		r := bufio.NewReader(there)
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		_, _ = there.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
		_, _ = r.ReadByte()
		p.gone <- time.Now()
	}()
	return here, nil
}

// TestClient_ClosesIdleConnections checks that an unused connection is closed after a minute.
func TestClient_ClosesIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &memoryHost{gone: make(chan time.Time, 1)}
		c := New(Options{Build: func() string { return "test" }, Remote: p})
		began := time.Now()
		if _, err := c.Get(t.Context(), "/status"); err != nil {
			t.Fatal(err)
		}
		if took := (<-p.gone).Sub(began); took != time.Minute {
			t.Errorf("the connection was closed after %v", took)
		}
	})
}

// TestReachedHost_RetriedBeforeReplica checks that a host that was reached and is briefly unreachable, as during a
// daemon restart, is retried; its replica is not read.
// FEATURES: R94
func TestReachedHost_RetriedBeforeReplica(t *testing.T) {
	t.Parallel()
	over := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n"
	away := rejects(api.Errorf(api.CodeUnavailable, "it cannot be reached"))
	f, c := newFakeDaemon(t, rejects(api.Errorf(api.CodeUnavailable, "the daemon is being replaced").Retryable()), disconnects(over), away)
	v := &ViaFleet{Local: c, Host: "other"}
	if _, err := v.Dial(t.Context()); !isRetryable(err) {
		t.Errorf("during a restart of the local daemon: got error %v", err)
	}
	conn, err := v.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := v.Dial(t.Context()); !isRetryable(err) {
		t.Errorf("during a restart of the remote daemon: got error %v", err)
	}
	if slices.ContainsFunc(f.requests(), func(r receivedRequest) bool { return strings.Contains(r.line, "copy") }) {
		t.Errorf("got requests %v", f.requests())
	}
}

// fakeRemote is a RemoteHost whose daemon is a fakeDaemon.
type fakeRemote struct{ client *Client }

func (o fakeRemote) Dial(ctx context.Context) (net.Conn, error) { return o.client.dial(ctx, "", "") }
func (fakeRemote) Ensure(context.Context) error                 { return nil }
func (fakeRemote) Login(context.Context) (Login, error) {
	return Login{Host: "far", Home: "/home/ann"}, nil
}

// TestRemoteStart_RetriedWithID checks that a start on a remote host whose response was lost is retried with its id. A
// daemon without ids rejects that, and the loss is reported. A start that was never sent is not retried.
// FEATURES: R94
func TestRemoteStart_RetriedWithID(t *testing.T) {
	t.Parallel()
	away, invalid := rejects(api.Errorf(api.CodeUnavailable, "it cannot be reached")), rejects(api.Errorf(api.CodeInvalid, "unexpected property"))
	for name, of := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		want    string // in the error; "": it is started
	}{
		"lost":            {[]http.HandlerFunc{disconnects(""), replyOf(`{"id":"x"}`)}, 2, ""},
		"lost for longer": {[]http.HandlerFunc{disconnects(""), away, replyOf(`{"id":"x"}`)}, 3, ""},
		"an older daemon": {[]http.HandlerFunc{disconnects(""), invalid}, 2, "disconnected"},
		"never there":     {[]http.HandlerFunc{away}, 1, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			f, local := newFakeDaemon(t, of.answers...)
			c := New(Options{Build: func() string { return "test" }, Remote: fakeRemote{local}})
			t.Cleanup(c.Close)
			s, err := c.NewSession(testContext(t), api.NewSession{Argv: []string{"sh"}})
			if (err == nil) != (of.want == "") || err == nil && s.ID != "x" || err != nil && !strings.Contains(err.Error(), of.want) {
				t.Errorf("got session %q, error %v", s.ID, err)
			}
			asked := f.requests()
			if len(asked) != of.asked {
				t.Fatalf("got requests %+v", asked)
			}
			first := asked[0].body
			if strings.Contains(first, `"again"`) {
				t.Errorf("got first request %s", first)
			}
			for _, r := range asked[1:] {
				if strings.Replace(r.body, `,"again":true`, "", 1) != first {
					t.Errorf("got retry %s after %s", r.body, first)
				}
			}
		})
	}
}

// TestUnreachableHost_ReportedOnce checks that a caller that waits for a remote host is notified once when the host has
// been unreachable for a while.
// FEATURES: R94
func TestUnreachableHost_ReportedOnce(t *testing.T) {
	t.Parallel()
	told := make(chan error, 10)
	f, local := newFakeDaemon(t, isClosing)
	c := New(Options{Build: func() string { return "test" }, Remote: fakeRemote{local}, OnOutage: func(why error) { told <- why }})
	t.Cleanup(c.Close)
	asked := make(chan error, 1)
	go func() {
		_, err := c.Status(testContext(t))
		asked <- err
	}()
	if why := <-told; !strings.Contains(why.Error(), "being closed") {
		t.Error(why)
	}
	f.mu.Lock()
	f.handlers = []http.HandlerFunc{replyOf("{}")}
	f.mu.Unlock()
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Errorf("reported again: %v", <-told)
	}
}
