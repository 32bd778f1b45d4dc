//go:build unix

package hosts

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// RemoteHost connects clients to the daemon of a host. Any goroutine may use it.
type RemoteHost struct {
	Target Target
	SSH    SSH
	// LinkArgv returns the command line of a host's link; program is the path of longterm on the host.
	LinkArgv func(t Target, program string) []string
	Log      string // file for errors of the link
	// Prompts allows ssh to prompt on the terminal of this process.
	Prompts bool
	// InstallMissing handles a host without a usable longterm: it installs one and returns its path, or returns an error. nil:
	// install nothing.
	InstallMissing func(ctx context.Context, there ProbeResult, why error) (program string, err error)

	wasConnected atomic.Bool // connected before: a terminal in use gets no second prompt
}

// Dial connects to the host's daemon through the link. Without a link the error is that of an unserved socket, and Ensure
// starts a link.
func (w *RemoteHost) Dial(context.Context) (net.Conn, error) { return netsock.Dial(w.Socket()) }

// Socket returns the path of the link's socket.
func (w *RemoteHost) Socket() string { return w.file("sock") }

// file returns the path of one of the host's files.
func (w *RemoteHost) file(ext string) string { return hostFile(w.SSH.Dir, w.Target, ext) }

// ClientLabel returns the name under which the host's daemon records this client.
func ClientLabel() string {
	name := "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	from := strings.TrimSpace(printable("ssh:" + name + "@" + host))
	for len(from) > identity.MaxLabel {
		_, size := utf8.DecodeLastRuneInString(from)
		from = from[:len(from)-size]
	}
	return from
}

// Ensure returns once the link runs and the host was reached. ssh may prompt.
func (w *RemoteHost) Ensure(ctx context.Context) error {
	if err := os.MkdirAll(w.SSH.Dir, 0o700); err != nil {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	lock, err := w.lockStart(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if conn, err := w.Dial(ctx); err == nil { // another client was faster
		w.wasConnected.Store(true)
		return conn.Close()
	}
	asks := w.Prompts && !w.wasConnected.Load()
	there, err := w.SSH.probe(ctx, w.Target, !asks)
	if err != nil {
		return err
	}
	program := there.Program
	if program == "" {
		why := missingError(w.Target, "")
		if w.InstallMissing == nil || w.wasConnected.Load() {
			return why
		}
		if program, err = w.InstallMissing(ctx, there, why); err != nil {
			return err
		}
	}
	err = w.start(program)
	w.wasConnected.Store(err == nil)
	return err
}

// start starts the link. One that is about to exit may still hold the lock.
func (w *RemoteHost) start(program string) error {
	for until := time.Now().Add(closeTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := launch.StartProcess("the connection to "+string(w.Target), sys.SelfExe(), w.LinkArgv(w.Target, program), w.Log)
		if errors.Is(err, launch.ErrRunning) && time.Now().Before(until) {
			conn, err := netsock.Dial(w.file("sock"))
			if err != nil {
				continue
			}
			return conn.Close()
		}
		if err != nil {
			return api.Errorf(api.CodeUnavailable, "%v", err).WithHint("see %s", w.Log)
		}
		return nil
	}
}

// closeTimeout bounds start's wait for an exiting link to release its lock.
const closeTimeout = 10 * time.Second

// lockStart acquires the lock of clients that connect to this host.
func (w *RemoteHost) lockStart(ctx context.Context) (*os.File, error) {
	for {
		f, err := launch.Lock(w.file("start"))
		if !errors.Is(err, launch.ErrRunning) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Hello returns the host's greeting; it connects if there never was a connection.
func (w *RemoteHost) Hello(ctx context.Context) (Hello, error) {
	f, err := ReadFacts(w.SSH.Dir, w.Target)
	if errors.Is(err, fs.ErrNotExist) {
		if err := w.Ensure(ctx); err != nil {
			return Hello{}, err
		}
		return w.firstHello(ctx)
	}
	return f.Hello, err
}

// Login returns the login of the host, where sessions start.
func (w *RemoteHost) Login(ctx context.Context) (client.Login, error) {
	h, err := w.Hello(ctx)
	return client.Login{Host: string(w.Target), Home: h.Home, Env: h.Env}, err
}

// firstHello waits until a new link has stored the facts.
func (w *RemoteHost) firstHello(ctx context.Context) (Hello, error) {
	for until := time.Now().Add(helloTimeout); ; {
		if f, err := ReadFacts(w.SSH.Dir, w.Target); err == nil {
			return f.Hello, nil
		}
		conn, err := w.Dial(ctx)
		if err != nil || time.Now().After(until) {
			return Hello{}, unreachableError(w.Target, "it did not answer")
		}
		_ = conn.Close()
		select {
		case <-ctx.Done():
			return Hello{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Disconnect ends the link and ssh's master connection. It reports whether a link ran.
func (w *RemoteHost) Disconnect(ctx context.Context) (bool, error) {
	conn, err := netsock.Dial(w.file("sock"))
	if err != nil {
		w.SSH.closeMaster(w.Target)
		return false, nil
	}
	_ = conn.Close()
	pid, err := strconv.Atoi(launch.HolderSocket(w.file("lock")))
	if err != nil || pid < 2 || !launch.IsHeld(w.file("lock")) {
		return false, err
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		return false, err
	}
	for launch.IsHeld(w.file("lock")) {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true, nil
}

// IsLinked reports whether a link runs.
func (w *RemoteHost) IsLinked() bool { return launch.IsHeld(w.file("lock")) }
