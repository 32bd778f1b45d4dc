//go:build unix

package foreground

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

// feedBytes is how much of our input is passed on at once.
const feedBytes = 512 << 10

// feed passes our standard input on until it ends, or the command reads no more.
func (c *Caller) feed(ctx context.Context, s *client.Session) {
	buf := make([]byte, feedBytes)
	for {
		n, err := c.Stdin.Read(buf)
		if n > 0 {
			if _, terr := s.Type(ctx, api.Input{Data: buf[:n]}); terr != nil {
				c.refused(ctx, s, terr)
				return
			}
		}
		if err != nil {
			endInput(ctx, s)
			return
		}
	}
}

// refused ends the input after it could not be passed on. A command that closed its input
// or ended did not want it; anything else is said.
func (c *Caller) refused(ctx context.Context, s *client.Session, err error) {
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(c.Stderr, "longterm: standard input ends here for the command, some of it may be missing: %v\n", err)
	endInput(ctx, s)
}

// endInput closes the command's input, which may have ended meanwhile. Closing it twice is
// fine, so a daemon that was replaced is asked again.
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

// stdinEvery is how often our standard input is checked for data that the command will not get.
const stdinEvery = 200 * time.Millisecond

// hintStdin says once that our standard input has something which the command will not get.
func (c *Caller) hintStdin(ctx context.Context) {
	for !hasInput(c.Stdin) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(stdinEvery):
		}
	}
	_, _ = io.WriteString(c.Stderr, "longterm: standard input is not read by a command on a terminal of its own; give --pipe to pass it on\n")
}

// inputHintAfter is the time before hintInput looks: programs often end, or get their answer, sooner.
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

// hasInput says that a file or a pipe has something to read. A terminal and /dev/null never
// have.
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
