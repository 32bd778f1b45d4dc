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
	"sync"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/member"
)

// ofFleet are the errors of what asks a fleet.
var ofFleet = []api.Code{api.CodeNoFleet, api.CodeInvalid, api.CodeNotFound, api.CodeDenied}

// FleetDoor serves the API to other hosts of the fleet: as the user whose daemon this is, under the host's name and within
// what its certificate allows.
func (s *Server) FleetDoor() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := member.CallerOf(r.Context())
		if !ok {
			writeError(w, api.Errorf(api.CodeDenied, "the certificate of this host allows nothing here").
				WithHint("the fleet's owner invites it anew, with --may"))
			return
		}
		r.Header.Del(actor.TokenHeader) // it is ours to say who asks
		ctx := actor.With(r.Context(), actor.Actor{UID: os.Getuid(), Host: who.Host})
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
		if err := s.permitPerson(ctx, routeOf["change-fleet"]); err != nil {
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
	s.daemon.Audit().Later(audit.Record{Actor: actor.Of(ctx), Kind: audit.Write, Path: "fleet", Verdict: "allow", Note: in.Body.Act + " " + in.Body.Name})
	st := f.Status()
	st.Restored = restored
	return st, nil
}

func (s *Server) listFleetHosts(ctx context.Context, in *struct {
	Host string `query:"host" doc:"only this one"`
}) ([]api.FleetHost, error) {
	if err := permitList(ctx); err != nil {
		return nil, err
	}
	hosts, _, err := s.daemon.Fleet().Ask(ctx, in.Host, false)
	return hosts, err
}

func (s *Server) listFleetSessions(ctx context.Context, in *struct {
	Host   string `query:"host" doc:"only of this host"`
	Others bool   `query:"others" doc:"not of this machine"`
	Limit  int    `query:"limit" minimum:"0" maximum:"10000" doc:"at most so many: of those first that wait for somebody, then of those that run; 0: all"`
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

// urgency is less for sessions that a list with a limit has first.
func urgency(v *api.FleetSession) int {
	switch {
	case v.State == "running" && v.Asks():
		return 0
	case v.State == "running":
		return 1
	}
	return 2
}

func (s *Server) readFleetEvents(ctx context.Context, in *struct{ Body api.FleetRead }) (api.FleetEvents, error) {
	return s.daemon.Fleet().Events(ctx, in.Body)
}

// serveFleetDial makes the connection one to the daemon of another host.
func (s *Server) serveFleetDial(w http.ResponseWriter, r *http.Request) {
	if grantOf(r.Context()) != nil { // whoever has a token of this machine has none of the others
		writeError(w, api.Errorf(api.CodeDenied, "other hosts of the fleet are reached from this machine itself alone").
			WithHint("ask on the host itself"))
		return
	}
	// There the grant of this host counts, and nobody sees which of its processes asks: that is for who is a person here.
	if callerOf(r.Context()).Held || actor.Of(r.Context()).IsAgent() {
		writeError(w, api.Errorf(api.CodeDenied, "other hosts of the fleet are reached by a person, not by %s", actor.Of(r.Context())).
			WithHint("a person does that, outside of sessions with an agent or with rules, and without %s", actor.Env))
		return
	}
	host := r.URL.Query().Get("host")
	if r.Header.Get("Upgrade") != "longterm" {
		writeError(w, api.Errorf(api.CodeInvalid, "this request is no upgrade to longterm").WithHint("a client of longterm makes it"))
		return
	}
	dial := s.daemon.Fleet().Dial
	if r.URL.Query().Get("copy") == "true" {
		dial = s.daemon.Fleet().DialCopy
	}
	there, err := dial(r.Context(), host)
	if err != nil {
		writeError(w, err)
		return
	}
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		writeError(w, err)
		return
	}
	_, _ = fmt.Fprint(here, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: longterm\r\n\r\n")
	join(&ahead{here, buffered}, there)
}

// ahead is a connection of which something was read already.
type ahead struct {
	net.Conn
	r io.Reader
}

func (a *ahead) Read(b []byte) (int, error) { return a.r.Read(b) }

// CloseWrite says that nothing more comes.
func (a *ahead) CloseWrite() error {
	if half, ok := a.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return a.Conn.Close()
}

// join passes bytes on until both sides are done.
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

// copied are the routes that answer from copies of a lost host, and what of it each needs. All others are refused.
var copied = map[string]member.Part{
	"status": member.Records, "list-sessions": member.Records, "table-sessions": member.Records, "list-commands": member.Records,
	"search":      member.Whole,
	"get-session": member.Session, "get-command": member.Session, "parse-command": member.Session, "suggest": member.Session,
	"read-output": member.Session, "read-output-text": member.Session, "read-raw-output": member.Session, "read-records": member.Session,
	"screen": member.Session, "screen-text": member.Session,
}

// copyRead is a request that is answered from copies.
type copyRead struct {
	of   *member.Lost
	said *api.FleetCopy // nil: it was not permitted yet
	done func()         // what it needs may go
}

type copyKey struct{}

// CopyDoor serves the fleet's copies of a host that cannot be reached, to be read. Each answer says so.
func (s *Server) CopyDoor(of *member.Lost) http.Handler {
	handler := s.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &copyRead{of: of, done: func() {}}
		defer func() { c.done() }()
		ctx := actor.With(context.WithValue(r.Context(), copyKey{}, c), actor.Actor{UID: os.Getuid()})
		handler.ServeHTTP(&copyWriter{ResponseWriter: w, of: c}, r.WithContext(ctx))
	})
}

// permitCopy has what a request needs be here, or says why it is not answered.
func permitCopy(ctx context.Context, r *Route, path, query func(string) string) error {
	c, ok := ctx.Value(copyKey{}).(*copyRead)
	if !ok {
		return nil
	}
	need, ok := copied[r.ID]
	if !ok {
		return onlyRead(c.of.Host(), cmp.Or(path("session"), query("session")))
	}
	ref := path("session")
	if ref == "" {
		if ref = query("session"); ref != "" {
			need = member.Session
		}
	}
	said, done, err := c.of.Need(ctx, need, ref)
	if err != nil {
		return err
	}
	before := c.done
	c.said, c.done = &said, func() { done(); before() }
	return nil
}

// onlyRead refuses what needs a host that is lost: its history is kept. session is the one that was asked for, if it was one.
func onlyRead(host, session string) error {
	reads := fmt.Sprintf("`longterm output %[1]s/%[2]s`, screen, commands and export read what is kept of it", host, session)
	if session == "" {
		reads = fmt.Sprintf("`longterm output %s/SESSION`, screen, commands and export read what is kept of them", host)
	}
	return api.Errorf(api.CodeUnavailable, "%s cannot be reached, and what the fleet has copied of its sessions is only read", host).
		WithHint("%s, `longterm search -H %s TEXT` finds in it; `longterm fleet restore %[2]s` makes sessions of it here, which `longterm restore` starts again", reads, host)
}

// copyWriter says in an answer's header what it is from.
type copyWriter struct {
	http.ResponseWriter
	of    *copyRead
	begun bool
}

func (w *copyWriter) say() {
	if w.begun {
		return
	}
	w.begun = true
	if w.of.said == nil {
		return
	}
	if b, err := json.Marshal(w.of.said); err == nil {
		w.Header().Set(api.CopyHeader, string(b))
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *copyWriter) WriteHeader(code int) {
	w.say()
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *copyWriter) Write(b []byte) (int, error) {
	w.say()
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *copyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher, which answers that go on ask for.
func (w *copyWriter) Flush() { w.say(); _ = http.NewResponseController(w.ResponseWriter).Flush() }
