//go:build unix

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"

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

type peerKey struct{}

// peer is who is at the other end of a connection.
type peer struct{ UID, PID int }

// WithPeer puts the peer into the context of a connection's requests.
func WithPeer(ctx context.Context, c net.Conn) context.Context {
	uid, pid, err := peerOf(c)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, peer{uid, pid})
}

// peerString names the peer of a request, for logs.
func peerString(ctx context.Context) string {
	if p, ok := ctx.Value(peerKey{}).(peer); ok {
		return fmt.Sprintf("uid %d pid %d", p.UID, p.PID)
	}
	return "unknown"
}
