// Command longterm keeps terminals alive and makes them usable by programs.
//
// Each verb has a file of its own. wire.go is the only place that knows every
// package; verbs get what they need from app.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is the whole program; it returns the exit status.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever asks twice is obeyed at once
	a := newApp()
	a.args = args
	defer a.close()
	root := rootCommand(a, args)
	root.SetArgs(args)
	return a.exitStatus(root.ExecuteContext(ctx))
}

// exitError ends the program with a status and, if there is one, no further word: the
// verb has said what there was to say.
type exitError struct {
	code int
	err  error // nil: say nothing
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitStatus says what went wrong and turns it into the exit status (docs/cli).
func (a *app) exitStatus(err error) int {
	if err == nil {
		return 0
	}
	var exit *exitError
	if errors.As(err, &exit) && exit.err == nil {
		return exit.code
	}
	a.tell(err)
	var apiErr *api.Error
	var usage usageError
	switch {
	case exit != nil:
		return exit.code
	case errors.As(err, &apiErr):
		return apiErr.ExitStatus()
	case errors.As(err, &usage):
		return api.ExitUsage
	case errors.Is(err, context.Canceled):
		return api.ExitInterrupted
	}
	return api.ExitFailure
}
