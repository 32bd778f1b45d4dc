//go:build unix

package main

import (
	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
)

// `run` on pipes. What the command writes to stdout goes to ours and what it writes to
// stderr to ours, in the order it came, and our standard input goes to it.
//
// A pipe or a file gets the bytes as they are, whatever they are: `run --pipe` is a filter.
// On a terminal they are shown as text, and binary data is only counted. In JSON they are
// text, and binary data is left out. The history has all of it.

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
