//go:build unix

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/values"
	"github.com/longterm-dev/longterm/session/api"
)

// callFlags are the flags of verbs that run something and wait for its end.
type callFlags struct {
	timeout, idle, yield time.Duration
	onTimeout, onInput   string
	background, parse    bool
	budget               output.BudgetFlags
	format               string
}

func (c *callFlags) register(cmd *cobra.Command, onTimeout string) {
	f := cmd.Flags()
	f.DurationVar(&c.timeout, "timeout", 0, "give up after this time, 1s to 5m, in the background to 24h; 0: no limit (default: exec.timeout of the configuration, 1m; in the background 24h; on a terminal none)")
	f.DurationVar(&c.idle, "idle-timeout", 0, "give up when nothing is printed for this time; 0: never (default: exec.idle_timeout of the configuration, 5m; in the background and on a terminal 0)")
	f.DurationVar(&c.yield, "yield", 0, "come back after this time with what there is; it goes on in the background")
	f.BoolVarP(&c.background, "background", "b", false, "come back at once and print the job's id, for longterm jobs")
	f.StringVar(&c.onTimeout, "on-timeout", onTimeout, "what to do when a clock runs out: kill it and all it started, or leave it in the background")
	f.StringVar(&c.onInput, "on-input", "wait", "what to do when it waits for input: wait, or return")
	f.StringVar(&c.format, "format", "", "text: the whole result as labelled text, for a model to read (default: what is printed)")
	f.BoolVar(&c.parse, "parse", false, "with --json, read the output as what the command prints: problems, tests, listings")
	f.IntVar(&c.budget.Bytes, "max-output", 0, "bytes of output to print, head and tail; what reads the rest stands between them (default: all, with --json 16384)")
	f.IntVar(&c.budget.Line, "max-line", 0, "bytes of one line to print, head and tail (default: all)")
}

// call makes the request's part. What was not given is the daemon's to choose.
func (c *callFlags) call(a *app, cmd *cobra.Command) (api.Call, error) {
	conf := &a.settings().Exec // as the daemon reads it, for what we say
	wall, idle := conf.Timeout, conf.IdleTimeout
	person := a.forPerson() && !c.background
	if person { // who sees what it does, and has Ctrl-C
		wall, idle = 0, 0
	}
	c.timeout, c.idle = givenOr(cmd, "timeout", c.timeout, wall), givenOr(cmd, "idle-timeout", c.idle, idle)
	r := api.Call{
		YieldMS: c.yield.Milliseconds(), Background: c.background, OnInput: c.onInput,
		Parse: c.parse, MaxOutput: c.budget.Bytes, MaxLine: c.budget.Line,
	}
	if c.timeout < 0 || c.idle < 0 || c.yield < 0 {
		return r, exit.Usagef("--timeout, --idle-timeout and --yield must not be negative")
	}
	if err := c.budget.Check(); err != nil {
		return r, err
	}
	if c.parse && !a.JSON {
		return r, exit.Usagef("--parse is for --json; give that as well")
	}
	if err := values.OneOf("--format", c.format, "", "text"); err != nil {
		return r, err
	}
	if c.format != "" && a.JSON {
		return r, exit.Usagef("both --json and --format are given; give one of them")
	}
	if err := values.OneOf("--on-timeout", c.onTimeout, "kill", "background"); err != nil {
		return r, err
	}
	if err := values.OneOf("--on-input", c.onInput, "wait", "return"); err != nil {
		return r, err
	}
	if cmd.Flags().Changed("on-timeout") { // else a caller who goes away takes a line along
		r.OnTimeout = c.onTimeout
	}
	if person || cmd.Flags().Changed("timeout") {
		r.TimeoutMS = wholeMS(c.timeout)
	}
	if person || cmd.Flags().Changed("idle-timeout") {
		r.IdleTimeoutMS = wholeMS(c.idle)
	}
	return r, nil
}

// wholeMS is a time as requests have it. What is more than none stays more than none.
func wholeMS(d time.Duration) *int64 {
	ms := d.Milliseconds()
	if d > 0 {
		ms = max(1, ms)
	}
	return &ms
}

// forPerson says that somebody sits before it: keys come from a terminal, and what is
// printed goes to one.
func (a *app) forPerson() bool {
	return !a.JSON && termio.IsTerminal(a.stdin) && termio.IsTerminal(a.Stdout)
}

// resultStatus is the exit status of what was run: its own, or ours where it has none.
func (c *callFlags) resultStatus(r *api.Result) error {
	what := "it goes on in the session"
	switch {
	case r.State == "waiting" && r.TimedOut != "none":
		what = "it was not begun: the shell runs something else"
	case !output.IsOpen(r.State):
		what = "it was ended"
	case r.State == "needs_input":
		what += fmt.Sprintf(" and waits for input (%s); answer with `longterm send %s TEXT -e`", r.Needs, r.Session[:8])
	case r.TimedOut != "none":
		what += fmt.Sprintf("; `longterm jobs wait %s` waits for its end", r.Job[:min(8, len(r.Job))])
	}
	switch {
	case r.Error != "" && len(r.Answers) > 0 && r.Answers[len(r.Answers)-1].Error != "":
		return exit.With(api.ExitOwnFailure, fmt.Errorf("a rule ended it: %s", r.Error))
	case r.TimedOut == "wall":
		return exit.With(api.ExitTimeout, fmt.Errorf("no end within %s (--timeout); %s", c.timeout, what))
	case r.TimedOut == "idle":
		return exit.With(api.ExitTimeout, fmt.Errorf("nothing was printed for %s (--idle-timeout); %s", c.idle, what))
	case r.State == "needs_input":
		return exit.With(api.RefusedNeedsInput, fmt.Errorf("it waits for input (%s); answer with `longterm send %s TEXT -e`", r.Needs, r.Session[:8]))
	case output.IsOpen(r.State):
		return exit.With(api.ExitTimeout, fmt.Errorf("%s; `longterm jobs wait %s` waits for its end", what, r.Job[:8]))
	}
	return endStatus(r)
}

// endStatus is the exit status of what has ended.
func endStatus(r *api.Result) error {
	switch {
	case r.ExitCode != nil && *r.ExitCode == 0:
		return nil
	case r.ExitCode != nil:
		return exit.Silent(*r.ExitCode)
	case r.Signal != "":
		return exit.Silent(128 + int(unix.SignalNum(r.Signal)))
	case r.Error != "":
		return exit.With(api.ExitOwnFailure, errors.New(r.Error))
	}
	if r.State == "exited" { // nothing went wrong: whoever is given lines, as a REPL, tells no status
		return exit.With(api.ExitOwnFailure, errors.New("its exit status is not known; it was given to a program that tells none: judge by what it printed"))
	}
	return exit.With(api.ExitOwnFailure, errors.New("its exit status is not known"))
}
