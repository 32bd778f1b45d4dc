//go:build unix

package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/metrics"
	"github.com/longterm-dev/longterm/session/turns"
)

// callHeader names a call in the log: as the client does, or else as we do, in the answer.
const callHeader = "Longterm-Call"

// observed has requests counted, measured and logged, each with an id of its own.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(callHeader)
		if id == "" || actor.CheckLabel(id) != nil {
			id = rand.Text()[:10]
		}
		w.Header().Set(callHeader, id)
		o := &observedWriter{ResponseWriter: w, code: http.StatusOK}
		call := &callInfo{}
		began := time.Now()
		s.requests.Begin()
		defer func() { // a handler that failed as well
			took := time.Since(began)
			s.requests.End(o.code, took, call.route == nil || waits(call.route))
			level := slog.LevelDebug
			if o.code >= http.StatusInternalServerError && o.code != http.StatusServiceUnavailable {
				level = slog.LevelWarn
			}
			if !s.log.Enabled(r.Context(), level) {
				return
			}
			route := "none"
			if call.route != nil {
				route = call.route.ID
			}
			s.log.Log(r.Context(), level, "request", "call", id, "route", route, "session", call.session, "code", o.code,
				"took", took, "by", call.by)
		}()
		next.ServeHTTP(o, r.WithContext(context.WithValue(r.Context(), callKey{}, call)))
	})
}

// callInfo is what is learned of a request on its way.
type callInfo struct {
	route   *Route
	session string // as the request names it
	by      string
}

type callKey struct{}

// noteCall notes which route a request is of.
func noteCall(ctx context.Context, r *Route, path func(string) string) {
	if c, ok := ctx.Value(callKey{}).(*callInfo); ok {
		c.route, c.session, c.by = r, path("session"), peerString(ctx)
	}
}

// waits says that requests of a route are answered when something happens.
func waits(r *Route) bool {
	switch r.ID {
	case "exec", "batch", "run", "wait", "get-job", "stop-job", "kill", "kill-several", "new-session", "restore", "ask-network", "list-audit", "upgrade":
		return true
	}
	return r.Stream
}

// listens says that requests of a route only wait for what happens anyhow, or are told of it: they are no work.
func (r *Route) listens() bool { return r.Stream || r.ID == "wait" || r.ID == "get-job" }

// inTurn has requests worked on in turn by routes, and those of one route by who asks: what looks at a screen is not behind
// thousands that were there before it. What changes something or waits has no slot while it does that.
func (s *Server) inTurn(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slot := turns.Taken(r.Context())
		if slot == nil {
			_, pattern := mux.Handler(r)
			in := s.others
			if r.Method == http.MethodGet {
				in = s.looks
			}
			var err error
			if slot, err = in.Begin(r.Context(), pattern, lineOf(r.Context())); err != nil {
				writeError(w, notBegun(r.Context())) // if somebody still waits for it
				return
			}
		}
		defer slot.End()
		if strings.Contains(r.URL.RawQuery, "wait_ms=") { // or await_ms
			slot.Give()
			turns.Listens(r.Context())
		}
		mux.ServeHTTP(w, r.WithContext(turns.With(r.Context(), slot)))
	})
}

// lineOf is who asks, as who takes turns with others for a route: thousands of requests of one client are one line.
func lineOf(ctx context.Context) string {
	a := actor.Of(ctx)
	return strconv.Itoa(a.PID) + "\x00" + a.Token + "\x00" + a.Agent + "\x00" + a.Host
}

// Reading is which turns a request that came in over TCP takes, by its first bytes: in the lane of the token that it shows, by
// what is asked. Those without one that is known are in a lane together.
func (s *Server) Reading(request []byte) (in *turns.Turns, who, lane, line string) {
	method, rest, _ := bytes.Cut(request, []byte(" "))
	in = s.others
	if string(method) == http.MethodGet {
		in = s.looks
	}
	if secret, ok := access.Bearer(turns.Header(request, "Authorization")); ok {
		lane = s.daemon.Tokens().Whose(secret)
	}
	if i := bytes.IndexAny(rest, " ?"); i >= 0 {
		line = string(rest[:min(i, maxLine)])
	}
	lane = "token " + lane
	return in, lane, lane, line
}

// Crowded is what is answered over TCP to those who come in too great a number.
func Crowded() []byte {
	b, _ := json.Marshal(api.Errorf(api.CodeUnavailable, "%s", turns.TooMany).AgainSoon())
	return turns.Refusal("application/json", string(b)+"\n")
}

// maxLine is how much of a path tells requests apart that take turns, in bytes.
const maxLine = 128

// notBegun says why nothing was done for a request that ended while it waited for its turn.
func notBegun(ctx context.Context) error {
	why := context.Cause(ctx)
	if errors.Is(why, access.ErrUnknown) || errors.Is(why, access.ErrExpired) {
		return notGranted(why)
	}
	return api.Errorf(api.CodeUnavailable, "the request ended before its turn, and nothing was done for it: %v", why).AgainSoon()
}

// rest gives the slot of a request back while its handler works, where that may wait for something.
func (r *Route) rest(ctx context.Context) (over func()) {
	if r.listens() {
		turns.Listens(ctx)
	}
	if r.Method != http.MethodGet || waits(r) {
		return turns.Wait(ctx)
	}
	return func() {}
}

// observedWriter knows with which status a request was answered.
type observedWriter struct {
	http.ResponseWriter
	code  int
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (o *observedWriter) WriteHeader(code int) {
	if !o.begun {
		o.code, o.begun = code, true
	}
	o.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (o *observedWriter) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Flush implements http.Flusher, which streams of events ask for.
func (o *observedWriter) Flush() { _ = http.NewResponseController(o.ResponseWriter).Flush() }

// Hijack implements http.Hijacker, which WebSockets ask for.
func (o *observedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	o.code, o.begun = http.StatusSwitchingProtocols, true
	return http.NewResponseController(o.ResponseWriter).Hijack()
}

// metricsPage is the answer of its route.
type metricsPage struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *Server) getMetrics(ctx context.Context, _ *struct{}) (*metricsPage, error) {
	st := s.daemon.Status(ctx)
	p := &metrics.Page{}
	p.Family("longterm_build_info", "gauge", "Always 1, with the version of the daemon.")
	p.Sample("longterm_build_info", 1, "version", st.Build)
	p.One("longterm_start_time_seconds", "gauge", "When the daemon was started, in seconds since 1970.", float64(st.Started.UnixMilli())/1000)
	states := map[session.State]int{}
	var kept, printed uint64
	clients, quarantined := 0, 0
	for _, e := range s.reg.All() {
		now := e.Session.Status()
		states[now.State]++
		start, end := e.Session.OutputRange()
		kept, printed = kept+end-start, printed+end
		v := s.reg.Describe(e, now)
		clients += v.Clients
		if v.Quarantine != "" {
			quarantined++
		}
	}
	p.Family("longterm_sessions", "gauge", "Sessions, by state.")
	for _, state := range []session.State{session.Running, session.Exited, session.Lost} {
		p.Sample("longterm_sessions", float64(states[state]), "state", string(state))
	}
	p.One("longterm_sessions_quarantined", "gauge", "Sessions whose output is only kept.", float64(quarantined))
	p.One("longterm_session_clients", "gauge", "Clients that are attached or watch.", float64(clients))
	p.One("longterm_output_kept_bytes", "gauge", "Output of all sessions that can be read.", float64(kept))
	p.One("longterm_output_bytes", "gauge", "Output of all sessions that are not forgotten, since they began.", float64(printed))
	p.One("longterm_keepers", "gauge", "Keepers that answer.", float64(len(st.Keepers)))
	p.One("longterm_daemon_restarts_total", "counter", "Times the keeper had to start the daemon again.", float64(st.Restarts))
	p.One("longterm_jobs_running", "gauge", "Lines and commands under way.", float64(s.jobs.Running()))
	p.One("longterm_approvals_pending", "gauge", "What waits for a person.", float64(s.gate.Pending()))
	p.One("longterm_events_total", "counter", "Events that were told.", float64(s.reg.Bus.Told()))
	p.One("longterm_event_listeners", "gauge", "Clients that listen for events.", float64(s.reg.Bus.Listeners()))
	p.One("longterm_audit_records_total", "counter", "Records of the audit log.", float64(s.daemon.Audit().Head().Seq))
	p.One("longterm_config_problems", "gauge", "Mistakes in the files of the configuration and of rules.", float64(len(st.Config.Problems)+len(st.Rules.Problems)))
	s.requests.Write(p)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.One("go_goroutines", "gauge", "Goroutines of the daemon.", float64(runtime.NumGoroutine()))
	p.One("go_memstats_heap_inuse_bytes", "gauge", "Heap of the daemon in use.", float64(m.HeapInuse))
	p.One("go_memstats_sys_bytes", "gauge", "Memory that the daemon has of the system.", float64(m.Sys))
	return &metricsPage{metrics.ContentType, p.Bytes()}, nil
}

// serveMetrics is the same page at the path where programs that scrape look.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	err := s.permit(r.Context(), routeOf["metrics"], func(string) string { return "" }, r.URL.Query().Get)
	if err != nil {
		writeError(w, err)
		return
	}
	page, err := s.getMetrics(r.Context(), nil)
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", page.ContentType)
	_, _ = w.Write(page.Body)
}
