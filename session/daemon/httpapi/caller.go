//go:build unix

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/respond/shellcmd"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/caller"
)

// A program in a session that uses longterm's socket acts as that session: with its agent's label, regardless of its headers
// and environment, and with its rules. The kernel identifies the session: its processes descend from the first one,
// and orphans become the keeper's children. The lookup is done once per connection, at the first request.

// Labels of callers in sessions without a label.
const (
	agentUnknown   = "unknown"   // below a keeper, session unknown
	agentSandboxed = "sandboxed" // in a sandbox
)

// client is the process at the other end of a connection.
type client struct {
	conn    net.Conn
	once    sync.Once
	session callerSession
}

// callerSession describes the session that a calling process runs in, if it is a session of an agent or has rules. The zero
// value means that no such session restricts the caller.
type callerSession struct{ agent, policy, session string }

// restricts reports whether the caller runs in such a session.
func (h callerSession) restricts() bool { return h != callerSession{} }

type callerKey struct{}

// setCallerSession sets the actor of a request from the session of its connection. A label in the request does not count then,
// because it may have other rules.
func (s *Server) setCallerSession(ctx context.Context, a *identity.Actor) {
	c, _ := ctx.Value(callerKey{}).(*client)
	if c == nil {
		return
	}
	c.once.Do(func() { c.session = s.callerSessionOf(c.conn, a.PID) })
	if !c.session.restricts() {
		return
	}
	a.Policy = c.session.policy
	if c.session.agent != "" {
		a.Agent = c.session.agent
	}
}

// callerSessionOf returns the session that a peer runs in, if it is not a plain user session.
func (s *Server) callerSessionOf(conn net.Conn, pid int) callerSession {
	if pid <= 0 || pid == os.Getpid() { // not known here, or of a process outside this pid namespace, where no session is
		return callerSession{}
	}
	uc, _ := conn.(syscall.Conn)
	c, err := caller.Identify(uc, pid)
	if err != nil {
		s.log.Warn("a client ended before it was known", "pid", pid, "err", err)
		return s.unknownCallerSession(true)
	}
	keepers := s.daemon.KeeperPIDs()
	line := c.AncestorsBelow(func(pid int) bool { return slices.Contains(keepers, pid) || pid == os.Getpid() })
	if len(line) == 0 {
		return callerSession{}
	}
	// the daemon itself runs only the user's configuration and admitted commands of agents
	if c.Ancestors[len(line)].PID == os.Getpid() {
		return callerSession{agent: shellcmd.AgentOf(line[len(line)-1].PID)}
	}
	leads := map[int]*registry.Handle{}
	for _, e := range s.reg.All() {
		if st := e.Session.Status(); st.PID > 0 && st.Ended.IsZero() {
			leads[st.PID] = e
		}
	}
	if e, ok := caller.SessionOf(line, leads); ok {
		return s.callerSessionFor(e)
	}
	return s.callerSessionOfOrphan(c)
}

// callerSessionFor returns a session's holder; the zero value for a plain user session.
func (s *Server) callerSessionFor(e *registry.Handle) callerSession {
	h := callerSession{agent: s.reg.AgentOf(e), policy: e.Record().Policy}
	if h.policy == "" {
		h.policy = s.gate.RulesOf(e.ID())
	}
	if h.agent == "" && s.reg.Sandbox(e) != nil {
		h.agent = agentSandboxed
	}
	if h.restricts() {
		h.session = e.ID()
	}
	return h
}

// callerSessionOfOrphan returns the session of a process whose parents have ended. The process may have changed its mark and
// cgroup: they count if one names a restricted session, or if both name the same user session.
func (s *Server) callerSessionOfOrphan(c caller.Caller) callerSession {
	marked, grouped := s.reg.ByID(sys.MarkOf(c.PID, "LONGTERM_SESSION")), s.reg.ByID(c.CgroupSession())
	for _, e := range []*registry.Handle{grouped, marked} {
		if e == nil {
			continue
		}
		if h := s.callerSessionFor(e); h.restricts() {
			return h
		}
	}
	if grouped != nil && grouped == marked {
		return callerSession{}
	}
	return s.unknownCallerSession(sys.HasOwnFilter(c.PID))
}

// unknownCallerSession returns the holder of a process that may be in any session: a restricted one, if it may be in one.
// Checked sessions have a filter that processes cannot remove, so a process without it is in none of these.
func (s *Server) unknownCallerSession(filtered bool) callerSession {
	if !filtered && shellcmd.RanForAgents() {
		return callerSession{agent: agentUnknown}
	}
	for _, e := range s.reg.AllHandles() {
		if !s.callerSessionFor(e).restricts() {
			continue
		}
		if !filtered && s.reg.IsChecked(e) {
			continue
		}
		return callerSession{agent: agentUnknown}
	}
	return callerSession{}
}

// callerOf returns the caller of a request in its API form.
func callerOf(ctx context.Context) api.Caller {
	a := identity.Of(ctx)
	v := api.Caller{Agent: a.Agent, Policy: a.Policy}
	if c, _ := ctx.Value(callerKey{}).(*client); c != nil {
		v.Session, v.IsRestricted = c.session.session, c.session.restricts()
	}
	return v
}

// requireUser rejects callers in restricted sessions.
func requireUser(ctx context.Context, what string) error {
	if v := callerOf(ctx); v.IsRestricted {
		return v.ErrUserRequired(what)
	}
	return nil
}

// inheritPolicy sets a new session's policy to that of its caller's session.
func inheritPolicy(ctx context.Context, n *api.NewSession) error {
	of := identity.Of(ctx).Policy
	switch {
	case of == "" || n.Policy == of:
	case n.Policy == "":
		n.Policy = of
	default:
		return api.Errorf(api.CodeDenied, "policy %q of the calling session applies to what it starts; %q not allowed", of, n.Policy).
			WithHint("omit --policy")
	}
	return nil
}

// peerListener rejects connections of other users, regardless of the socket's mode.
type peerListener struct {
	net.Listener
	log *slog.Logger
}

// OwnPeers returns a listener that accepts connections of this user and of root only.
func OwnPeers(l net.Listener, log *slog.Logger) net.Listener { return peerListener{l, log} }

func (l peerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, _, err := peerOf(c)
		if err == nil && (uid == os.Getuid() || uid == 0) {
			return c, nil
		}
		l.log.Warn("refused a connection", "uid", uid, "err", err)
		_ = c.Close()
	}
}

func peerOf(c net.Conn) (uid, pid int, err error) {
	uc, ok := c.(*net.UnixConn)
	if !ok {
		return -1, 0, fmt.Errorf("connection of type %T", c)
	}
	return sys.PeerOf(uc)
}

// WithPeer stores a connection's peer as the caller in its requests' context.
func WithPeer(ctx context.Context, c net.Conn) context.Context {
	uid, pid, err := peerOf(c)
	if err != nil {
		return ctx
	}
	ctx = context.WithValue(ctx, callerKey{}, &client{conn: c})
	return identity.WithActor(ctx, identity.Actor{UID: uid, PID: pid})
}

// withLabel adds the agent's label and the session's rules to requests.
func (s *Server) withLabel(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		label := permittedLabel(grantOf(r.Context()), r.Header.Get(identity.Header))
		if err := identity.CheckLabel(label); err != nil {
			writeError(w, api.Errorf(api.CodeInvalid, "%v", err).WithHint("give a short name of printable characters (--agent, %s)", identity.Env))
			return
		}
		a := identity.Of(r.Context())
		a.Agent = label
		if host := r.Header.Get(identity.HostHeader); host != "" && grantOf(r.Context()) == nil {
			if err := identity.CheckLabel(host); err != nil {
				writeError(w, api.Errorf(api.CodeInvalid, "the header %s: %v", identity.HostHeader, err))
				return
			}
			a.Host = host
		}
		s.setCallerSession(r.Context(), &a)
		next.ServeHTTP(w, r.WithContext(identity.WithActor(r.Context(), a)))
	})
}

// peerString names the peer of a request, for logs.
func peerString(ctx context.Context) string {
	a := identity.Of(ctx)
	if a == (identity.Actor{}) {
		return "unknown"
	}
	return fmt.Sprintf("%s pid %d", a, a.PID)
}
