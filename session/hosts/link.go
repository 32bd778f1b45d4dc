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
	Program string        // longterm there, as the first call found it
	Keep    time.Duration // how long it stays without use
	Version string
	Log     *slog.Logger

	mu    sync.Mutex // guards the fields below
	state state
	used  time.Time // when there was a use last
	open  int       // connections that are served
}

// state is how it stands with the connection. One that is replaced has its channel closed.
type state struct {
	mux     *yamux.Session // nil: not connected
	err     error          // why
	changed chan struct{}
}

// Pauses between tries grow from the first to the last.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// helloTime bounds a new connection, from its start to the bridge's greeting.
	helloTime = 30 * time.Second
	// firstTime is how long a request waits for the first connection; lostTime for a lost one: its client gets a
	// retryable error.
	firstTime = helloTime + 5*time.Second
	lostTime  = 500 * time.Millisecond
)

// Serve is the whole life of the link process. It calls ready once clients may connect, and ends after a time without
// use.
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

	l.used, l.state.changed = time.Now(), make(chan struct{})
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { l.hold(ctx) })
	work.Go(func() {
		defer cancel()
		l.untilIdle(ctx)
	})
	ready()
	defer cancel()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		l.use(1)
		work.Go(func() {
			defer l.use(-1)
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			l.carry(ctx, conn)
		})
	}
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

func (l *Link) file(ext string) string { return hostFile(l.SSH.Dir, l.Target, ext) }

func (l *Link) use(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open += n
	l.used = time.Now()
}

// keep returns how long the link stays without use.
func (l *Link) keep() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Keep
}

// idle returns how long the link has been unused.
func (l *Link) idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open > 0 {
		return 0
	}
	return time.Since(l.used)
}

// untilIdle returns when the link has been unused long enough, or was replaced.
func (l *Link) untilIdle(ctx context.Context) {
	every := time.NewTicker(min(time.Second, cmp.Or(l.keep(), time.Second)))
	defer every.Stop()
	for l.idle() <= l.keep() {
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

// carry passes a client's connection on.
func (l *Link) carry(ctx context.Context, conn net.Conn) {
	st, err := l.stream(ctx)
	if err != nil {
		refuse(conn, err)
		return
	}
	splice(st, conn)
}

// stream opens one, waiting for a connection that is being made.
func (l *Link) stream(ctx context.Context) (*yamux.Stream, error) {
	begun := time.Now()
	for {
		l.mu.Lock()
		s := l.state
		l.mu.Unlock()
		if s.mux != nil {
			if st, err := s.mux.OpenStream(); err == nil {
				return st, nil
			}
		}
		wait := firstTime
		if s.err != nil {
			var e *api.Error
			if errors.As(s.err, &e) && e.Code != api.CodeUnavailable {
				return nil, e // it is no better a moment later
			}
			wait = lostTime
		}
		left := time.NewTimer(time.Until(begun.Add(wait)))
		select {
		case <-s.changed:
			left.Stop()
		case <-left.C:
			why := "no connection yet"
			if s.err != nil {
				why = reason(s.err)
			}
			return nil, awayError(l.Target, why)
		case <-ctx.Done():
			left.Stop()
			return nil, awayError(l.Target, "the connection is being closed")
		}
	}
}

// reason returns an error's message without its hint; the caller adds its own.
func reason(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// become replaces the state.
func (l *Link) become(mux *yamux.Session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.state.changed)
	l.state = state{mux, err, make(chan struct{})}
}

// hold keeps a connection until ctx ends.
func (l *Link) hold(ctx context.Context) {
	pause := firstRetry
	defer l.SSH.closeMaster(l.Target)
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		err := l.connection(ctx, n)
		if ctx.Err() != nil {
			return
		}
		l.Log.Info("no connection", "host", l.Target, "err", err)
		var e *api.Error
		if errors.As(err, &e) && e.Code == api.CodeHostUnknown && n > 0 { // no network has no names either
			err = awayError(l.Target, e.Message)
		}
		l.become(nil, err)
		l.SSH.closeMaster(l.Target) // what ssh keeps may be as dead
		if time.Since(began) > lastRetry {
			pause = firstRetry
		}
		if errors.As(err, &e) && e.Code != api.CodeUnavailable {
			// Only the user may retry, since ssh may ask for a password: report the error to waiting callers, and let
			// the next call start another link.
			l.untilIdleFor(ctx, time.Second)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, lastRetry)
	}
}

// untilIdleFor waits until the callers that wait for the connection got the error.
func (l *Link) untilIdleFor(ctx context.Context, d time.Duration) {
	for l.idle() < d && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(d / 4):
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Keep = 0
}

// connection makes one and returns when it is over.
func (l *Link) connection(ctx context.Context, n int) error {
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
	l.become(mux, nil)
	l.Log.Info("connected", "host", l.Target, "version", h.Version)
	guard(ctx, mux, addresses)
	if said := lastLine(complaint.String()); said != "" {
		return errors.New(said)
	}
	return errors.New("the connection was lost")
}

// greet starts ssh and greets the bridge.
func (l *Link) greet(cmd *exec.Cmd) (mux *yamux.Session, complaint *tail, h Hello, err error) {
	complaint = &tail{}
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
		return nil, nil, h, failureOf(l.Target, err, "")
	}
	slow := time.AfterFunc(helloTime, func() { _ = cmd.Process.Kill() })
	r := bufio.NewReader(out)
	err = readLine(r, &h)
	if err == nil {
		err = h.speaks(l.Target)
	}
	if err == nil {
		err = writeLine(in, Greeting{Protocol, l.Version})
	}
	if err == nil && slow.Stop() {
		mux, err = yamux.Client(pipes{r, in, closing(in, out)}, muxSettings())
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
		return nil, nil, h, bare(l.Target, l.Program)
	case ended != nil && (isExit(ended, sshFailed) || complaint.String() != ""):
		return nil, nil, h, failureOf(l.Target, ended, complaint.String())
	case errors.Is(err, errNoHello) && !errors.Is(err, io.EOF):
		return nil, nil, h, api.Errorf(api.CodeHostBare, "%s: %s: %v", l.Target, printable(l.Program), err).
			WithHint("`longterm hosts install %s` copies this one there", l.Target)
	}
	return nil, nil, h, api.Errorf(api.CodeUnavailable, "%s: %v", l.Target, cmp.Or(err, errors.New("no answer in time")))
}

// waitOrKill waits for an end that is to come by itself, and makes it.
func waitOrKill(cmd *exec.Cmd, slow **time.Timer) error {
	(*slow).Reset(waitDelay)
	defer (*slow).Stop()
	return cmd.Wait()
}

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

// bare returns the error of a host without longterm.
func bare(t Target, program string) error {
	what := "longterm not found"
	if program != "" {
		what = fmt.Sprintf("longterm at %s was removed or cannot be run", printable(program))
	}
	return api.Errorf(api.CodeHostBare, "%s: %s", t, what).
		WithHint("`longterm hosts install %s` copies this one there; or use --install", t)
}

// guarded is what guard needs of a connection.
type guarded interface {
	CloseChan() <-chan struct{}
	Ping() (time.Duration, error)
	Close() error
}

// guard returns when the connection has ended, and ends a dead one. After a sleep or a change of this machine's
// addresses it probes at once, earlier than yamux would.
func guard(ctx context.Context, mux guarded, addresses func() string) {
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
		slept := now.Round(0).Sub(clock.Round(0)) > 5*time.Second // by the wall: the other clock slept, too
		if here != before || slept {
			if !answers(mux) {
				_ = mux.Close()
				return
			}
		}
		before, clock = here, now
	}
}

// probeTime is how long an answer may take where the connection is probably dead.
const probeTime = 3 * time.Second

func answers(mux guarded) bool {
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
