//go:build !unix

package program

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/longterm-dev/longterm/session/ring"
)

// newHost always fails, as this system has no PTY. Cmd.Main works everywhere.
func newHost(*Cmd, string, *ring.Ring, *retention) (host, int, error) {
	return nil, 0, fmt.Errorf("start a program: %w on %s: programs in a terminal need a Unix", errors.ErrUnsupported, runtime.GOOS)
}
