package client

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// TestForeignDaemon_ReceivesNothing checks that no request is sent to a socket that another user serves, and no daemon
// is started.
// FAULT: A17
func TestForeignDaemon_ReceivesNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs to be root, to be another user as well")
	}
	dirs := newDirs(t)
	for _, dir := range []string{dirs.Config, dirs.Run} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	l, err := listenAs(dirs.Socket(), 65534)
	if err != nil {
		t.Fatal(err)
	}
	var heard, connected atomic.Int64
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			n, _ := io.Copy(io.Discard, c)
			heard.Add(n)
		}
	}()
	c := New(Options{Dirs: dirs, KeeperArgv: forbidKeeper(t), Build: func() string { return "test" }})
	ctx := testContext(t)
	calls := map[string]func(context.Context) error{
		"list": func(ctx context.Context) error { return ignoreResult(c.List(ctx)) },
		"type": func(ctx context.Context) error {
			return ignoreResult(c.Session("s").Type(ctx, api.Input{Text: "x", ID: "i"}))
		},
		"run": func(ctx context.Context) error { return ignoreResult(c.Run(ctx, api.Run{})) },
		"attach": func(ctx context.Context) error {
			_, err := c.Session("s").Attach(ctx, StreamOptions{})
			return err
		},
	}
	for name, call := range calls {
		if err := call(ctx); errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "served by another user") || !strings.Contains(err.Error(), paths.EnvDir) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	_ = l.Close()
	<-served
	if n := heard.Load(); n != 0 {
		t.Errorf("the other user received %d bytes", n)
	}
	if n := connected.Load(); n > int64(len(calls)) { // a call that repeats does so for seconds
		t.Errorf("got %d connections for %d calls", n, len(calls))
	}
}

// listenAs listens as another user: the kernel records the user of the thread that calls listen. The thread ends with
// its goroutine.
func listenAs(path string, uid int) (l *net.UnixListener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			err = errno
			return
		}
		l, err = netsock.Listen(path)
	}()
	<-done
	return l, err
}
