// Package ladder is the one way in which processes are ended: a row of steps, each a signal and the
// time it gets to work, alone, so that what handles an earlier one can.
//
//	Session, Line, Tree, Lost    the rows there are
//	Climb                        goes through one, until its target has ended
//
// Who gets a signal, whether anybody heeds it and what the end is are the Target's: a session's
// processes, a line's, a program's. The package knows no process, keeps no state and starts no
// goroutine.
package ladder

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// Step is a rung.
type Step struct {
	Signal     syscall.Signal // 0: none is sent, there is only time
	Foreground bool           // to what is in the foreground of the terminal; else to every process
	Grace      time.Duration  // how long it gets to work
}

// Last says that nothing can be done after the step.
func (s Step) Last() bool { return s.Signal == syscall.SIGKILL }

const (
	// killedTime is how long the kernel gets to carry a SIGKILL out and the end to be told.
	killedTime = 15 * time.Second
	// killTime is that where no keeper has to tell of it.
	killTime = 5 * time.Second
	// lineTime is that for a line in a shell, which lives on.
	lineTime = 2 * time.Second
	// sweeps bounds killing those who were born while others were killed, sweepTime between.
	sweeps    = 6
	sweepTime = 400 * time.Millisecond
)

// Session ends a session: Ctrl-C, SIGTERM to everything, SIGHUP, which is what a closing terminal
// says and what ends interactive shells, who ignore SIGTERM, and SIGKILL.
func Session(grace time.Duration) []Step {
	return append(asked(grace), Step{Signal: syscall.SIGKILL, Grace: killedTime})
}

// Lost ends sessions whose keeper is gone: no other process will, so the last word is said until nothing
// is left.
func Lost(grace time.Duration) []Step {
	steps := asked(grace)
	for range sweeps {
		steps = append(steps, Step{Signal: syscall.SIGKILL, Grace: sweepTime})
	}
	return steps
}

func asked(grace time.Duration) []Step {
	return []Step{
		{Signal: syscall.SIGINT, Foreground: true, Grace: grace},
		{Signal: syscall.SIGTERM, Grace: grace},
		{Signal: syscall.SIGHUP, Grace: grace},
	}
}

// Line ends a line in a shell after its Ctrl-C, which is sent by who knows that the line still runs.
// The shell hears nothing of it.
func Line(grace time.Duration) []Step {
	return []Step{{Grace: grace}, {Signal: syscall.SIGTERM, Grace: grace}, {Signal: syscall.SIGKILL, Grace: lineTime}}
}

// Tree ends a program and what it started: what the closing of a terminal says, a polite word for
// those that do not mind, and the last word.
func Tree(grace time.Duration) []Step {
	return []Step{
		{Signal: syscall.SIGHUP, Grace: grace}, {Signal: syscall.SIGTERM, Grace: grace}, {Signal: syscall.SIGKILL, Grace: killTime},
	}
}

// Sent is how a step's signal went.
type Sent uint8

const (
	Heard   Sent = iota // a process may heed it: it gets its time
	Unheard             // no process there heeds it: the next step comes at once
	Ended               // there was no process left
	Leaving             // who was to get it is being let go: the end is about to be told
)

// Target is what is to end.
type Target interface {
	// Send does a step's part. An error ends the climb.
	Send(ctx context.Context, s Step) (Sent, error)
	// Await waits for the end, up to the step's grace, and reports whether it came. It returns false early once
	// all processes that handle the step's signal have exited.
	Await(ctx context.Context, s Step) bool
}

// Climb performs the steps until the target has ended, and reports whether it has. It performs the next step as
// soon as Await returns false, also before the step's time is over. It continues to the last step when ctx is
// done: Await then returns at once.
func Climb(ctx context.Context, steps []Step, t Target) (ended bool, err error) {
	for _, s := range steps {
		sent, err := t.Send(ctx, s)
		switch {
		case err != nil:
			return false, err
		case sent == Ended:
			return true, nil
		case sent == Leaving:
			return t.Await(ctx, steps[len(steps)-1]), nil
		case sent == Unheard:
			continue
		}
		if awaitOrSkip(ctx, t, s) {
			return true, nil
		}
	}
	return false, nil
}

type skipKey struct{}

// WithSkip returns a context with which Climb ends the time of the current step, unless it is the last one, for each value that
// it receives from skip.
func WithSkip(ctx context.Context, skip <-chan struct{}) context.Context {
	return context.WithValue(ctx, skipKey{}, skip)
}

// awaitOrSkip waits until the target has ended, or the step's time is over or skipped. It reports whether the target has ended.
func awaitOrSkip(ctx context.Context, t Target, s Step) bool {
	skip, _ := ctx.Value(skipKey{}).(<-chan struct{})
	if skip == nil || s.Last() {
		return t.Await(ctx, s)
	}
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-skip:
			cancel()
		case <-ctx.Done():
		}
	})
	ended := t.Await(ctx, s)
	cancel()
	watch.Wait()
	return ended
}
