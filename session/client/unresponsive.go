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
	lateAfter = 3 * time.Second // from the request to the first probe of the daemon
	// checkInterval is the time between checks of a probe.
	checkInterval = 500 * time.Millisecond
	// stoppedChecks is how many consecutive checks must find the process stopped. A debugger or shell resumes it
	// sooner.
	stoppedChecks = 4
	// notifyAfter is how long the daemon must be unresponsive before the user is notified. An overloaded machine also
	// delays it.
	notifyAfter = 5 * time.Second
	// giveUpAfter is how long requests then wait for a daemon that is not stopped.
	giveUpAfter = time.Minute
	// recheckAfter is the time from an answered probe to the next one.
	recheckAfter = 30 * time.Second
)

// UnresponsiveError is the error of a daemon that does not answer even a probe.
type UnresponsiveError struct {
	PID      int           // of the daemon; 0: unknown
	Stopped  bool          // by a signal; SIGCONT resumes it
	Duration time.Duration // without a response
}

// apiError returns the error with a hint.
func (s UnresponsiveError) apiError() *api.Error {
	subject, kill := "the daemon", "end its process"
	if s.PID > 0 {
		subject, kill = fmt.Sprintf("the daemon (process %d)", s.PID), fmt.Sprintf("end it with `kill -9 %d`", s.PID)
	}
	const nextStep = "sessions continue, and the next command starts a new daemon"
	if s.Stopped {
		return api.Errorf(api.CodeUnavailable, "%s is stopped (no response)", subject).
			WithHint("`kill -CONT %d` resumes it and its pending requests; or %s: %s", s.PID, kill, nextStep)
	}
	return api.Errorf(api.CodeUnavailable, "%s has not answered anything for %s", subject, s.Duration.Round(time.Second)).
		WithHint("see whether the machine has time for it (`uptime`); or %s: %s", kill, nextStep)
}

// String returns the message for users during the wait.
func (s UnresponsiveError) String() string { return s.apiError().Error() }

// watchdog checks whether the daemon responds while a request waits.
type watchdog struct {
	// probe sends a request that a working daemon answers at once. answered is closed once the daemon has answered or
	// cannot be reached.
	probe     func(ctx context.Context) (pid int, answered <-chan struct{})
	isStopped func(pid int) bool      // reports whether a process is stopped by a signal
	notify    func(UnresponsiveError) // notifies the user; nil: no notification
}

// watch starts when a response is late. For a request that is due at once, it returns the reason to give up and the
// daemon's PID. For other requests it only notifies the user: the awaited event may happen once the daemon continues.
// It returns nil when ctx ends.
func (l *watchdog) watch(ctx context.Context, due bool) (pid int, err error) {
	for ctx.Err() == nil {
		probeCtx, cancel := context.WithCancel(ctx)
		pid, answered := l.probe(probeCtx)
		err := l.awaitProbe(ctx, pid, answered, due)
		cancel()
		if err != nil {
			return pid, err
		}
		sleep(ctx, recheckAfter)
	}
	return 0, nil
}

// awaitProbe waits until the daemon has answered a probe. It returns the reason to give up, or nil.
func (l *watchdog) awaitProbe(ctx context.Context, pid int, answered <-chan struct{}, due bool) error {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	notified, stopped := false, 0
	for began := time.Now().Add(-lateAfter); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-answered:
			return nil
		case <-tick.C:
		}
		if stopped++; !l.isStopped(pid) {
			stopped = 0
		}
		s := UnresponsiveError{pid, stopped >= stoppedChecks, time.Since(began)}
		switch silence := s.Duration - lateAfter; {
		case due && (s.Stopped || silence >= giveUpAfter):
			return &permanentError{s.apiError()}
		case !notified && l.notify != nil && (s.Stopped || stopped == 0 && silence >= notifyAfter):
			l.notify(s)
			notified = true
		}
	}
}

// isStopped reports whether a process is stopped by a signal; false if unknown.
func isStopped(pid int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && st.State == 'T'
}

// probeDaemon requests a path that does not exist. The daemon rejects that before any other work, even during shutdown.
func (c *Client) probeDaemon(ctx context.Context) (pid int, answered <-chan struct{}) {
	ch := make(chan struct{})
	f, err := unixsock.Dial(c.options.Dirs.Socket())
	if err != nil { // not served: the request fails by itself
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

// isImmediate reports whether the daemon answers a request at once, without waiting for other events.
func isImmediate(urlPath string, q url.Values, body []byte) bool {
	for _, param := range []string{"await_ms", "wait_ms", "on_approval", "reveal"} {
		if q.Has(param) {
			return false
		}
	}
	switch path.Base(urlPath) {
	case "wait", "run", "exec", "batch", "network", "read":
		return false
	}
	return !bytes.Contains(body, []byte(`"on_approval":"wait"`))
}

// doWithWatchdog sends a request, and gives it up if the daemon does not respond.
func (c *Client) doWithWatchdog(req *http.Request, due bool) (*http.Response, error) {
	if c.options.Remote != nil { // RemoteHost detects an unresponsive host
		return c.http.Do(req)
	}
	if pid := int(c.unresponsivePID.Load()); due && pid > 0 && isStopped(pid) { // it was stopped at the last check
		return nil, &permanentError{UnresponsiveError{PID: pid, Stopped: true}.apiError()}
	}
	ctx, giveUp := context.WithCancelCause(req.Context())
	watching, stopWatching := context.WithCancel(ctx)
	late := time.AfterFunc(lateAfter, func() {
		l := watchdog{probe: c.probeDaemon, isStopped: isStopped, notify: c.options.OnUnresponsive}
		if pid, err := l.watch(watching, due); err != nil {
			c.unresponsivePID.Store(int64(pid))
			giveUp(err)
		}
	})
	resp, err := c.http.Do(req.WithContext(ctx))
	late.Stop()
	stopWatching()
	if err != nil {
		if why := context.Cause(ctx); isPermanent(why) {
			err = why
		}
		giveUp(nil)
		return nil, err
	}
	resp.Body = &cancelingBody{resp.Body, giveUp}
	return resp, nil
}

// cancelingBody is the body of a response whose request's context ends when it is closed.
type cancelingBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close closes the body and ends the request.
func (a *cancelingBody) Close() error {
	defer a.cancel(nil)
	return a.ReadCloser.Close()
}

// unresponsiveError returns an error if a stream was not opened in time because the daemon is stopped, else nil.
func (c *Client) unresponsiveError(ctx context.Context, err error) error {
	if c.options.Remote != nil || !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	probeCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	pid, _ := c.probeDaemon(probeCtx)
	if !isStopped(pid) {
		return nil
	}
	return &permanentError{UnresponsiveError{PID: pid, Stopped: true}.apiError()}
}
