//go:build unix

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

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
	ctx = context.WithValue(ctx, callerKey{}, &caller{conn: c})
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
