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

// Who follows a host is not led to its copy while it is away, and reaches it once it is back.
//
// FEATURES: R94
func TestHostThatIsFollowedComesBack(t *testing.T) {
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

// piped is a way to a daemon in memory, which answers once on each connection and tells when that is given up.
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

// A connection that nothing is asked on is not kept for ever.
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

// A host that was reached and is not for a moment, as a daemon on the way is replaced, is asked again; the fleet's copy of it
// is not read in its place.
//
// FEATURES: R94
func TestHostThatWasReachedIsAskedAgain(t *testing.T) {
	over := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n"
	away := refuses(api.Errorf(api.CodeUnavailable, "it cannot be reached"))
	f, c := newFake(t, refuses(api.Errorf(api.CodeUnavailable, "the daemon is being replaced").AgainSoon()), dies(over), away)
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
