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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/metrics"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/identity"
)

// callHeader names a call in the log: as the client does, or else as we do, in the answer.
const callHeader = "Longterm-Call"

// observe counts, measures and logs requests, each with an id.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(callHeader)
		if id == "" || identity.CheckLabel(id) != nil {
			id = rand.Text()[:10]
		}
		w.Header().Set(callHeader, id)
		o := &observedWriter{ResponseWriter: w, code: http.StatusOK}
		call := &callInfo{}
		began := time.Now()
		s.requests.Begin()
		defer func() { // a handler that failed as well
			took := time.Since(began)
			s.requests.End(o.code, took, call.route == nil || mayBlock(call.route))
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

// callInfo collects details of a request for the log.
type callInfo struct {
	route   *Route
	session string // as the request names it
	by      string
}

type callKey struct{}

// noteCall records the route and session of a request for the log.
func noteCall(ctx context.Context, r *Route, path func(string) string) {
	if c, ok := ctx.Value(callKey{}).(*callInfo); ok {
		c.route, c.session, c.by = r, path("session"), peerString(ctx)
	}
}

// mayBlock reports whether a route answers only after an event.
func mayBlock(r *Route) bool {
	switch r.ID {
	case "exec", "batch", "run", "wait", "get-job", "stop-job", "kill", "kill-several", "new-session", "restore", "ask-network", "list-audit", "upgrade":
		return true
	}
	return r.Stream
}

// onlyWaits reports whether a route only waits for events, without work.
func (r *Route) onlyWaits() bool { return r.Stream || r.ID == "wait" || r.ID == "get-job" }

// schedule schedules requests fairly by route, and those of one route by client, so that reading a screen does not wait
// behind thousands of others. A request holds no slot while it waits or changes something.
func (s *Server) schedule(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slot := fairsched.SlotOf(r.Context())
		if slot == nil {
			_, pattern := mux.Handler(r)
			in := s.changes
			if r.Method == http.MethodGet {
				in = s.reads
			}
			var err error
			if slot, err = in.Begin(r.Context(), pattern, queueKey(r.Context())); err != nil {
				writeError(w, queueEndError(r.Context())) // if the client still waits
				return
			}
		}
		defer slot.End()
		if strings.Contains(r.URL.RawQuery, "wait_ms=") { // or await_ms
			slot.Give()
			fairsched.Listens(r.Context())
		}
		mux.ServeHTTP(w, r.WithContext(fairsched.With(r.Context(), slot)))
	})
}

// queueKey identifies the client for scheduling: all its requests to a route share one queue.
func queueKey(ctx context.Context) string {
	a := identity.Of(ctx)
	return strconv.Itoa(a.PID) + "\x00" + a.Token + "\x00" + a.Agent + "\x00" + a.Host
}

// ClassifyRequest returns the scheduler, class and queue of a TCP request from its first bytes: the class of its token, the
// queue of its path. Requests without a known token share a class.
func (s *Server) ClassifyRequest(request []byte) (in *fairsched.Scheduler, who, lane, line string) {
	method, rest, _ := bytes.Cut(request, []byte(" "))
	in = s.changes
	if string(method) == http.MethodGet {
		in = s.reads
	}
	if secret, ok := apitoken.Bearer(fairsched.Header(request, "Authorization")); ok {
		lane = s.daemon.Tokens().Whose(secret)
	}
	if i := bytes.IndexAny(rest, " ?"); i >= 0 {
		line = string(rest[:min(i, maxLine)])
	}
	lane = "token " + lane
	return in, lane, lane, line
}

// OverloadedAnswer returns the answer for TCP clients over the limit.
func OverloadedAnswer() []byte {
	b, _ := json.Marshal(api.Errorf(api.CodeUnavailable, "%s", fairsched.TooMany).Retryable())
	return fairsched.Refusal("application/json", string(b)+"\n")
}

// maxLine is the length of the path that identifies a queue, in bytes.
const maxLine = 128

// queueEndError returns the error for a request that ended in the queue.
func queueEndError(ctx context.Context) error {
	why := context.Cause(ctx)
	if errors.Is(why, apitoken.ErrNotFound) || errors.Is(why, apitoken.ErrExpired) {
		return tokenError(why)
	}
	return api.Errorf(api.CodeUnavailable, "request ended while queued (nothing was done): %v", why).Retryable()
}

// releaseSlot releases a request's slot while its handler may wait.
func (r *Route) releaseSlot(ctx context.Context) (reacquire func()) {
	if r.onlyWaits() {
		fairsched.Listens(ctx)
	}
	if r.Method != http.MethodGet || mayBlock(r) {
		return fairsched.Wait(ctx)
	}
	return func() {}
}

// observedWriter records the status of an answer.
type observedWriter struct {
	http.ResponseWriter
	code        int
	wroteHeader bool
}

// WriteHeader implements http.ResponseWriter.
func (o *observedWriter) WriteHeader(code int) {
	if !o.wroteHeader {
		o.code, o.wroteHeader = code, true
	}
	o.ResponseWriter.WriteHeader(code)
}

// Unwrap supports http.ResponseController.
func (o *observedWriter) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Flush implements http.Flusher for event streams.
func (o *observedWriter) Flush() { _ = http.NewResponseController(o.ResponseWriter).Flush() }

// Hijack implements http.Hijacker for WebSockets.
func (o *observedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	o.code, o.wroteHeader = http.StatusSwitchingProtocols, true
	return http.NewResponseController(o.ResponseWriter).Hijack()
}

// metricsPage is the answer of the metrics route.
type metricsPage struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *Server) getMetrics(ctx context.Context, _ *struct{}) (*metricsPage, error) {
	st := s.daemon.Status(ctx)
	p := &metrics.Page{}
	p.Family("longterm_build_info", "gauge", "Always 1, with the version of the daemon.")
	p.Sample("longterm_build_info", 1, "version", st.Build)
	p.SingleSample("longterm_start_time_seconds", "gauge", "When the daemon was started, in seconds since 1970.", float64(st.Started.UnixMilli())/1000)
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
	p.SingleSample("longterm_sessions_quarantined", "gauge", "Sessions whose output is only kept.", float64(quarantined))
	p.SingleSample("longterm_session_clients", "gauge", "Clients that are attached or watch.", float64(clients))
	p.SingleSample("longterm_output_kept_bytes", "gauge", "Output of all sessions that can be read.", float64(kept))
	p.SingleSample("longterm_output_bytes", "gauge", "Output of all sessions that are not forgotten, since they began.", float64(printed))
	p.SingleSample("longterm_keepers", "gauge", "Keepers that answer.", float64(len(st.Keepers)))
	p.SingleSample("longterm_daemon_restarts_total", "counter", "Times the keeper had to start the daemon again.", float64(st.Restarts))
	p.SingleSample("longterm_jobs_running", "gauge", "Lines and commands under way.", float64(s.jobs.Running()))
	p.SingleSample("longterm_approvals_pending", "gauge", "Pending approvals.", float64(s.gate.Pending()))
	p.SingleSample("longterm_events_total", "counter", "Published events.", float64(s.reg.Bus.PublishedCount()))
	p.SingleSample("longterm_event_listeners", "gauge", "Clients that listen for events.", float64(s.reg.Bus.Listeners()))
	p.SingleSample("longterm_audit_records_total", "counter", "Records of the audit log.", float64(s.daemon.Audit().Head().Seq))
	p.SingleSample("longterm_config_problems", "gauge", "Mistakes in the files of the configuration and of rules.", float64(len(st.Config.Problems)+len(st.Rules.Problems)))
	s.requests.Write(p)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.SingleSample("go_goroutines", "gauge", "Goroutines of the daemon.", float64(runtime.NumGoroutine()))
	p.SingleSample("go_memstats_heap_inuse_bytes", "gauge", "Heap of the daemon in use.", float64(m.HeapInuse))
	p.SingleSample("go_memstats_sys_bytes", "gauge", "Memory that the daemon has of the system.", float64(m.Sys))
	return &metricsPage{metrics.ContentType, p.Bytes()}, nil
}

// serveMetrics serves the metrics at the path that scrapers expect.
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
