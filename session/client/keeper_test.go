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

// fakeKeeper answers at a main keeper's socket as a test wants it to.
type fakeKeeper struct {
	l      *unixsock.Listener
	starts atomic.Int32
	// start starts the daemon, and returns the error text, or "".
	start func() string
	// drops is how many connections are closed as they come.
	drops atomic.Int32
}

func serveKeeper(dirs paths.Dirs, start func() string) (*fakeKeeper, error) {
	l, err := unixsock.Listen(dirs.KeeperSocket(paths.MainKeeper))
	if err != nil {
		return nil, err
	}
	return &fakeKeeper{l: l, start: start}, nil
}

// newKeeper serves until the test's end.
func newKeeper(t *testing.T, dirs paths.Dirs, start func() string) *fakeKeeper {
	t.Helper()
	k, err := serveKeeper(dirs, start)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { k.serve(&serving) })
	t.Cleanup(func() {
		_ = k.l.Close()
		serving.Wait()
	})
	return k
}

func (k *fakeKeeper) serve(serving *sync.WaitGroup) {
	for {
		uc, err := k.l.Accept()
		if err != nil {
			return
		}
		if k.drops.Add(-1) >= 0 {
			_ = uc.Close()
			continue
		}
		serving.Go(func() {
			defer uc.Close()
			_ = k.talk(wire.NewConn(uc)) // ends with the client
		})
	}
}

func (k *fakeKeeper) talk(c *wire.Conn) error {
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

// keeperName is the argv[0] with which the test binary acts as a keeper; its arguments are the behaviour and the
// directories.
const keeperName = "testkeeper"

// beKeeper does not return in a keeper's process.
func beKeeper() {
	if os.Args[0] != keeperName {
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

// asKeeper is the command line of a keeper's process.
func asKeeper(how string, dirs paths.Dirs) func() []string {
	return func() []string { return []string{keeperName, how, dirs.Run, dirs.State} }
}

// noKeeper is for clients that must not start one.
func noKeeper(t *testing.T) func() []string {
	return func() []string {
		t.Error("a keeper is started")
		return []string{keeperName, "dies"}
	}
}

// interrupted reports whether an error is just the end of the context.
func interrupted(err error, want error) bool { return errors.Is(err, want) && codeOf(err) == "" }
