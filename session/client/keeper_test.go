//go:build unix

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// fakeKeeper serves a main keeper's socket.
type fakeKeeper struct {
	listener *unixsock.Listener
	starts   atomic.Int32
	// start starts the daemon and returns the error text, or "".
	start func() string
	// dropsLeft is the number of connections that are closed after they were accepted.
	dropsLeft atomic.Int32
}

// serveKeeper listens at the main keeper's socket.
func serveKeeper(dirs paths.Dirs, start func() string) (*fakeKeeper, error) {
	l, err := unixsock.Listen(dirs.KeeperSocket(paths.MainKeeper))
	if err != nil {
		return nil, err
	}
	return &fakeKeeper{listener: l, start: start}, nil
}

// newKeeper serves until the end of the test.
func newKeeper(t *testing.T, dirs paths.Dirs, start func() string) *fakeKeeper {
	t.Helper()
	k, err := serveKeeper(dirs, start)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { k.serve(&serving) })
	t.Cleanup(func() {
		_ = k.listener.Close()
		serving.Wait()
	})
	return k
}

// serve accepts connections until the listener is closed.
func (k *fakeKeeper) serve(serving *sync.WaitGroup) {
	for {
		uc, err := k.listener.Accept()
		if err != nil {
			return
		}
		if k.dropsLeft.Add(-1) >= 0 {
			_ = uc.Close()
			continue
		}
		serving.Go(func() {
			defer uc.Close()
			_ = k.handle(wire.NewConn(uc)) // ends with the client
		})
	}
}

// handle answers the requests of a connection.
func (k *fakeKeeper) handle(c *wire.Conn) error {
	for {
		f, _, err := c.Read()
		if err != nil {
			return err
		}
		switch f.Kind {
		case wire.KindHello:
			err = c.Write(&wire.Hello{Version: wire.Version, MinVersion: wire.Version, Build: "fake", PID: int64(os.Getpid()), Key: paths.MainKeeper})
		case wire.KindStartDaemon:
			var m wire.StartDaemon
			if err = wire.Decode(f.Payload, &m); err == nil {
				k.starts.Add(1)
				err = c.Write(&wire.Done{Req: m.Req, Error: k.start()})
			}
		default:
			err = fmt.Errorf("asked kind %d", f.Kind)
		}
		if err != nil {
			return err
		}
	}
}

// keeperArg0 is the argv[0] with which the test binary runs as a keeper. Its arguments are a behaviour and the
// directories.
const keeperArg0 = "testkeeper"

// runKeeperProcess runs a keeper, and does not return, if the process was started as one.
func runKeeperProcess() {
	if os.Args[0] != keeperArg0 {
		return
	}
	ready := os.NewFile(3, "ready")
	dirs := paths.Dirs{Run: os.Args[2], State: os.Args[3]}
	switch os.Args[1] {
	case "refuses":
		_, _ = fmt.Fprintln(ready, "no room on this disk")
		os.Exit(1)
	case "dies":
		os.Exit(1)
	}
	k, err := serveKeeper(dirs, func() string {
		l, err := netsock.Listen(dirs.Socket())
		if err != nil {
			return err.Error()
		}
		go func() {
			_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(api.Status{DaemonPID: os.Getpid()})
			}))
		}()
		return ""
	})
	if err != nil {
		_, _ = fmt.Fprintln(ready, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(ready, "ok")
	_ = ready.Close()
	var serving sync.WaitGroup
	k.serve(&serving)
	os.Exit(0)
}

// keeperArgv returns the command line of a keeper with a behaviour.
func keeperArgv(behaviour string, dirs paths.Dirs) func() []string {
	return func() []string { return []string{keeperArg0, behaviour, dirs.Run, dirs.State} }
}

// forbidKeeper is Options.KeeperArgv of clients that must not start a keeper.
func forbidKeeper(t *testing.T) func() []string {
	return func() []string {
		t.Error("the client started a keeper")
		return []string{keeperArg0, "dies"}
	}
}

// isContextError reports whether an error is only the end of the context.
func isContextError(err error, want error) bool { return errors.Is(err, want) && errorCode(err) == "" }
