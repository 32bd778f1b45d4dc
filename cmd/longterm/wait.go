//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func waitVerb(a *app, c *cobra.Command) {
	var conds []string
	var all, anyOf bool
	var since string
	var timeout, yield time.Duration
	var every bool
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		limit := waitLimit(cmd, timeout)
		timeout := request.FlagOr(cmd, "timeout", timeout, a.settings().Exec.Timeout) // for messages
		w := api.Wait{All: all, TimeoutMS: limit}
		for _, c := range conds {
			cond, err := request.Condition(c)
			if err != nil {
				return err
			}
			w.Conds = append(w.Conds, cond)
		}
		if all && len(w.Conds) == 0 {
			return exit.Usagef("--all requires --for, as in --for text=ready --for prompt")
		}
		if yield < 0 || timeout < 0 {
			return exit.Usagef("--yield and --timeout must not be negative")
		}
		if yield > 0 {
			w.TimeoutMS = max(1, yield.Milliseconds())
		}
		if len(args) > 1 {
			return a.waitForSeveral(cmd.Context(), b.client, args, &multiWait{w, since != "", every, yield > 0, timeout})
		}
		if since != "" {
			n, err := strconv.ParseUint(since, 10, 64)
			if err != nil {
				return exit.Usagef("--since %q: not an output offset", since)
			}
			w.Since = &n
		}
		if w.Conds, err = usualConds(cmd.Context(), b.client.Session(args[0]), w.Conds); err != nil {
			return err
		}
		r, err := b.client.Session(args[0]).Wait(cmd.Context(), w)
		if err != nil {
			return err
		}
		return a.printWaited(&r, timeout, yield > 0)
	}
	c.Long = `Wait until a condition holds in a session, and print which one.

  longterm wait work --for prompt
  longterm wait build --for 'text=BUILD OK' --for exit --timeout 10m

Conditions:

  text=TEXT     TEXT appears in new output or on a changed row
  regexp=RE     RE (RE2) matches such a line; also re=RE
  gone=TEXT     TEXT is on no row of the screen; also gone=re=RE
  prompt        the shell, or the session's REPL, waits for a line
  command       a command of the shell ends
  exit          the session's process ends
  quiet=1s      no new output for this duration; spinners, clocks and progress bars do not count
  input         the program waits for input; only of one kind: input=password, =confirm, =menu, =text, =screen
  agent         the coding agent in the session waits for its user; agent=idle (includes done), =needs_input,
                =needs_approval, =done, =working or =unknown: it is in that state since the last input
  fullscreen    a full-screen program runs (=off: none runs)
  title=TEXT    the window title contains TEXT
  bell          the bell rings
  progress=50   the program reports (OSC 9;4) or prints ([16/40], 40%) at least this percentage
  port=3000     a process of the session accepts connections at this TCP port; port=any: at some port (Linux)
  anomaly       a command prints a line that earlier failures of it printed, and its good runs did not
  cursor=R,C    the cursor is at row R, column C, counted from 0; either may be omitted

Only output since the last input (or --since) counts, even if it arrived before the call; older text and the echo
of the input do not. The same holds for prompt, command, bell and anomaly.

Without --for the conditions are prompt, input and exit; with a coding agent in the session, agent and exit.

Exit status: 124 after a timeout; 4, at once, if the session has ended and the condition can no longer hold, or
if the command has ended without an anomaly.

With --yield TIME the command returns after TIME at the latest, with status 0 even if nothing happened (outcome
"timeout" with --json). Then call it again.

With several sessions it waits until a condition holds, or can no longer hold, in one of them (--every: in all),
and prints the state of each.`
	f := c.Flags()
	f.StringArrayVar(&conds, "for", nil, "`CONDITION`, repeatable")
	f.BoolVar(&all, "all", false, "wait for all conditions")
	f.BoolVar(&anyOf, "any", false, "wait for any condition (default)")
	f.StringVar(&since, "since", "", "output `OFFSET` (cursor) after which text counts")
	f.BoolVar(&every, "every", false, "wait for every session (default: the first)")
	f.DurationVar(&yield, "yield", 0, "time after which to return successfully with the current state")
	f.DurationVar(&timeout, "timeout", 0, "time limit; 0: no limit (default: no limit; for agents exec.timeout, 1m)")
	c.MarkFlagsMutuallyExclusive("all", "any")
	c.MarkFlagsMutuallyExclusive("yield", "timeout")
}

// waitLimit returns --timeout in the form of api.Wait. Without the flag it returns 0, and the daemon chooses the limit: it knows
// whether the caller is an agent.
func waitLimit(cmd *cobra.Command, timeout time.Duration) int64 {
	switch {
	case !cmd.Flags().Changed("timeout"):
		return 0
	case timeout == 0:
		return -1
	}
	return max(1, timeout.Milliseconds())
}

// usualConds returns the given conditions, or the default ones for the session.
func usualConds(ctx context.Context, s *client.Session, given []api.Condition) ([]api.Condition, error) {
	if len(given) > 0 {
		return given, nil
	}
	v, err := s.Info(ctx)
	switch {
	case err != nil:
		return nil, err
	case v.AgentState != nil:
		return []api.Condition{{Kind: "agent"}, {Kind: "exit"}}, nil
	}
	return []api.Condition{{Kind: "prompt"}, {Kind: "input"}, {Kind: "exit"}}, nil
}

// stateText describes the state of the session in which a condition did not hold.
func stateText(s *api.Session) string {
	if s.State == "running" {
		return "is still running"
	}
	return "has ended (" + output.StateText(s) + "), but leftover processes hold its terminal"
}

// matchText returns a condition that held as KIND=MATCH.
func matchText(f *api.Fired) string {
	return strings.TrimSuffix(f.Condition.Kind+"="+output.Printable(f.Match), "=")
}

// heldText returns matchText, with the exit status of a session that has ended.
func heldText(f *api.Fired, s *api.Session) string {
	text := matchText(f)
	if f.Condition.Kind != "exit" {
		return text
	}
	switch {
	case s.ExitCode != nil:
		return fmt.Sprintf("%s: status %d", text, *s.ExitCode)
	case s.Signal != "":
		return text + ": signal " + s.Signal
	case s.State == "running": // leftover processes hold its terminal
		return text
	}
	return text + ": status unknown (" + s.State + ")"
}

// joinHeld returns the texts of conditions that held, as a list.
func joinHeld(fired []api.Fired, text func(*api.Fired) string) string {
	held := make([]string, len(fired))
	for i := range fired {
		held[i] = text(&fired[i])
	}
	return strings.Join(held, ", ")
}

func (a *app) printWaited(r *api.Waited, timeout time.Duration, yields bool) error {
	err := a.Print(r, func(w io.Writer) {
		if yields && r.Outcome == "timeout" {
			fmt.Fprintf(w, "timeout: %s %s\n", r.Session.Name, stateText(&r.Session))
		}
		for _, f := range r.Fired {
			fmt.Fprintln(w, heldText(&f, &r.Session))
		}
	})
	if err != nil {
		return err
	}
	switch r.Outcome {
	case "timeout":
		if yields {
			return nil
		}
		return exit.With(api.ExitTimeout, fmt.Errorf("timeout after %s: no condition held; the session %s", timeout, stateText(&r.Session)))
	case "ended":
		if r.Session.State == "running" {
			return api.Errorf(api.CodeEnded, "session %s: the command ended without an anomaly", r.Session.Name)
		}
		return api.Errorf(api.CodeEnded, "session %s has ended (%s): the condition can no longer hold", r.Session.Name, output.StateText(&r.Session)).
			WithHint("its screen and output remain available; `longterm restore %s` starts it again", r.Session.Name)
	}
	return nil
}

// multiWait holds the parameters of a wait for more than one session.
type multiWait struct {
	api.Wait
	since   bool
	every   bool // wait for all sessions instead of the first one
	yields  bool
	timeout time.Duration
}

// sessionOutcome is the result for one of several sessions.
type sessionOutcome struct {
	Session string `json:"session"` // name as given
	api.Waited
	Why string `json:"why"` // why the condition did not hold
}

// waitForSeveral waits for the first of several sessions, or for all, and prints the state of each.
func (a *app) waitForSeveral(ctx context.Context, c *client.Client, names []string, w *multiWait) error {
	if w.since {
		return exit.Usagef("--since requires one session: it is an offset of its output")
	}
	waits := make([]api.Wait, len(names))
	for i, name := range names { // check that all sessions exist before waiting for any
		if _, err := c.Session(name).Info(ctx); err != nil {
			return err
		}
		waits[i] = w.Wait
		var err error
		if waits[i].Conds, err = usualConds(ctx, c.Session(name), w.Conds); err != nil {
			return err
		}
	}
	list := make([]sessionOutcome, len(names))
	errs := make([]error, len(names))
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() {
			list[i].Session = names[i]
			list[i].Waited, errs[i] = c.Session(names[i]).Wait(first, waits[i])
			if errs[i] != nil && first.Err() != nil { // another session was first
				errs[i] = nil
			} else if !w.every && list[i].Outcome != "timeout" || errs[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return err
	}
	held, over := 0, 0
	for i := range list {
		if list[i].Outcome == "" { // current state
			r, err := c.Session(names[i]).Wait(ctx, api.Wait{Conds: waits[i].Conds, All: w.All, TimeoutMS: 1})
			if err != nil {
				return err
			}
			list[i].Waited = r
		}
		list[i].Why = list[i].why()
		switch list[i].Outcome {
		case "fired":
			held++
		case "ended":
			over++
		}
	}
	err := a.Print(list, func(out io.Writer) {
		for i := range list {
			text := list[i].Why
			if list[i].Outcome == "fired" {
				text = joinHeld(list[i].Fired, func(f *api.Fired) string { return heldText(f, &list[i].Waited.Session) })
			}
			fmt.Fprintf(out, "%s: %s\n", list[i].Waited.Session.Name, text)
		}
	})
	switch {
	case err != nil:
		return err
	case held == len(list), held > 0 && !w.every, w.yields && over == 0:
		return nil
	case over > 0:
		return api.Errorf(api.CodeEnded, "%d of %d sessions or commands have ended without meeting the condition", over, len(list)).
			WithHint("their screens and output remain available")
	}
	return exit.With(api.ExitTimeout, fmt.Errorf("timeout after %s: the condition held in %d of %d sessions", w.timeout, held, len(list)))
}

// why describes the session's result.
func (w *sessionOutcome) why() string {
	switch w.Outcome {
	case "fired":
		return joinHeld(w.Fired, matchText)
	case "ended":
		if w.Waited.Session.State == "running" {
			return "the command ended without an anomaly"
		}
		return "ended (" + output.StateText(&w.Waited.Session) + ")"
	}
	return stateText(&w.Waited.Session)
}
