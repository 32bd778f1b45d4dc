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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/respond/shellcmd"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/caller"
)

// A program in a session asks longterm's socket as that session: with its agent's label, whatever header and
// environment it has, and with its rules. Which session that is, the kernel says: a session's processes descend from
// its first one, and those that lost their parents are the keeper's. They are looked for once a connection, when it
// asks for something first.

// Labels of who is in a session that has none.
const (
	agentUnknown = "unknown"   // below a keeper, and nobody can say in which session
	agentBoxed   = "sandboxed" // in a sandbox
)

// client is the process at the other end of a connection.
type client struct {
	conn net.Conn
	once sync.Once
	held holder
}

// holder is a session that is not a person's, as what asks from there has it. The zero value is none.
type holder struct{ agent, policy, session string }

func (h holder) any() bool { return h != holder{} }

type callerKey struct{}

// heldBy puts what a connection's session has into the actor of a request. A label that it names itself does not
// count then: another label may have other rules.
func (s *Server) heldBy(ctx context.Context, a *actor.Actor) {
	c, _ := ctx.Value(callerKey{}).(*client)
	if c == nil {
		return
	}
	c.once.Do(func() { c.held = s.holderOf(c.conn, a.PID) })
	if !c.held.any() {
		return
	}
	a.Policy = c.held.policy
	if c.held.agent != "" {
		a.Agent = c.held.agent
	}
}

// holderOf is the session that a peer runs in, if it is not a person's.
func (s *Server) holderOf(conn net.Conn, pid int) holder {
	if pid <= 0 || pid == os.Getpid() { // not known here, or of a process outside this pid namespace, where no session is
		return holder{}
	}
	uc, _ := conn.(syscall.Conn)
	c, err := caller.Identify(uc, pid)
	if err != nil {
		s.log.Warn("a client ended before it was known", "pid", pid, "err", err)
		return s.unknown(true)
	}
	keepers := s.daemon.KeeperPIDs()
	line := c.Below(func(pid int) bool { return slices.Contains(keepers, pid) || pid == os.Getpid() })
	if len(line) == 0 {
		return holder{}
	}
	if c.Line[len(line)].PID == os.Getpid() { // what the daemon runs itself is a person's configuration, or an agent's that was admitted
		return holder{agent: shellcmd.AgentOf(line[len(line)-1].PID)}
	}
	leads := map[int]*registry.Handle{}
	for _, e := range s.reg.All() {
		if st := e.Session.Status(); st.PID > 0 && st.Ended.IsZero() {
			leads[st.PID] = e
		}
	}
	if e, ok := caller.SessionOf(line, leads); ok {
		return s.holds(e)
	}
	return s.holderOfOrphan(c)
}

// holds is what a session has that is not a person's.
func (s *Server) holds(e *registry.Handle) holder {
	h := holder{agent: s.reg.AgentOf(e), policy: e.Record().Policy}
	if h.policy == "" {
		h.policy = s.gate.RulesOf(e.ID())
	}
	if h.agent == "" && s.reg.Sandbox(e) != nil {
		h.agent = agentBoxed
	}
	if h.any() {
		h.session = e.ID()
	}
	return h
}

// holderOfOrphan is the session of a process whose parents have ended. Its mark, and its cgroup, it may have changed:
// they are believed when they name a session that is not a person's, and when both name one that is.
func (s *Server) holderOfOrphan(c caller.Caller) holder {
	marked, grouped := s.reg.ByID(sys.MarkOf(c.PID, "LONGTERM_SESSION")), s.reg.ByID(c.Cgroup())
	for _, e := range []*registry.Handle{grouped, marked} {
		if e == nil {
			continue
		}
		if h := s.holds(e); h.any() {
			return h
		}
	}
	if grouped != nil && grouped == marked {
		return holder{}
	}
	return s.unknown(sys.Filtered(c.PID))
}

// unknown is what holds a process that may be in any session: a session that is not a person's, if there is one that it
// may be in. Where executions are judged there is a filter that no process gets rid of: one without it is in none of these.
func (s *Server) unknown(filtered bool) holder {
	if !filtered && shellcmd.RanForAgents() {
		return holder{agent: agentUnknown}
	}
	for _, e := range s.reg.Known() {
		if !s.holds(e).any() {
			continue
		}
		if !filtered && s.reg.Judged(e) {
			continue
		}
		return holder{agent: agentUnknown}
	}
	return holder{}
}

// callerOf is who makes a request, as clients are told.
func callerOf(ctx context.Context) api.Caller {
	a := actor.Of(ctx)
	v := api.Caller{Agent: a.Agent, Policy: a.Policy}
	if c, _ := ctx.Value(callerKey{}).(*client); c != nil {
		v.Session, v.Held = c.held.session, c.held.any()
	}
	return v
}

// asPerson refuses what nobody may do from a session that is not a person's.
func asPerson(ctx context.Context, what string) error {
	if v := callerOf(ctx); v.Held {
		return v.NoPerson(what)
	}
	return nil
}

// withinRules gives a session that is to be started the rules of the one that its caller is in.
func withinRules(ctx context.Context, n *api.NewSession) error {
	of := actor.Of(ctx).Policy
	switch {
	case of == "" || n.Policy == of:
	case n.Policy == "":
		n.Policy = of
	default:
		return api.Errorf(api.CodeDenied, "the session that asks has the rules %q: what it starts has them too, not %q", of, n.Policy).
			WithHint("leave --policy out")
	}
	return nil
}

// peerListener refuses connections of other users, whatever the socket's mode says.
type peerListener struct {
	net.Listener
	log *slog.Logger
}

// OwnPeers is a listener that accepts connections of this user and of root only.
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

// WithPeer puts the peer of a connection into the context of its requests, as the one who asks.
func WithPeer(ctx context.Context, c net.Conn) context.Context {
	uid, pid, err := peerOf(c)
	if err != nil {
		return ctx
	}
	ctx = context.WithValue(ctx, callerKey{}, &client{conn: c})
	return actor.With(ctx, actor.Actor{UID: uid, PID: pid})
}

// labelled has requests carry the label of the agent that makes them, and the rules of the session it is in.
func (s *Server) labelled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		label := ownLabel(grantOf(r.Context()), r.Header.Get(actor.Header))
		if err := actor.CheckLabel(label); err != nil {
			writeError(w, api.Errorf(api.CodeInvalid, "%v", err).WithHint("give a short name of printable characters (--agent, %s)", actor.Env))
			return
		}
		a := actor.Of(r.Context())
		a.Agent = label
		if host := r.Header.Get(actor.HostHeader); host != "" && grantOf(r.Context()) == nil {
			if err := actor.CheckLabel(host); err != nil {
				writeError(w, api.Errorf(api.CodeInvalid, "the header %s: %v", actor.HostHeader, err))
				return
			}
			a.Host = host
		}
		s.heldBy(r.Context(), &a)
		next.ServeHTTP(w, r.WithContext(actor.With(r.Context(), a)))
	})
}

// peerString names the peer of a request, for logs.
func peerString(ctx context.Context) string {
	a := actor.Of(ctx)
	if a == (actor.Actor{}) {
		return "unknown"
	}
	return fmt.Sprintf("%s pid %d", a, a.PID)
}
