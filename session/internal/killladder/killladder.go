// Package killladder ends processes by a row of steps. Each step is one signal and a grace time, so that a program that
// handles an early signal can react.
//
//	SessionSteps, LineSteps, TreeSteps, OrphanSteps   return rows of steps
//	Climb                              performs a row until its target has ended
//
// The Target sends the signals and detects the end: a session's processes, a line's, a program's. The package knows no
// process, keeps no state and starts no goroutine.
package killladder

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// Step is one step of a kill ladder: a signal and the time to wait for its effect.
type Step struct {
	Signal     syscall.Signal // 0: no signal, only wait
	Foreground bool           // sent to the terminal's foreground process group; otherwise to every process
	Grace      time.Duration  // how long the processes may take to exit
}

// IsLast reports whether no further step is possible.
func (s Step) IsLast() bool { return s.Signal == syscall.SIGKILL }

// RepeatAfter returns how long the signal may have no effect on a shell before it should be sent again; 0: it should not. bash
// loses a hang-up that comes right before it reads.
func (s Step) RepeatAfter() time.Duration {
	if s.Signal == syscall.SIGHUP {
		return time.Second
	}
	return 0
}

// LeavesShell reports whether an interactive shell at its prompt survives the signal.
func (s Step) LeavesShell() bool { return s.Signal == syscall.SIGINT || s.Signal == syscall.SIGTERM }

const (
	// reportedKillTime is how long the kernel gets to carry out a SIGKILL and the keeper to report the end.
	reportedKillTime = 15 * time.Second
	// killTime is the same limit without a keeper's report.
	killTime = 5 * time.Second
	// lineKillTime is the limit for a line in a shell that lives on.
	lineKillTime = 2 * time.Second
	// killRepeats bounds the repetitions of SIGKILL for processes that start while others are killed, at an interval of
	// killRepeatInterval.
	killRepeats        = 6
	killRepeatInterval = 400 * time.Millisecond
)

// SessionSteps returns the steps that end a session: Ctrl-C; SIGTERM to everything; SIGHUP, as from a closing terminal,
// which ends interactive shells, as these ignore SIGTERM; and SIGKILL.
func SessionSteps(grace time.Duration) []Step {
	return append(gracefulSteps(grace), Step{Signal: syscall.SIGKILL, Grace: reportedKillTime})
}

// OrphanSteps returns the steps that end sessions whose keeper has died. No other process will kill their processes, so
// SIGKILL is repeated.
func OrphanSteps(grace time.Duration) []Step {
	steps := gracefulSteps(grace)
	for range killRepeats {
		steps = append(steps, Step{Signal: syscall.SIGKILL, Grace: killRepeatInterval})
	}
	return steps
}

// gracefulSteps returns the steps before SIGKILL.
func gracefulSteps(grace time.Duration) []Step {
	return []Step{
		{Signal: syscall.SIGINT, Foreground: true, Grace: grace},
		{Signal: syscall.SIGTERM, Grace: grace},
		{Signal: syscall.SIGHUP, Grace: grace},
	}
}

// LineSteps returns the steps that end a line in a shell after its Ctrl-C, which the caller sends if the line still runs.
// The shell gets no signal.
func LineSteps(grace time.Duration) []Step {
	return []Step{{Grace: grace}, {Signal: syscall.SIGTERM, Grace: grace}, {Signal: syscall.SIGKILL, Grace: lineKillTime}}
}

// TreeSteps returns the steps that end a program and its children: SIGHUP, as from a closing terminal; SIGTERM, for programs
// that ignore SIGHUP; and SIGKILL.
func TreeSteps(grace time.Duration) []Step {
	return []Step{
		{Signal: syscall.SIGHUP, Grace: grace}, {Signal: syscall.SIGTERM, Grace: grace}, {Signal: syscall.SIGKILL, Grace: killTime},
	}
}

// SendResult is the result of a step's signal.
type SendResult uint8

// Results of a step's signal.
const (
	Delivered SendResult = iota // a process may handle the signal: wait for the grace time
	Ignored                     // no process handles the signal: perform the next step at once
	Ended                       // no process was left
	Exiting                     // the receiver is exiting, and its exit will be reported
)

// Target is a group of processes to end.
type Target interface {
	// Send sends a step's signal. An error ends the climb.
	Send(ctx context.Context, s Step) (SendResult, error)
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
		case sent == Exiting:
			return t.Await(ctx, steps[len(steps)-1]), nil
		case sent == Ignored:
			continue
		}
		if awaitOrSkip(ctx, t, s) {
			return true, nil
		}
	}
	return false, nil
}

// skipKey is the context key of WithSkip's channel.
type skipKey struct{}

// WithSkip returns a context with which Climb ends the time of the current step, unless it is the last one, for each value that
// it receives from skip.
func WithSkip(ctx context.Context, skip <-chan struct{}) context.Context {
	return context.WithValue(ctx, skipKey{}, skip)
}

// awaitOrSkip waits until the target has ended, or the step's time is over or skipped. It reports whether the target has ended.
func awaitOrSkip(ctx context.Context, t Target, s Step) bool {
	skip, _ := ctx.Value(skipKey{}).(<-chan struct{})
	if skip == nil || s.IsLast() {
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
