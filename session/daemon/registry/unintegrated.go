//go:build unix

package registry

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shell"
)

// Unintegrated tracks a program without shell integration that receives lines: the caller whose turn it is, and the
// likely directory and environment after its lines.
type Unintegrated struct {
	once sync.Once
	turn chan struct{} // semaphore of 1: held by the caller whose line runs

	mu    sync.Mutex
	guess shell.Guess
}

// ReadyTimeout is how long a program that does not wait for input gets to do so: it may just have been started, or have
// answered.
const ReadyTimeout = 2 * time.Second

// turnC returns turn, created at first use.
func (u *Unintegrated) turnC() chan struct{} {
	u.once.Do(func() { u.turn = make(chan struct{}, 1) })
	return u.turn
}

// AcquireTurn waits for the turn of a line: as long as ctx, or for ReadyTimeout.
func (u *Unintegrated) AcquireTurn(ctx context.Context, wait bool) error {
	patience := ctx
	if !wait {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, ReadyTimeout)
		defer cancel()
	}
	select {
	case u.turnC() <- struct{}{}:
		return nil
	case <-patience.Done():
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return api.Errorf(api.CodeBusy, "another line was given to the program, and has not ended").
		WithHint("wait for it (--wait), or use `longterm send` and `longterm wait`")
}

// ReleaseTurn releases the turn to the next line.
func (u *Unintegrated) ReleaseTurn() { <-u.turnC() }

// NoteLine updates the guess with a line.
func (u *Unintegrated) NoteLine(line string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.guess = u.guess.AfterLine(line)
}

// ObserveOutput updates the guess with the output of a line.
func (u *Unintegrated) ObserveOutput(line, output string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.guess = u.guess.Update(line, output)
}

// Guess returns the likely state of the program.
func (u *Unintegrated) Guess() shell.Guess {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.guess
}
