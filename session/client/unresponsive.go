//go:build unix

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// The kernel accepts connections for a daemon that is stopped (SIGSTOP) or hangs, and no request ever ends. So once a
// response is late, the client sends a probe that a working daemon answers at once. A daemon that answers the probe is
// only busy or waiting as requested. Nothing of this happens before a response is late.

const (
	lateAfter = 3 * time.Second // an answer is, and the daemon is looked at
	lookEvery = 500 * time.Millisecond
	// stoppedLooks is how many consecutive checks must find the process stopped. A debugger or shell resumes it sooner.
	stoppedLooks = 4
	// wordAfter is how long the daemon must be silent before the user is notified. An overloaded machine also delays
	// it.
	wordAfter = 5 * time.Second
	// hangsAfter is how long it is waited for then, where it is not stopped.
	hangsAfter = time.Minute
	// againAfter is when one that answered is looked at again.
	againAfter = 30 * time.Second
)

// UnresponsiveError is that the daemon answers nothing, not even what takes no time.
type UnresponsiveError struct {
	PID     int  // of the daemon; 0: not known
	Stopped bool // by a signal; SIGCONT resumes it
	For     time.Duration
}

// api returns the error with a hint.
func (s UnresponsiveError) api() *api.Error {
	who, kill := "the daemon", "end its process"
	if s.PID > 0 {
		who, kill = fmt.Sprintf("the daemon (process %d)", s.PID), fmt.Sprintf("end it with `kill -9 %d`", s.PID)
	}
	const goesOn = "sessions continue, and the next command starts a new daemon"
	if s.Stopped {
		return api.Errorf(api.CodeUnavailable, "%s is stopped (no response)", who).
			WithHint("`kill -CONT %d` resumes it and its pending requests; or %s: %s", s.PID, kill, goesOn)
	}
	return api.Errorf(api.CodeUnavailable, "%s has not answered anything for %s", who, s.For.Round(time.Second)).
		WithHint("see whether the machine has time for it (`uptime`); or %s: %s", kill, goesOn)
}

// String returns the message for users during the wait.
func (s UnresponsiveError) String() string { return s.api().Error() }

// watchdog looks whether a daemon is there that answers.
type watchdog struct {
	// ask sends the daemon a probe. answered is closed once it has answered, or cannot be reached.
	ask     func(ctx context.Context) (pid int, answered <-chan struct{})
	stopped func(pid int) bool
	tell    func(UnresponsiveError) // nil: no notification
}

// watch starts when a response is late. It returns why to give up a request that is due at once, and the daemon's
// process; nil if the request's ctx ended. For other requests it only notifies the user: the awaited event may happen
// once the daemon continues.
func (l *watchdog) watch(ctx context.Context, due bool) (pid int, err error) {
	for ctx.Err() == nil {
		asking, over := context.WithCancel(ctx)
		pid, answered := l.ask(asking)
		err := l.attend(ctx, pid, answered, due)
		over()
		if err != nil {
			return pid, err
		}
		sleep(ctx, againAfter)
	}
	return 0, nil
}

// attend waits until the daemon has answered.
func (l *watchdog) attend(ctx context.Context, pid int, answered <-chan struct{}, due bool) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told, stopped := false, 0
	for began := time.Now().Add(-lateAfter); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-answered:
			return nil
		case <-tick.C:
		}
		if stopped++; !l.stopped(pid) {
			stopped = 0
		}
		s := UnresponsiveError{pid, stopped >= stoppedLooks, time.Since(began)}
		switch quiet := s.For - lateAfter; {
		case due && (s.Stopped || quiet >= hangsAfter):
			return &finalError{s.api()}
		case !told && l.tell != nil && (s.Stopped || stopped == 0 && quiet >= wordAfter):
			l.tell(s)
			told = true
		}
	}
}

// isStopped reports whether a process is stopped by a signal; false if unknown.
func isStopped(pid int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && st.State == 'T'
}

// askAtOnce requests a path that does not exist. The daemon rejects that before any other work, even during shutdown.
func (c *Client) askAtOnce(ctx context.Context) (pid int, answered <-chan struct{}) {
	ch := make(chan struct{})
	f, err := unixsock.Dial(c.o.Dirs.Socket())
	if err != nil { // not served: the request ends by itself
		close(ch)
		return 0, ch
	}
	_, pid, _ = sys.PeerOf(f)
	end := context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		defer close(ch)
		defer func() {
			if end() {
				_ = f.Close()
			}
		}()
		_, err := io.WriteString(f, "GET "+api.Version+"/alive HTTP/1.1\r\nHost: longterm\r\nConnection: close\r\n\r\n")
		if err == nil {
			_, _ = f.Read(make([]byte, 1))
		}
	}()
	return pid, ch
}

// isDue reports whether the daemon answers a request at once: it does not wait for other events.
func isDue(at string, q url.Values, body []byte) bool {
	for _, waits := range []string{"await_ms", "wait_ms", "on_approval", "reveal"} {
		if q.Has(waits) {
			return false
		}
	}
	switch path.Base(at) {
	case "wait", "run", "exec", "batch", "network", "read":
		return false
	}
	return !bytes.Contains(body, []byte(`"on_approval":"wait"`))
}

// patiently makes a request, and gives it up when the daemon answers nothing.
func (c *Client) patiently(req *http.Request, due bool) (*http.Response, error) {
	if c.o.Way != nil { // whether a host over there answers is the way's to know
		return c.http.Do(req)
	}
	if pid := int(c.stoppedPID.Load()); due && pid > 0 && isStopped(pid) { // it was stopped at the last check
		return nil, &finalError{UnresponsiveError{PID: pid, Stopped: true}.api()}
	}
	ctx, giveUp := context.WithCancelCause(req.Context())
	looking, answered := context.WithCancel(ctx)
	late := time.AfterFunc(lateAfter, func() {
		l := watchdog{ask: c.askAtOnce, stopped: isStopped, tell: c.o.OnSilent}
		if pid, err := l.watch(looking, due); err != nil {
			c.stoppedPID.Store(int64(pid))
			giveUp(err)
		}
	})
	resp, err := c.http.Do(req.WithContext(ctx))
	late.Stop()
	answered()
	if err != nil {
		if why := context.Cause(ctx); isFinal(why) {
			err = why
		}
		giveUp(nil)
		return nil, err
	}
	resp.Body = &answer{resp.Body, giveUp}
	return resp, nil
}

// answer is the body of one whose request ends with it.
type answer struct {
	io.ReadCloser
	over context.CancelCauseFunc
}

func (a *answer) Close() error {
	defer a.over(nil)
	return a.ReadCloser.Close()
}

// whySilent returns the reason why a stream was not opened in time if the daemon is stopped, else nil.
func (c *Client) whySilent(ctx context.Context, err error) error {
	if c.o.Way != nil || !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	asking, over := context.WithCancel(ctx)
	defer over()
	pid, _ := c.askAtOnce(asking)
	if !isStopped(pid) {
		return nil
	}
	return &finalError{UnresponsiveError{PID: pid, Stopped: true}.api()}
}
