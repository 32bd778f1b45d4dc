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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// Way is the way to the daemon of one host, for clients. It may be used from any goroutine.
type Way struct {
	Target Target
	SSH    SSH
	// LinkArgv is the command line of the link of a host, whose longterm is found at program.
	LinkArgv func(t Target, program string) []string
	Log      string // file that the link complains to
	// Asks says that ssh may ask a person, on the terminal of this process.
	Asks bool
	// Bare is asked for a host without longterm, or with one that cannot be spoken with; it installs one and
	// returns where it is, or the error it is given. nil: nothing is installed.
	Bare func(ctx context.Context, there There, why error) (program string, err error)

	been atomic.Bool // there was a connection: whoever shows something on the terminal by now is not asked again
}

// Dial connects to the daemon there, by the link. Where there is no link the error is that of a socket nobody
// serves, and Ensure makes one.
func (w *Way) Dial(context.Context) (net.Conn, error) { return netsock.Dial(w.Socket()) }

// Socket is that of the link, where there is one.
func (w *Way) Socket() string { return w.file("sock") }

func (w *Way) file(ext string) string { return hostFile(w.SSH.Dir, w.Target, ext) }

// As is who we are to the other end: what it writes down of us.
func As() string {
	name := "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	from := strings.TrimSpace(printable("ssh:" + name + "@" + host))
	for len(from) > actor.MaxLabel {
		_, size := utf8.DecodeLastRuneInString(from)
		from = from[:len(from)-size]
	}
	return from
}

// Ensure returns once the link runs, and the host was reached. What ssh asks for is asked here.
func (w *Way) Ensure(ctx context.Context) error {
	if err := os.MkdirAll(w.SSH.Dir, 0o700); err != nil {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	lock, err := w.alone(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if conn, err := w.Dial(ctx); err == nil { // another client was faster
		w.been.Store(true)
		return conn.Close()
	}
	asks := w.Asks && !w.been.Load()
	there, err := w.SSH.look(ctx, w.Target, !asks)
	if err != nil {
		return err
	}
	program := there.Program
	if program == "" {
		why := bare(w.Target, "")
		if w.Bare == nil || w.been.Load() {
			return why
		}
		if program, err = w.Bare(ctx, there, why); err != nil {
			return err
		}
	}
	err = w.start(program)
	w.been.Store(err == nil)
	return err
}

// start starts the link. One that is about to end may still hold the lock.
func (w *Way) start(program string) error {
	for until := time.Now().Add(endTime); ; time.Sleep(10 * time.Millisecond) {
		err := launch.Process("the connection to "+string(w.Target), sys.SelfExe(), w.LinkArgv(w.Target, program), w.Log)
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

// endTime is how long a link takes that ends.
const endTime = 10 * time.Second

// alone is the lock of clients that make connections to this host.
func (w *Way) alone(ctx context.Context) (*os.File, error) {
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

// Hello is what the host said of itself, connecting to it if there never was a connection.
func (w *Way) Hello(ctx context.Context) (Hello, error) {
	f, err := ReadFacts(w.SSH.Dir, w.Target)
	if errors.Is(err, fs.ErrNotExist) {
		if err := w.Ensure(ctx); err != nil {
			return Hello{}, err
		}
		return w.firstHello(ctx)
	}
	return f.Hello, err
}

// Place is where sessions start there.
func (w *Way) Place(ctx context.Context) (client.Place, error) {
	h, err := w.Hello(ctx)
	return client.Place{Host: string(w.Target), Home: h.Home, Env: h.Env}, err
}

// firstHello waits until a new link has written the facts down.
func (w *Way) firstHello(ctx context.Context) (Hello, error) {
	for until := time.Now().Add(helloTime); ; {
		if f, err := ReadFacts(w.SSH.Dir, w.Target); err == nil {
			return f.Hello, nil
		}
		conn, err := w.Dial(ctx)
		if err != nil || time.Now().After(until) {
			return Hello{}, away(w.Target, "it did not answer")
		}
		_ = conn.Close()
		select {
		case <-ctx.Done():
			return Hello{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Leave ends the connection: the link, and what ssh keeps. It reports whether there was one.
func (w *Way) Leave(ctx context.Context) (bool, error) {
	conn, err := netsock.Dial(w.file("sock"))
	if err != nil {
		w.SSH.leave(w.Target)
		return false, nil
	}
	_ = conn.Close()
	pid, err := strconv.Atoi(launch.Holder(w.file("lock")))
	if err != nil || pid < 2 || !launch.Held(w.file("lock")) {
		return false, err
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		return false, err
	}
	for launch.Held(w.file("lock")) {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true, nil
}

// Runs says whether there is a link.
func (w *Way) Runs() bool { return launch.Held(w.file("lock")) }
