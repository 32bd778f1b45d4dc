//go:build unix

package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/store"
)

// TestRequestsInTurn checks that a screen includes all earlier changes, and waits delay no other request.
//
// FEATURES: R88
func TestRequestsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{reads: fairsched.New(1), changes: fairsched.New(1)}
		taken := func(in *fairsched.Scheduler) bool {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			slot, err := in.Begin(ctx, "", "")
			if err == nil {
				slot.End()
			}
			return err != nil
		}
		mux := http.NewServeMux()
		want := struct{ looks, others bool }{}
		mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
			if a, b := taken(s.reads), taken(s.changes); a != want.looks || b != want.others {
				t.Errorf("%s %s: slots in use: %v and %v, want %v", r.Method, r.URL, a, b, want)
			}
			over := fairsched.Wait(r.Context())
			if taken(s.reads) || taken(s.changes) {
				t.Errorf("%s %s: a slot is in use while it waits", r.Method, r.URL)
			}
			over()
		})
		h := s.schedule(mux)
		for _, c := range []struct {
			line          string
			looks, others bool
		}{{"GET /screen", true, false}, {"POST /input", false, true}, {"GET /jobs/j?await_ms=50", false, false}} {
			want.looks, want.others = c.looks, c.others
			method, target, _ := strings.Cut(c.line, " ")
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, target, nil))
			if taken(s.reads) || taken(s.changes) {
				t.Errorf("%s: its slot is not given back", c.line)
			}
		}
		for id, waiting := range map[string]bool{"screen": false, "wait": true, "type": true} {
			slot, _ := s.reads.Begin(t.Context(), "", "")
			over := routeOf[id].releaseSlot(fairsched.With(t.Context(), slot))
			if taken(s.reads) == waiting {
				t.Errorf("%s: the slot is given back: %v, want %v", id, !waiting, waiting)
			}
			over()
			slot.End()
		}
	})
}

// pipes is an in-memory listener.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestThoseThatWaitAreNotCounted checks that requests that wait, or follow events, do not count against the limit of a
// token's concurrent requests.
//
// FEATURES: R88
func TestThoseThatWaitAreNotCounted(t *testing.T) {
	const many = 1100 // more than may be under way
	for _, path := range []string{"/jobs/j?await_ms=50", "/wait", "/get-job", "/events", "/screen"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Server{reads: fairsched.New(4), changes: fairsched.New(4)}
				over := make(chan struct{})
				mux := http.NewServeMux()
				mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
					if route := routeOf[r.URL.Path[1:]]; route != nil {
						route.releaseSlot(r.Context())
					}
					<-over
				})
				server := &http.Server{Handler: s.schedule(mux)}
				l := make(pipes)
				served := make(chan error)
				go func() {
					served <- server.Serve(fairsched.Listen(server, l, func([]byte) (*fairsched.Scheduler, string, string, string) {
						return s.reads, "fleet", "", ""
					}, OverloadedAnswer(), 1<<20))
				}()
				codes := make(chan int)
				for range many {
					mine, theirs := net.Pipe()
					defer mine.Close()
					l <- theirs
					go func() {
						_, _ = fmt.Fprintf(mine, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path)
						resp, err := http.ReadResponse(bufio.NewReader(mine), nil)
						if err != nil {
							codes <- 0
							return
						}
						_ = resp.Body.Close()
						codes <- resp.StatusCode
					}()
				}
				time.Sleep(time.Hour)
				close(over)
				got := map[int]int{}
				for range many {
					got[<-codes]++
				}
				if all := got[http.StatusOK] == many; all != (path != "/screen") {
					t.Errorf("answered %v", got)
				}
				close(l)
				<-served
				_ = server.Close()
			})
		})
	}
}

// tokens is a daemon that has some.
type tokens struct {
	Daemon
	store *apitoken.Store
}

func (t tokens) Tokens() *apitoken.Store { return t.store }

// TestRequestsOverTCPTakeTurnsByTokens checks that over TCP requests are scheduled by token, and invented tokens share
// one turn.
//
// FEATURES: R88
func TestRequestsOverTCPTakeTurnsByTokens(t *testing.T) {
	store := apitoken.Open(filepath.Join(t.TempDir(), "tokens.json"))
	s := &Server{reads: fairsched.New(1), changes: fairsched.New(1), daemon: tokens{store: store}}
	_, a, err := store.Make(apitoken.Token{Name: "a", Level: "read"})
	if err != nil {
		t.Fatal(err)
	}
	_, b, err := store.Make(apitoken.Token{Name: "b", Level: "read"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Verify(b); err != nil {
		t.Fatal(err)
	}
	shows := func(token string) string { return " HTTP/1.1\r\nauthorization: bearer " + token + "\r\n\r\n" }
	for request, want := range map[string]struct {
		in         *fairsched.Scheduler
		lane, line string
	}{
		"GET /v1/sessions/s/screen?trim=1" + shows(a): {s.reads, "token a", "/v1/sessions/s/screen"},
		"GET /v1/sessions" + shows(a):                 {s.reads, "token a", "/v1/sessions"},
		"GET /v1/sessions" + shows(b):                 {s.reads, "token b", "/v1/sessions"},
		"POST /v1/run" + shows(b):                     {s.changes, "token b", "/v1/run"},
		"GET /v1/sessions" + shows("made up"):         {s.reads, "token ", "/v1/sessions"},
		"GET /v1/sessions HTTP/1.1\r\n\r\n":           {s.reads, "token ", "/v1/sessions"},
		"GET /" + strings.Repeat("x", 1000) + " ":     {s.reads, "token ", "/" + strings.Repeat("x", maxLine-1)},
		"\x16\x03\x01":                                {s.changes, "token ", ""},
	} {
		if in, who, lane, line := s.ClassifyRequest([]byte(request)); in != want.in || who != want.lane || lane != want.lane || line != want.line {
			t.Errorf("%.60q: lane %q, line %q; looks: %v", request, lane, line, in == s.reads)
		}
	}
}

// TestRequestThatEndsBeforeItsTurn checks that the caller of a request that ended before its turn, as its token did,
// gets the error that nothing was done.
func TestRequestThatEndsBeforeItsTurn(t *testing.T) {
	s := &Server{changes: fairsched.New(0)}
	h := s.schedule(http.NewServeMux())
	for code, why := range map[int]error{http.StatusUnauthorized: apitoken.ErrNotFound, http.StatusServiceUnavailable: nil} {
		ctx, end := context.WithCancelCause(t.Context())
		end(why)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/input", nil))
		if w.Code != code || !strings.Contains(w.Body.String(), `"code"`) {
			t.Errorf("%v: %d %s", why, w.Code, w.Body)
		}
	}
}

// TestGap_ReportedAtOnce checks that a read that finds only a gap, because a full disk stored no output, reports it at
// once: it does not wait for output that may never arrive.
//
// FEATURES: R37
func TestGap_ReportedAtOnce(t *testing.T) {
	h := openHouse(t, func(*store.Session) bool { return true })
	e, err := h.reg.Resolve("own")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := func(from uint64, _ []byte) (session.Chunk, []session.StreamRun, error) {
		cancel() // else it would wait in vain
		return session.Chunk{From: from + 10, Next: from + 10, Gap: 10}, nil, nil
	}
	c, _, end, err := readChunk(ctx, e, &outputQuery{Await: 60_000}, read)
	if err != nil || end || c.Gap != 10 {
		t.Errorf("%+v, at the end: %v, %v", c, end, err)
	}
}
