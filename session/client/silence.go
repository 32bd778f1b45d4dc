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

// A daemon that is stopped (SIGSTOP) or hangs is connected to all the same: the kernel does that, and no request ever ends. So
// once an answer is late, the daemon is asked something else that it answers at once, if it answers anything: one that does is
// only busy with the request, or waits as it was asked to, and is left alone. Nothing of this is done before an answer is late.

const (
	lateAfter = 3 * time.Second // an answer is, and the daemon is looked at
	lookEvery = 500 * time.Millisecond
	// stoppedLooks is how often in a row a process is seen stopped: one that a debugger or a shell has in its hands goes on soon.
	stoppedLooks = 4
	// wordAfter is how long it answers nothing at all before a person is told. One that the machine has no time for does not.
	wordAfter = 5 * time.Second
	// hangsAfter is how long it is waited for then, where it is not stopped.
	hangsAfter = time.Minute
	// againAfter is when one that answered is looked at again.
	againAfter = 30 * time.Second
)

// Silence is that the daemon answers nothing, not even what takes no time.
type Silence struct {
	PID     int  // of the daemon; 0: not known
	Stopped bool // by a signal: it goes on with SIGCONT
	For     time.Duration
}

// api is the error, with what to do.
func (s Silence) api() *api.Error {
	who, kill := "the daemon", "end its process"
	if s.PID > 0 {
		who, kill = fmt.Sprintf("the daemon (process %d)", s.PID), fmt.Sprintf("end it with `kill -9 %d`", s.PID)
	}
	const goesOn = "sessions go on, and the next command starts another"
	if s.Stopped {
		return api.Errorf(api.CodeUnavailable, "%s is stopped, and answers nothing", who).
			WithHint("`kill -CONT %d` has it go on, with what it was asked by now; or %s: %s", s.PID, kill, goesOn)
	}
	return api.Errorf(api.CodeUnavailable, "%s has not answered anything for %s", who, s.For.Round(time.Second)).
		WithHint("see whether the machine has time for it (`uptime`); or %s: %s", kill, goesOn)
}

// String says it for people, while it is waited for.
func (s Silence) String() string { return s.api().Error() }

// lookout looks whether a daemon is there that answers.
type lookout struct {
	// ask asks the daemon for something that it answers at once. answered is closed when it has, or cannot be asked.
	ask     func(ctx context.Context) (pid int, answered <-chan struct{})
	stopped func(pid int) bool
	tell    func(Silence) // nil: nobody is told
}

// watch begins when an answer is late, and returns why a request that is due at once is to be given up, and the daemon's process;
// nil: ctx, the request's, is over. Of one that is not due, as what it waits for may have happened by the time that the daemon
// goes on, a person is told only.
func (l *lookout) watch(ctx context.Context, due bool) (pid int, err error) {
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
func (l *lookout) attend(ctx context.Context, pid int, answered <-chan struct{}, due bool) error {
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
		s := Silence{pid, stopped >= stoppedLooks, time.Since(began)}
		switch quiet := s.For - lateAfter; {
		case due && (s.Stopped || quiet >= hangsAfter):
			return &finalError{s.api()}
		case !told && l.tell != nil && (s.Stopped || stopped == 0 && quiet >= wordAfter):
			l.tell(s)
			told = true
		}
	}
}

// isStopped says that a process is stopped by a signal. What is not known is not.
func isStopped(pid int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && st.State == 'T'
}

// askAtOnce asks the daemon for a path that it has not: that is refused before anything is looked at, also by one that is
// about to leave.
func (c *Client) askAtOnce(ctx context.Context) (pid int, answered <-chan struct{}) {
	ch := make(chan struct{})
	f, err := unixsock.Dial(c.o.Dirs.Socket())
	if err != nil { // nobody serves it: the request ends by itself
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

// isDue says that the daemon answers a request at once, or nearly so: it waits for nothing that others do.
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
	if pid := int(c.stoppedPID.Load()); due && pid > 0 && isStopped(pid) { // it was when it was asked before
		return nil, &finalError{Silence{PID: pid, Stopped: true}.api()}
	}
	ctx, giveUp := context.WithCancelCause(req.Context())
	looking, answered := context.WithCancel(ctx)
	late := time.AfterFunc(lateAfter, func() {
		l := lookout{ask: c.askAtOnce, stopped: isStopped, tell: c.o.OnSilent}
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

// whySilent is why a stream was not opened in time: the daemon is stopped. nil: it is not, as far as is known.
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
	return &finalError{Silence{PID: pid, Stopped: true}.api()}
}
