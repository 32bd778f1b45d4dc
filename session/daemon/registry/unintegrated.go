//go:build unix

package registry

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shell"
)

// Unintegrated is what is known of a program that is given lines and tells nothing of itself: whose
// turn it is to give it one, and what its lines may have made of its directory and environment.
type Unintegrated struct {
	once sync.Once
	turn chan struct{} // has room while no line is given to it

	mu    sync.Mutex
	guess shell.Guess
}

// Patience is how long a program that does not wait for input gets to do so: it may just have been
// started, or have answered.
const Patience = 2 * time.Second

func (u *Unintegrated) taken() chan struct{} {
	u.once.Do(func() { u.turn = make(chan struct{}, 1) })
	return u.turn
}

// Take waits for the turn of a line: as long as ctx, or for Patience.
func (u *Unintegrated) Take(ctx context.Context, wait bool) error {
	patience := ctx
	if !wait {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	select {
	case u.taken() <- struct{}{}:
		return nil
	case <-patience.Done():
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return api.Errorf(api.CodeBusy, "another line was given to the program, and has not ended").
		WithHint("wait for it (--wait), or use `longterm send` and `longterm wait`")
}

// Give gives the turn to the next line.
func (u *Unintegrated) Give() { <-u.taken() }

// Ran has a line change what the program may be like.
func (u *Unintegrated) Ran(line string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.guess = u.guess.After(line)
}

// Told takes what the program printed of itself when it was given a line.
func (u *Unintegrated) Told(line, output string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.guess = u.guess.Told(line, output)
}

// Guess is what the program may be like.
func (u *Unintegrated) Guess() shell.Guess {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.guess
}
