//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
)

// runEach runs lines one after the other in a shell of their own, which is removed then.
func (a *app) runEach(cmd *cobra.Command, r *runFlags, args []string) error {
	switch {
	case len(args) == 0 || r.line != "":
		return exit.Usagef("--each is given lines: run --each LINE…")
	case r.Pipe || r.warm || r.Background:
		return exit.Usagef("--each runs lines in a shell on a terminal, and waits for them; leave --pipe, --warm and --background out")
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.forPerson(), a.JSON)
	if err != nil {
		return err
	}
	n, err := r.StartFlags.Request(cmd, nil)
	if err != nil {
		return err
	}
	n.Temporary = !r.keep
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	info, err := b.client.NewSession(ctx, n)
	if err != nil {
		return exit.Refusal(err)
	}
	s := b.client.Session(info.ID)
	if !r.keep {
		defer func() {
			if err := s.Remove(context.WithoutCancel(ctx), true); err != nil && !isGone(err) {
				fmt.Fprintf(a.Stderr, "longterm: %v\n", err)
			}
		}()
	}
	return a.batch(ctx, s, &r.CallFlags, api.Batch{Call: call, Lines: args, Wait: true, StopOnError: r.stop})
}

func isGone(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNotFound
}

// stdinEvery is how often it is looked whether somebody gives us an input in vain.
const stdinEvery = 200 * time.Millisecond

// hintStdin says once that our standard input has something which the command will not get.
func hintStdin(ctx context.Context, a *app) {
	for !hasInput(a.stdin) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(stdinEvery):
		}
	}
	_, _ = io.WriteString(a.Stderr, "longterm: standard input is not read by a command on a terminal of its own; give --pipe to pass it on\n")
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
