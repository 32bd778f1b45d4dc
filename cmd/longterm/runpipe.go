//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
)

// `run` on pipes. What the command writes to stdout goes to ours and what it writes to
// stderr to ours, in the order it came, and our standard input goes to it.
//
// A pipe or a file gets the bytes as they are, whatever they are: `run --pipe` is a filter.
// On a terminal they are shown as text, and binary data is only counted. In JSON they are
// text, and binary data is left out. The history has all of it.

// feedBytes is how much of our input is passed on at once.
const feedBytes = 512 << 10

// pipeRequest completes a request with what `run` wants of pipes.
func pipeRequest(a *app, r *runFlags, n *api.NewSession) (capture.Encoding, error) {
	e, err := capture.ParseEncoding(r.encoding)
	if err != nil {
		return e, exit.Usagef("%w", err)
	}
	n.PipeFallback = true
	n.Stdin = !termio.IsTerminal(a.stdin)
	return e, nil
}

// feed passes our standard input on until it ends, or the command reads no more.
func feed(ctx context.Context, a *app, s *client.Session) {
	buf := make([]byte, feedBytes)
	for {
		n, err := a.stdin.Read(buf)
		if n > 0 {
			if _, terr := s.Type(ctx, api.Input{Data: buf[:n]}); terr != nil {
				refused(ctx, a, s, terr)
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
func refused(ctx context.Context, a *app, s *client.Session, err error) {
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: standard input ends here for the command, some of it may be missing: %v\n", err)
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
