//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// TestLeftOnTheWay checks that a signal that arrives before the session is attached is reported like a later one, and
// nothing else is.
//
// FEATURES: R75
func TestLeftOnTheWay(t *testing.T) {
	interrupted := fmt.Errorf("connecting: %w", context.Canceled)
	for name, c := range map[string]struct {
		leaving chan os.Signal
		err     error
		status  int
		says    string
	}{
		"told to leave":    {told(syscall.SIGTERM), interrupted, 128 + 15, "left "},
		"of another cause": {told(syscall.SIGTERM), errors.New("no such session"), exit.Status(errors.New("x")), "no such session"},
		"interrupted":      {told(), interrupted, exit.Status(interrupted), "connecting"},
		"no terminal":      {nil, interrupted, exit.Status(interrupted), "connecting"},
		"nothing":          {told(syscall.SIGTERM), nil, 0, ""},
	} {
		err := detachedError(c.leaving, c.err)
		if got := exit.Status(err); got != c.status || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: status %d, want %d: %v", name, got, c.status, err)
		}
	}
}

// told returns a channel on which signals have arrived.
func told(signals ...os.Signal) chan os.Signal {
	c := make(chan os.Signal, 4)
	for _, s := range signals {
		c <- s
	}
	return c
}
