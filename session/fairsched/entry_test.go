package fairsched

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// crowded is a server with few slots, to which a test connects many times.
type crowded struct {
	t       *testing.T
	l       pipes
	entry   *entry
	server  *http.Server
	served  chan error
	release chan struct{} // a request to /hold or /listen is answered for each
}

func newCrowded(t *testing.T, connections, requests int) *crowded {
	c := &crowded{t: t, l: make(pipes), served: make(chan error), release: make(chan struct{})}
	c.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SlotOf(r.Context()).End()
		if r.URL.Path == "/listen" {
			Listens(r.Context())
		}
		if r.URL.Path != "/" {
			<-c.release
		}
		_, _ = io.WriteString(w, "done")
	})}
	slots := New(4)
	l := Listen(c.server, c.l, func(request []byte) (*Scheduler, string, string, string) {
		return slots, Header(request, "Who"), "", ""
	}, Refusal("text/plain", "too many"), uint64(2*connections))
	c.entry = l.(*listener).entry
	c.entry.requests = requests
	go func() { c.served <- c.server.Serve(l) }()
	return c
}

// end ends the server, and checks that no connection is counted any more.
func (c *crowded) end() {
	c.t.Helper()
	close(c.l)
	<-c.served
	_ = c.server.Close()
	synctest.Wait()
	time.Sleep(time.Minute)
	e := c.entry
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open != 0 || len(e.underWay) != 0 || e.idle.Len() != 0 || e.refused.Len() != 0 || e.refusing {
		c.t.Errorf("left: %d connections, requests %v, %d idle, %d refused", e.open, e.underWay, e.idle.Len(), e.refused.Len())
	}
}

// asker is one connection.
type asker struct {
	t  *testing.T
	c  net.Conn
	in *bufio.Reader
	at time.Time // of the newest answer
}

func (c *crowded) dial() *asker {
	mine, theirs := net.Pipe()
	a := &asker{t: c.t, c: mine, in: bufio.NewReader(mine)}
	c.l <- theirs
	synctest.Wait()
	return a
}

func (a *asker) ask(path, who string) {
	a.t.Helper()
	if _, err := fmt.Fprintf(a.c, "GET %s HTTP/1.1\r\nHost: h\r\nWho: %s\r\n\r\n", path, who); err != nil {
		a.t.Error(err)
	}
	synctest.Wait()
}

// answered reads an answer; one that refuses is the last of its connection.
func (a *asker) answered(status int) {
	a.t.Helper()
	resp, err := http.ReadResponse(a.in, nil)
	if err != nil {
		a.t.Error(err)
		return
	}
	a.at = time.Now()
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != status {
		a.t.Errorf("%d %q, %v; want %d", resp.StatusCode, body, err, status)
	}
	if status == http.StatusServiceUnavailable {
		if resp.Header.Get("Retry-After") != "1" || string(body) != "too many" {
			a.t.Errorf("refused with %v %q", resp.Header, body)
		}
		a.gone()
	}
}

// gone reports whether the other end closed the connection.
func (a *asker) gone() {
	a.t.Helper()
	if b, err := a.in.ReadByte(); err != io.EOF {
		a.t.Errorf("%q, %v", b, err)
	}
	_ = a.c.Close()
}

// TestTooManyRequestsOfOneAreRefused checks that a client with too many running requests is rejected, one request after
// the other and before any work. Other clients are not, and neither is the client's later request.
//
// FEATURES: R88
func TestTooManyRequestsOfOneAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCrowded(t, 100, 2)
		var held [2]*asker
		for i := range held {
			held[i] = s.dial()
			held[i].ask("/hold", "wild")
		}
		began := time.Now()
		var more []*asker
		for range 10 {
			a := s.dial()
			a.ask("/", "wild")
			more = append(more, a)
		}
		_ = more[3].c.Close() // while it is held back: the disconnect is noticed in its turn
		other := s.dial()
		other.ask("/", "other")
		other.answered(http.StatusOK)
		if d := time.Since(began); d != 0 {
			t.Errorf("another one was answered after %v", d)
		}
		for i, a := range more {
			if i == 3 {
				continue
			}
			go func() { a.answered(http.StatusServiceUnavailable) }()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i, a := range more {
			if d := a.at.Sub(began); i != 3 && d != time.Duration(i+1)*refusePause {
				t.Errorf("%d was refused after %v", i, d)
			}
		}
		for _, a := range held {
			s.release <- struct{}{}
			a.answered(http.StatusOK)
			a.ask("/", "wild")
			a.answered(http.StatusOK)
			_ = a.c.Close()
		}
		again := s.dial()
		again.ask("/", "wild")
		again.answered(http.StatusOK)
		_ = again.c.Close()
		_ = other.c.Close()
		s.end()
	})
}

// TestTooManyConnections checks that a new connection beyond the limit replaces one that is being rejected, or the
// longest idle one. If all are busy it is rejected.
//
// FEATURES: R88
func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCrowded(t, 4, 1)
		a, b, c, d := s.dial(), s.dial(), s.dial(), s.dial()
		a.ask("/", "a") // b is idle the longest now
		a.answered(http.StatusOK)
		synctest.Wait()
		e := s.dial()
		b.gone()
		e.ask("/", "e")
		e.answered(http.StatusOK)
		c.ask("/hold", "c")
		d.ask("/hold", "d")
		a.ask("/hold", "a")
		e.ask("/", "a") // it has a running request, and is held back
		began := time.Now()
		f := s.dial()
		e.answered(http.StatusServiceUnavailable)
		if d := e.at.Sub(began); d != 0 {
			t.Errorf("space after %v", d)
		}
		synctest.Wait()
		f.ask("/hold", "f")
		g := s.dialNow()
		g.answered(http.StatusServiceUnavailable)
		for range 4 {
			s.release <- struct{}{}
		}
		for _, x := range []*asker{a, c, d, f} {
			x.answered(http.StatusOK)
			_ = x.c.Close()
		}
		s.end()
	})
}

// dialNow is dial for a connection that gets a response before it sends a request.
func (c *crowded) dialNow() *asker {
	mine, theirs := net.Pipe()
	c.l <- theirs
	return &asker{t: c.t, c: mine, in: bufio.NewReader(mine)}
}

// TestWatchersAreNotCounted checks that requests that only follow or wait are not counted as running: many watchers
// with one token do not block its requests.
//
// FEATURES: R88
func TestWatchersAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCrowded(t, 100, 1)
		var all []*asker
		for range 5 {
			a := s.dial()
			a.ask("/listen", "fleet")
			all = append(all, a)
		}
		held := s.dial()
		held.ask("/hold", "fleet")
		more := s.dial()
		more.ask("/", "fleet")
		more.answered(http.StatusServiceUnavailable) // one is under way
		for range len(all) + 1 {                     // held back too
			s.release <- struct{}{}
		}
		all = append(all, held)
		for _, a := range all {
			a.answered(http.StatusOK)
		}
		for _, a := range all {
			synctest.Wait() // the previous one has ended
			a.ask("/", "fleet")
			a.answered(http.StatusOK)
			_ = a.c.Close()
		}
		s.end()
	})
}

// TestRequestsThatComeTogether checks that a connection whose next request arrived together with the previous one is
// not idle: no new connection replaces it.
//
// FEATURES: R88
func TestRequestsThatComeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCrowded(t, 1, 1)
		a := s.dial()
		if _, err := io.WriteString(a.c, "GET / HTTP/1.1\r\nHost: h\r\nWho: a\r\n\r\nGET /hold HTTP/1.1\r\nHost: h\r\nWho: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		a.answered(http.StatusOK)
		synctest.Wait()
		s.entry.mu.Lock()
		if s.entry.underWay["a"] != 1 || s.entry.idle.Len() != 0 {
			t.Errorf("under way %v, %d idle", s.entry.underWay, s.entry.idle.Len())
		}
		s.entry.mu.Unlock()
		b := s.dialNow()
		b.answered(http.StatusServiceUnavailable)
		s.release <- struct{}{}
		a.answered(http.StatusOK)
		_ = a.c.Close()
		s.end()
	})
}

// TestReplacedConnection_StartsNothing checks that a connection that is being replaced starts no request, even if one
// arrives at that moment.
//
// FEATURES: R88
func TestReplacedConnection_StartsNothing(t *testing.T) {
	e := newEntry(nil, 2)
	var all [2]*reading
	for i := range all {
		mine, theirs := net.Pipe()
		defer mine.Close()
		all[i] = &reading{Conn: theirs, entry: e}
		if full, ok := e.admit(all[i]); full != (i > 0) || !ok {
			t.Fatalf("%d: full %v, accepted in %v", i, full, ok)
		}
	}
	for i, r := range all {
		if e.waits(r); e.begin(r, "") != (i > 0) {
			t.Errorf("%d started, or not", i)
		}
		e.leave(r)
	}
	if e.open != 0 || e.idle.Len() != 0 || len(e.underWay) != 0 {
		t.Errorf("left: %d connections, %d idle, requests %v", e.open, e.idle.Len(), e.underWay)
	}
}
