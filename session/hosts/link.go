//go:build unix

package hosts

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// Link is the process that holds the one connection to a host, for all clients of this user.
type Link struct {
	Target  Target
	SSH     SSH
	Program string        // path of longterm on the host, from the first probe
	Keep    time.Duration // time without use after which it exits
	Version string
	Log     *slog.Logger

	mu        sync.Mutex // guards the fields below
	state     linkState
	lastUse   time.Time // time of the last use
	openConns int       // connections being served
}

// linkState is the state of the connection. Its channel is closed when it is replaced.
type linkState struct {
	mux     *yamux.Session // nil: not connected
	err     error          // why it is not connected
	changed chan struct{}
}

// Bounds of the backoff.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// helloTimeout bounds a new connection, from its start to the bridge's greeting.
	helloTimeout = 30 * time.Second
	// firstWait bounds a request's wait for the first connection, reconnectWait for a lost one: its client gets a retryable
	// error.
	firstWait     = helloTimeout + 5*time.Second
	reconnectWait = 500 * time.Millisecond
)

// Serve runs the link process. It calls ready once clients may connect, and returns after a time without use.
func (l *Link) Serve(ctx context.Context, ready func()) error {
	lock, err := launch.Lock(l.file("lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := errors.Join(lock.Truncate(0), writeAt(lock, strconv.Itoa(os.Getpid()))); err != nil {
		return err
	}
	socket := l.file("sock")
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := netsock.Listen(socket)
	if err != nil {
		return err
	}
	defer os.Remove(socket)
	defer listener.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()

	l.lastUse, l.state.changed = time.Now(), make(chan struct{})
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { l.keepConnected(ctx) })
	work.Go(func() {
		defer cancel()
		l.awaitIdle(ctx)
	})
	ready()
	defer cancel()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		l.addUse(1)
		work.Go(func() {
			defer l.addUse(-1)
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			l.forward(ctx, conn)
		})
	}
}

// writeAt writes text at the start of a file.
func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// file returns the path of one of the host's files.
func (l *Link) file(ext string) string { return hostFile(l.SSH.Dir, l.Target, ext) }

// addUse changes the number of open connections by n.
func (l *Link) addUse(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.openConns += n
	l.lastUse = time.Now()
}

// keepTime returns the time without use after which the link exits.
func (l *Link) keepTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Keep
}

// idleTime returns how long the link has been unused.
func (l *Link) idleTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.openConns > 0 {
		return 0
	}
	return time.Since(l.lastUse)
}

// awaitIdle returns when the link has been unused long enough, or its socket was removed.
func (l *Link) awaitIdle(ctx context.Context) {
	every := time.NewTicker(min(time.Second, cmp.Or(l.keepTime(), time.Second)))
	defer every.Stop()
	for l.idleTime() <= l.keepTime() {
		if _, err := os.Lstat(l.file("sock")); err != nil { // its directory was removed
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// forward forwards a client's connection.
func (l *Link) forward(ctx context.Context, conn net.Conn) {
	st, err := l.stream(ctx)
	if err != nil {
		sendError(conn, err)
		return
	}
	relay(st, conn)
}

// stream opens a stream, waiting for a connection that is being made.
func (l *Link) stream(ctx context.Context) (*yamux.Stream, error) {
	start := time.Now()
	for {
		l.mu.Lock()
		s := l.state
		l.mu.Unlock()
		if s.mux != nil {
			if st, err := s.mux.OpenStream(); err == nil {
				return st, nil
			}
		}
		wait := firstWait
		if s.err != nil {
			var e *api.Error
			if errors.As(s.err, &e) && e.Code != api.CodeUnavailable {
				return nil, e // retrying does not help
			}
			wait = reconnectWait
		}
		timer := time.NewTimer(time.Until(start.Add(wait)))
		select {
		case <-s.changed:
			timer.Stop()
		case <-timer.C:
			why := "no connection yet"
			if s.err != nil {
				why = messageOf(s.err)
			}
			return nil, unreachableError(l.Target, why)
		case <-ctx.Done():
			timer.Stop()
			return nil, unreachableError(l.Target, "the connection is being closed")
		}
	}
}

// messageOf returns an error's message without its hint; the caller adds its own.
func messageOf(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// setState replaces the state.
func (l *Link) setState(mux *yamux.Session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.state.changed)
	l.state = linkState{mux, err, make(chan struct{})}
}

// keepConnected keeps a connection until ctx ends.
func (l *Link) keepConnected(ctx context.Context) {
	pause := firstRetry
	defer l.SSH.closeMaster(l.Target)
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		err := l.runConnection(ctx, n)
		if ctx.Err() != nil {
			return
		}
		l.Log.Info("no connection", "host", l.Target, "err", err)
		var e *api.Error
		if errors.As(err, &e) && e.Code == api.CodeHostUnknown && n > 0 { // without network no name resolves either
			err = unreachableError(l.Target, e.Message)
		}
		l.setState(nil, err)
		l.SSH.closeMaster(l.Target) // ssh's master may be dead, too
		if time.Since(began) > lastRetry {
			pause = firstRetry
		}
		if errors.As(err, &e) && e.Code != api.CodeUnavailable {
			// Only the user may retry, since ssh may ask for a password: report the error to waiting callers, and let
			// the next call start another link.
			l.drainCallers(ctx, time.Second)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, lastRetry)
	}
}

// drainCallers waits until the callers that wait for the connection have the error, and makes the link exit.
func (l *Link) drainCallers(ctx context.Context, d time.Duration) {
	for l.idleTime() < d && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(d / 4):
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Keep = 0
}

// runConnection makes a connection and returns when it has ended.
func (l *Link) runConnection(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := l.SSH.command(ctx, l.Target, true, "exec "+shellquote.Word(l.Program)+" bridge")
	mux, complaint, h, err := l.greet(cmd)
	if err != nil {
		return err
	}
	defer func() {
		_ = mux.Close()
		cancel()
		_ = cmd.Wait()
	}()
	f := Facts{Target: string(l.Target), Hello: h, Since: time.Now(), Connections: n + 1}
	if err := f.write(l.SSH.Dir); err != nil {
		return err
	}
	l.setState(mux, nil)
	l.Log.Info("connected", "host", l.Target, "version", h.Version)
	watchConnection(ctx, mux, addresses)
	if lastError := lastLine(complaint.String()); lastError != "" {
		return errors.New(lastError)
	}
	return errors.New("the connection was lost")
}

// greet starts ssh and exchanges greetings with the bridge.
func (l *Link) greet(cmd *exec.Cmd) (mux *yamux.Session, complaint *tailBuffer, h Hello, err error) {
	complaint = &tailBuffer{}
	cmd.Stderr = complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, h, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, h, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, h, sshError(l.Target, err, "")
	}
	slow := time.AfterFunc(helloTimeout, func() { _ = cmd.Process.Kill() })
	r := bufio.NewReader(out)
	err = readMarked(r, &h)
	if err == nil {
		err = h.checkProtocol(l.Target)
	}
	if err == nil {
		err = writeMarked(in, Greeting{Protocol, l.Version})
	}
	if err == nil && slow.Stop() {
		mux, err = yamux.Client(duplexPipe{r, in, closeAll(in, out)}, muxSettings())
	}
	if err == nil && mux != nil {
		return mux, complaint, h, nil
	}
	_ = in.Close()
	ended := waitOrKill(cmd, &slow)
	var e *api.Error
	switch {
	case errors.As(err, &e):
		return nil, nil, h, err
	case errors.Is(err, errNoHello) && isExit(ended, 126, 127):
		return nil, nil, h, missingError(l.Target, l.Program)
	case ended != nil && (isExit(ended, sshFailed) || complaint.String() != ""):
		return nil, nil, h, sshError(l.Target, ended, complaint.String())
	case errors.Is(err, errNoHello) && !errors.Is(err, io.EOF):
		return nil, nil, h, api.Errorf(api.CodeHostBare, "%s: %s: %v", l.Target, printable(l.Program), err).
			WithHint("`longterm hosts install %s` copies this one there", l.Target)
	}
	return nil, nil, h, api.Errorf(api.CodeUnavailable, "%s: %v", l.Target, cmp.Or(err, errors.New("no answer in time")))
}

// waitOrKill waits for the exit of ssh, and kills it after a delay.
func waitOrKill(cmd *exec.Cmd, slow **time.Timer) error {
	(*slow).Reset(waitDelay)
	defer (*slow).Stop()
	return cmd.Wait()
}

// isExit reports whether an error is one of these exit statuses.
func isExit(err error, codes ...int) bool {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return false
	}
	for _, c := range codes {
		if ended.ExitCode() == c {
			return true
		}
	}
	return false
}

// missingError returns the error of a host without longterm.
func missingError(t Target, program string) error {
	what := "longterm not found"
	if program != "" {
		what = fmt.Sprintf("longterm at %s was removed or cannot be run", printable(program))
	}
	return api.Errorf(api.CodeHostBare, "%s: %s", t, what).
		WithHint("`longterm hosts install %s` copies this one there; or use --install", t)
}

// probedConn is the part of a connection that watchConnection uses.
type probedConn interface {
	CloseChan() <-chan struct{}
	Ping() (time.Duration, error)
	Close() error
}

// watchConnection returns when the connection has ended, and closes a dead one. After a sleep or a change of this machine's
// addresses it probes at once, earlier than yamux would.
func watchConnection(ctx context.Context, mux probedConn, addresses func() string) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	before, clock := addresses(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-mux.CloseChan():
			return
		case <-every.C:
		}
		here, now := addresses(), time.Now()
		slept := now.Round(0).Sub(clock.Round(0)) > 5*time.Second // by the wall clock, which also runs during sleep
		if here != before || slept {
			if !respondsInTime(mux) {
				_ = mux.Close()
				return
			}
		}
		before, clock = here, now
	}
}

// probeTime bounds the response of a connection that is probably dead.
const probeTime = 3 * time.Second

// respondsInTime reports whether a connection responds within probeTime.
func respondsInTime(mux probedConn) bool {
	answer := make(chan error, 1)
	go func() {
		_, err := mux.Ping()
		answer <- err
	}()
	select {
	case err := <-answer:
		return err == nil
	case <-time.After(probeTime):
		return false
	}
}

// addresses returns this machine's addresses as one text.
func addresses() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	text := ""
	for _, a := range all {
		text += a.String() + " "
	}
	return text
}
