//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/identity"
)

// fleetErrors are the errors of fleet routes.
var fleetErrors = []api.Code{api.CodeNoFleet, api.CodeInvalid, api.CodeNotFound, api.CodeDenied}

// FleetHandler serves the API to other hosts of the fleet: as the user whose daemon this is, under the host's name and within
// what its certificate allows.
func (s *Server) FleetHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := fleetmember.CallerOf(r.Context())
		if !ok {
			writeError(w, api.Errorf(api.CodeDenied, "the certificate of this host allows nothing here").
				WithHint("invite the host again with --may"))
			return
		}
		r.Header.Del(identity.TokenHeader) // only the daemon sets the caller
		ctx := identity.WithActor(r.Context(), identity.Actor{UID: os.Getuid(), Host: who.Host})
		s.serveGranted(w, r.WithContext(ctx), who.Grant, s.inner)
	})
}

func (s *Server) getFleet(context.Context, *struct{}) (api.Fleet, error) {
	return s.daemon.Fleet().Status(), nil
}

func (s *Server) postFleet(ctx context.Context, in *struct{ Body api.FleetAct }) (api.Fleet, error) {
	f := s.daemon.Fleet()
	var err error
	var restored *api.FleetRestored
	if in.Body.Act != "drain" && in.Body.Act != "undrain" {
		if err := s.requireLocalUser(ctx, routeOf["change-fleet"]); err != nil {
			return api.Fleet{}, err
		}
	}
	switch in.Body.Act {
	case "drain", "undrain":
		err = f.Drain(in.Body.Act == "drain")
	case "revoke":
		err = f.Revoke(ctx, in.Body.Name)
	case "restore":
		restored, err = f.Restore(ctx, in.Body.Name)
	default:
		if err = f.Reload(); err != nil {
			err = api.Errorf(api.CodeNoFleet, "%v", err)
		}
	}
	if err != nil {
		return api.Fleet{}, err
	}
	s.daemon.Audit().AppendLater(audit.Record{Actor: identity.Of(ctx), Kind: audit.Write, Path: "fleet", Verdict: "allow", Note: in.Body.Act + " " + in.Body.Name})
	st := f.Status()
	st.Restored = restored
	return st, nil
}

func (s *Server) listFleetHosts(ctx context.Context, in *struct {
	Host string `query:"host" doc:"only this host"`
}) ([]api.FleetHost, error) {
	if err := permitList(ctx); err != nil {
		return nil, err
	}
	hosts, _, err := s.daemon.Fleet().Ask(ctx, in.Host, false)
	return hosts, err
}

func (s *Server) listFleetSessions(ctx context.Context, in *struct {
	Host   string `query:"host" doc:"only sessions of this host"`
	Others bool   `query:"others" doc:"without sessions of this machine"`
	Limit  int    `query:"limit" minimum:"0" maximum:"10000" doc:"maximum number: sessions that wait for a user first, then running ones; 0: all"`
}) ([]api.FleetSession, error) {
	if err := permitList(ctx); err != nil {
		return nil, err
	}
	_, list, err := s.daemon.Fleet().Ask(ctx, in.Host, true)
	if in.Others {
		here := s.daemon.Fleet().Status().Host
		list = slices.DeleteFunc(list, func(v api.FleetSession) bool { return v.Host == here })
	}
	if in.Limit > 0 && in.Limit < len(list) {
		slices.SortStableFunc(list, func(a, b api.FleetSession) int { return urgency(&a) - urgency(&b) })
		list = list[:in.Limit]
	}
	return list, err
}

// urgency returns the order of sessions in a limited list; lower is first.
func urgency(v *api.FleetSession) int {
	switch {
	case v.State == "running" && v.NeedsUser():
		return 0
	case v.State == "running":
		return 1
	}
	return 2
}

func (s *Server) readFleetEvents(ctx context.Context, in *struct{ Body api.FleetRead }) (api.FleetEvents, error) {
	return s.daemon.Fleet().Events(ctx, in.Body)
}

// serveFleetDial connects the client to the daemon of another host.
func (s *Server) serveFleetDial(w http.ResponseWriter, r *http.Request) {
	if grantOf(r.Context()) != nil { // a token of this machine is not valid on others
		writeError(w, api.Errorf(api.CodeDenied, "access to other fleet hosts denied: requires a caller on this machine").
			WithHint("ask on the host itself"))
		return
	}
	// The other host sees the rights of this host and not which process calls, so only the user may.
	if callerOf(r.Context()).IsRestricted || identity.Of(r.Context()).IsAgent() {
		writeError(w, api.Errorf(api.CodeDenied, "access to other fleet hosts denied for %s", identity.Of(r.Context())).
			WithHint("use it as a user, outside of sessions with an agent or a policy, without %s", identity.Env))
		return
	}
	host := r.URL.Query().Get("host")
	if r.Header.Get("Upgrade") != "longterm" {
		writeError(w, api.Errorf(api.CodeInvalid, "this request is no upgrade to longterm").WithHint("a client of longterm makes it"))
		return
	}
	dial := s.daemon.Fleet().Dial
	if r.URL.Query().Get("copy") == "true" {
		dial = s.daemon.Fleet().DialReplica
	}
	there, err := dial(r.Context(), host)
	if err != nil {
		writeError(w, err)
		return
	}
	joinUpgraded(w, there)
}

// joinUpgraded upgrades a request and passes bytes between its connection and remote.
func joinUpgraded(w http.ResponseWriter, remote net.Conn) {
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = remote.Close()
		writeError(w, err)
		return
	}
	_, _ = fmt.Fprint(here, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n")
	join(&prefixedConn{here, buffered}, remote)
}

// dialPortTime bounds a connection to a port of a session.
const dialPortTime = 5 * time.Second

// serveDialPort connects a client to a port of a session. Only the user may: an agent could leave its sandbox by it, and
// the holder of a token would reach more than sessions. The port must belong to a process of the session: the
// daemon gives no access to other services of the machine.
func (s *Server) serveDialPort(w http.ResponseWriter, r *http.Request) {
	if grantOf(r.Context()) != nil || callerOf(r.Context()).IsRestricted || identity.Of(r.Context()).IsAgent() {
		writeError(w, api.Errorf(api.CodeDenied, "connecting to ports denied for %s: requires the user on this machine", identity.Of(r.Context())).
			WithHint("use it as a user, outside of sessions with an agent or a policy, without %s", identity.Env))
		return
	}
	e, err := s.reg.Resolve(r.PathValue("session"))
	if err != nil {
		writeError(w, err)
		return
	}
	if r.Header.Get("Upgrade") != "longterm" {
		writeError(w, api.Errorf(api.CodeInvalid, "this request is no upgrade to longterm").WithHint("a client of longterm makes it"))
		return
	}
	s.daemon.Ports().Refresh(e)
	list, _ := e.Ports()
	at := slices.IndexFunc(list, func(p api.Port) bool {
		return !p.Inside && p.Port > 0 && strconv.Itoa(p.Port) == r.PathValue("port")
	})
	if at < 0 {
		writeError(w, api.Errorf(api.CodeNotFound, "no process of session %s accepts connections at port %.20s", e.Record().Name, r.PathValue("port")).
			WithHint("`longterm info %s` lists its ports", e.Record().Name))
		return
	}
	dialer := net.Dialer{Timeout: dialPortTime}
	there, err := dialer.DialContext(r.Context(), "tcp", list[at].ReachableAddress())
	if err != nil {
		writeError(w, api.Errorf(api.CodeUnavailable, "port %d: %v", list[at].Port, err))
		return
	}
	joinUpgraded(w, there)
}

// prefixedConn is a connection whose first bytes were already read.
type prefixedConn struct {
	net.Conn
	r io.Reader
}

func (a *prefixedConn) Read(b []byte) (int, error) { return a.r.Read(b) }

// CloseWrite ends the sending direction.
func (a *prefixedConn) CloseWrite() error {
	if half, ok := a.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return a.Conn.Close()
}

// join copies bytes in both directions until both sides are done.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		half, ok := to.(interface{ CloseWrite() error })
		if err != nil || !ok || half.CloseWrite() != nil {
			_ = to.Close()
		}
	}
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
	_, _ = a.Close(), b.Close()
}

// replicaRoutes are the routes that answer from the replica of a lost host, and what of it each needs. All others are
// rejected.
var replicaRoutes = map[string]fleetmember.ReplicaSlice{
	"status": fleetmember.RecordsOnly, "list-sessions": fleetmember.RecordsOnly, "table-sessions": fleetmember.RecordsOnly, "list-commands": fleetmember.RecordsOnly,
	"search":      fleetmember.AllOutput,
	"get-session": fleetmember.SessionOutput, "get-command": fleetmember.SessionOutput, "parse-command": fleetmember.SessionOutput, "suggest": fleetmember.SessionOutput,
	"read-output": fleetmember.SessionOutput, "read-output-text": fleetmember.SessionOutput, "read-raw-output": fleetmember.SessionOutput, "read-records": fleetmember.SessionOutput,
	"screen": fleetmember.SessionOutput, "screen-text": fleetmember.SessionOutput,
}

// replicaRead is a request that is answered from a replica.
type replicaRead struct {
	of     *fleetmember.HostReplica
	source *api.FleetCopy // host and age of the replica; nil: the request is not permitted yet
	done   func()         // releases the part of the replica that the request reads
}

type replicaKey struct{}

// ReplicaHandler serves the fleet's read-only replica of an unreachable host. Each answer is marked as such.
func (s *Server) ReplicaHandler(of *fleetmember.HostReplica) http.Handler {
	handler := s.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &replicaRead{of: of, done: func() {}}
		defer func() { c.done() }()
		ctx := identity.WithActor(context.WithValue(r.Context(), replicaKey{}, c), identity.Actor{UID: os.Getuid()})
		handler.ServeHTTP(&replicaWriter{ResponseWriter: w, of: c}, r.WithContext(ctx))
	})
}

// permitReplica fetches what a request needs from the replica, or returns why it is rejected.
func permitReplica(ctx context.Context, r *Route, path, query func(string) string) error {
	c, ok := ctx.Value(replicaKey{}).(*replicaRead)
	if !ok {
		return nil
	}
	need, ok := replicaRoutes[r.ID]
	if !ok {
		return needsLiveHost(c.of.Host(), cmp.Or(path("session"), query("session")))
	}
	ref := path("session")
	if ref == "" {
		if ref = query("session"); ref != "" {
			need = fleetmember.SessionOutput
		}
	}
	said, done, err := c.of.Need(ctx, need, ref)
	if err != nil {
		return err
	}
	before := c.done
	c.source, c.done = &said, func() { done(); before() }
	return nil
}

// needsLiveHost returns the error for requests that need the lost host itself. session is the requested one, if any.
func needsLiveHost(host, session string) error {
	reads := fmt.Sprintf("`longterm output %[1]s/%[2]s`, screen, commands and export read its replica", host, session)
	if session == "" {
		reads = fmt.Sprintf("`longterm output %s/SESSION`, screen, commands and export read its replica", host)
	}
	return api.Errorf(api.CodeUnavailable, "%s unreachable; its replica is read-only", host).
		WithHint("%s, `longterm search -H %s TEXT` searches it; `longterm fleet restore %[2]s` imports its sessions, which `longterm restore` can restart", reads, host)
}

// replicaWriter marks an answer as from a replica, in a header.
type replicaWriter struct {
	http.ResponseWriter
	of          *replicaRead
	wroteHeader bool
}

// markReplica sets the header once, before the answer starts.
func (w *replicaWriter) markReplica() {
	if w.wroteHeader {
		return
	}
	w.wroteHeader = true
	if w.of.source == nil {
		return
	}
	if b, err := json.Marshal(w.of.source); err == nil {
		w.Header().Set(api.CopyHeader, string(b))
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *replicaWriter) WriteHeader(code int) {
	w.markReplica()
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *replicaWriter) Write(b []byte) (int, error) {
	w.markReplica()
	return w.ResponseWriter.Write(b)
}

// Unwrap supports http.ResponseController.
func (w *replicaWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher for streamed answers.
func (w *replicaWriter) Flush() {
	w.markReplica()
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}
