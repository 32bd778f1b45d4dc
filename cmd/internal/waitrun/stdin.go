//go:build unix

package waitrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// feedBytes is the largest piece of standard input that is passed on at once.
const feedBytes = 512 << 10

// feed passes standard input on until it ends, or the command closes its input.
func (c *Caller) feed(ctx context.Context, s *client.Session) {
	buf := make([]byte, feedBytes)
	for {
		n, err := c.Stdin.Read(buf)
		if n > 0 {
			if _, terr := s.Type(ctx, api.Input{Data: buf[:n]}); terr != nil {
				c.rejectInput(ctx, s, terr)
				return
			}
		}
		if err != nil {
			endInput(ctx, s)
			return
		}
	}
}

// rejectInput ends the input after a failed request. A command that closed its input or ended is not an error; other
// errors are printed.
func (c *Caller) rejectInput(ctx context.Context, s *client.Session, err error) {
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(c.Stderr, "longterm: standard input ended early for the command: %v\n", err)
	endInput(ctx, s)
}

// endInput closes the command's input, which may have ended meanwhile. Closing it twice is safe, so the request is
// retried after a restart of the daemon.
func endInput(ctx context.Context, s *client.Session) {
	var e *api.Error
	for range 50 {
		if _, err := s.Type(ctx, api.Input{EOF: true}); !errors.As(err, &e) || e.Code != api.CodeUnavailable {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stdinInterval is the interval at which standard input is checked for data that the command will not receive.
const stdinInterval = 200 * time.Millisecond

// hintStdin prints once that standard input has data which the command will not receive.
func (c *Caller) hintStdin(ctx context.Context) {
	for !hasInput(c.Stdin) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(stdinInterval):
		}
	}
	_, _ = io.WriteString(c.Stderr, "longterm: standard input ignored: the command has its own terminal; use --pipe to pass it on\n")
}

// inputHintAfter is the delay before hintInput checks: programs often end or continue sooner.
const inputHintAfter = 2 * time.Second

// hintInput prints once that the program in a session waits for input, as a pager does, and how to answer: otherwise the caller
// would wait without knowing why. named is the caller's name for the session; if it is empty, hintInput uses the session's.
func (c *Caller) hintInput(ctx context.Context, s *client.Session, named string) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(inputHintAfter):
	}
	w, err := s.Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "input"}}, TimeoutMS: -1})
	if err == nil && w.Outcome == "fired" && w.Session.Needs != nil {
		kind := w.Session.Needs.Kind
		fmt.Fprintf(c.Stderr, "longterm: waiting for input (%s): %s\n", kind, answerHint(kind, cmp.Or(named, w.Session.Name)))
	}
}

// hasInput reports whether a file or pipe has data to read. It is false for terminals and /dev/null.
func hasInput(f *os.File) bool {
	st, err := f.Stat()
	switch {
	case err != nil:
		return false
	case st.Mode().IsRegular():
		at, err := f.Seek(0, io.SeekCurrent)
		return err == nil && at < st.Size()
	case st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0:
		return false
	}
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&unix.POLLIN != 0
}
