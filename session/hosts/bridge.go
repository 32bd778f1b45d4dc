package hosts

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/yamux"
)

// Bridge is the remote end of the connection, next to the daemon.
type Bridge struct {
	In      io.Reader
	Out     io.Writer
	Version string
	// Dial connects to the daemon, starting it if need be.
	Dial func(context.Context) (net.Conn, error)
}

// Serve forwards connections until the other end closes, then closes In and Out if possible, which ends pending reads and
// writes.
func (b *Bridge) Serve(ctx context.Context) error {
	if err := writeMarked(b.Out, b.hello()); err != nil {
		return err
	}
	in := bufio.NewReader(b.In)
	var g Greeting
	if err := readMarked(in, &g); err != nil {
		if errors.Is(err, io.EOF) { // the link only wanted the greeting
			return nil // it only wanted to know
		}
		return err
	}
	mux, err := yamux.Server(duplexPipe{in, b.Out, closeAll(b.In, b.Out)}, muxSettings())
	if err != nil {
		return err
	}
	defer mux.Close()
	defer context.AfterFunc(ctx, func() { _ = mux.Close() })()
	var streams sync.WaitGroup
	defer streams.Wait()
	defer mux.Close()
	for {
		st, err := mux.AcceptStream()
		if err != nil {
			return nil // the other end closed, the normal end
		}
		streams.Go(func() {
			conn, err := b.Dial(ctx)
			if err != nil {
				sendError(st, err)
				return
			}
			relay(st, conn)
		})
	}
}

// hello returns the bridge's greeting.
func (b *Bridge) hello() Hello {
	h := Hello{Protocol: Protocol, Oldest: oldest, Version: b.Version, System: runtime.GOOS + "/" + runtime.GOARCH, Env: sessionEnviron()}
	h.Host, _ = os.Hostname()
	h.Home, _ = os.UserHomeDir()
	if u, err := user.Current(); err == nil {
		h.User = u.Username
	}
	return h
}

// sessionEnviron returns the environment without variables of this connection or of a surrounding session.
func sessionEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT", "SSH_AUTH_SOCK", "_", "SHLVL", "LONGTERM_SESSION":
			return true
		}
		return false
	})
}
