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

// A follower of a host is not redirected to its replica while it is unreachable, and reaches it later.
//
// FEATURES: R94
func TestFollowedHost_ReconnectsWithoutReplica(t *testing.T) {
	away := refuses(api.Errorf(api.CodeUnavailable, "it cannot be reached"))
	f, c := newFake(t, away, away, dies("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n"))
	v := &ViaFleet{Local: c, Host: "lost", Away: true, Live: true}
	for range 2 {
		if _, err := v.Dial(t.Context()); err == nil {
			t.Error("it is there")
		}
	}
	conn, err := v.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if slices.ContainsFunc(f.requests(), func(r request) bool { return strings.Contains(r.line, "copy") }) {
		t.Errorf("%v", f.requests())
	}
}

// piped is a connection to a daemon in memory, which answers once per connection and reports when it is closed.
type piped struct {
	Way
	gone chan time.Time
}

func (p *piped) Dial(context.Context) (net.Conn, error) {
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

// An unused connection is closed after a while.
func TestIdleConnectionsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &piped{gone: make(chan time.Time, 1)}
		c := New(Options{Build: func() string { return "test" }, Way: p})
		began := time.Now()
		if _, err := c.Get(t.Context(), "/status"); err != nil {
			t.Fatal(err)
		}
		if took := (<-p.gone).Sub(began); took != time.Minute {
			t.Errorf("it is given up after %v", took)
		}
	})
}

// A host that was reached and is briefly unreachable, as while a daemon is replaced, is retried; its replica is not
// read.
//
// FEATURES: R94
func TestReachedHost_RetriedBeforeReplica(t *testing.T) {
	over := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n"
	away := refuses(api.Errorf(api.CodeUnavailable, "it cannot be reached"))
	f, c := newFake(t, refuses(api.Errorf(api.CodeUnavailable, "the daemon is being replaced").Retryable()), dies(over), away)
	v := &ViaFleet{Local: c, Host: "other"}
	if _, err := v.Dial(t.Context()); !mayRepeat(err) {
		t.Errorf("while the daemon here is replaced: %v", err)
	}
	conn, err := v.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := v.Dial(t.Context()); !mayRepeat(err) {
		t.Errorf("while the daemon there is replaced: %v", err)
	}
	if slices.ContainsFunc(f.requests(), func(r request) bool { return strings.Contains(r.line, "copy") }) {
		t.Errorf("%v", f.requests())
	}
}

// overThere is a way to a fake daemon, as to one of another host.
type overThere struct{ c *Client }

func (o overThere) Dial(ctx context.Context) (net.Conn, error) { return o.c.dial(ctx, "", "") }
func (overThere) Ensure(context.Context) error                 { return nil }
func (overThere) Place(context.Context) (Login, error) {
	return Login{Host: "far", Home: "/home/ann"}, nil
}

// A start on another host whose answer was lost with the connection is repeated with its id. A host that does not know
// ids rejects it, and the loss is reported. A start that was never sent is not repeated.
//
// FEATURES: R94
func TestRemoteStart_RetriedWithID(t *testing.T) {
	away, invalid := refuses(api.Errorf(api.CodeUnavailable, "it cannot be reached")), refuses(api.Errorf(api.CodeInvalid, "unexpected property"))
	for name, of := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		want    string // in the error; "": it is started
	}{
		"lost":            {[]http.HandlerFunc{dies(""), replyOf(`{"id":"x"}`)}, 2, ""},
		"lost for longer": {[]http.HandlerFunc{dies(""), away, replyOf(`{"id":"x"}`)}, 3, ""},
		"an older daemon": {[]http.HandlerFunc{dies(""), invalid}, 2, "disconnected"},
		"never there":     {[]http.HandlerFunc{away}, 1, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			f, local := newFake(t, of.answers...)
			c := New(Options{Build: func() string { return "test" }, Way: overThere{local}})
			t.Cleanup(c.Close)
			s, err := c.NewSession(testContext(t), api.NewSession{Argv: []string{"sh"}})
			if (err == nil) != (of.want == "") || err == nil && s.ID != "x" || err != nil && !strings.Contains(err.Error(), of.want) {
				t.Errorf("%q, %v", s.ID, err)
			}
			asked := f.requests()
			if len(asked) != of.asked {
				t.Fatalf("%+v", asked)
			}
			first := asked[0].body
			if strings.Contains(first, `"again"`) {
				t.Errorf("first: %s", first)
			}
			for _, r := range asked[1:] {
				if strings.Replace(r.body, `,"again":true`, "", 1) != first {
					t.Errorf("%s after %s", r.body, first)
				}
			}
		})
	}
}

// A caller that waits for another host is notified once when it has been unreachable for a while.
//
// FEATURES: R94
func TestUnreachableHost_ReportedOnce(t *testing.T) {
	told := make(chan error, 10)
	f, local := newFake(t, leaves)
	c := New(Options{Build: func() string { return "test" }, Way: overThere{local}, OnAway: func(why error) { told <- why }})
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
	f.answers = []http.HandlerFunc{replyOf("{}")}
	f.mu.Unlock()
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Errorf("told again: %v", <-told)
	}
}
