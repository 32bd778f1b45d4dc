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
		timeout := request.GivenOr(cmd, "timeout", timeout, a.settings().Exec.Timeout) // for messages
		w := api.Wait{All: all, TimeoutMS: limit}
		for _, c := range conds {
			cond, err := request.Condition(c)
			if err != nil {
				return err
			}
			w.Conds = append(w.Conds, cond)
		}
		if all && len(w.Conds) == 0 {
			return exit.Usagef("--all of nothing; give --for, as in --for text=ready --for prompt")
		}
		if yield < 0 || timeout < 0 {
			return exit.Usagef("--yield and --timeout must not be negative")
		}
		if yield > 0 {
			w.TimeoutMS = max(1, yield.Milliseconds())
		}
		if len(args) > 1 {
			return a.waitForSeveral(cmd.Context(), b.client, args, &several{w, since != "", every, yield > 0, timeout})
		}
		if since != "" {
			n, err := strconv.ParseUint(since, 10, 64)
			if err != nil {
				return exit.Usagef("--since %q is not an output offset", since)
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
		return a.waited(&r, timeout, yield > 0)
	}
	c.Long = `Wait until a condition holds, and print which one. Conditions:

  text=TEXT     TEXT appears in new output or on a changed row
  regexp=RE     RE (RE2) matches a line of either; also re=RE
  gone=TEXT     TEXT is on no row of the screen; also gone=re=RE
  prompt        the shell waits for a line; in a session whose program is a REPL, that does
  command       a command of the shell ends
  exit          the session's process ends
  quiet=1s      no new output for that long; spinners, clocks and progress bars do not count as new
  input         the program waits for input; input=password, =confirm, =menu, =text or =screen: of that kind
  agent         the coding agent in it waits for its person; agent=idle (done, too), =needs_input,
                =needs_approval, =done, =working or =unknown: it is in that state since the last input
  fullscreen    a full-screen program runs (=off: none does)
  title=TEXT    the window title contains TEXT
  bell          the bell rings
  progress=50   the program reports (OSC 9;4) or prints ([16/40], 40%) at least this percentage
  cursor=R,C    the cursor is at row R, column C, from 0; either may be left out

Text counts from the last input to the session (or from --since): what was printed since then counts, even
before the call; older text and the echo of the input do not. The same holds for prompt, command and bell.
Exit status 124 on timeout; 4, at once, when the session has ended and the condition can no longer hold. With --yield it
answers after that time in any case, with status 0 and "timeout" as outcome in --json: then wait again.

Without --for it waits for a prompt, a question or the end, whichever comes first; of a session with a coding agent, until
the agent waits for its person, or for its end. With --all give --for.

Of several sessions it waits for the first in which a condition holds or no longer can (--every: for all of them), and says
of each how it stands.`
	f := c.Flags()
	f.StringArrayVar(&conds, "for", nil, "condition, repeatable")
	f.BoolVar(&all, "all", false, "wait for all conditions")
	f.BoolVar(&anyOf, "any", false, "wait for any condition (the default)")
	f.StringVar(&since, "since", "", "output offset (cursor) after which text counts")
	f.BoolVar(&every, "every", false, "of several sessions wait for every one; default: for the first")
	f.DurationVar(&yield, "yield", 0, "answer after this time with how it stands, as success")
	f.DurationVar(&timeout, "timeout", 0, "time limit; 0: no limit (default: no limit; for agents exec.timeout of the configuration, 1m)")
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

// usualConds are the conditions given, or where there are none those that one waits for as a rule in a session.
func usualConds(ctx context.Context, s *client.Session, given []api.Condition) ([]api.Condition, error) {
	if len(given) > 0 {
		return given, nil
	}
	v, err := s.Info(ctx)
	switch {
	case err != nil:
		return nil, err
	case v.AgentIs != nil:
		return []api.Condition{{Kind: "agent"}, {Kind: "exit"}}, nil
	}
	return []api.Condition{{Kind: "prompt"}, {Kind: "input"}, {Kind: "exit"}}, nil
}

// goesOn says what a session is doing in which the condition did not hold.
func goesOn(s *api.Session) string {
	if s.State == "running" {
		return "is still running"
	}
	return "has ended (" + output.StateText(s) + "), but processes that it left hold its terminal"
}

func (a *app) waited(r *api.Waited, timeout time.Duration, yields bool) error {
	err := a.Print(r, func(w io.Writer) {
		if yields && r.Outcome == "timeout" {
			fmt.Fprintf(w, "timeout: %s %s\n", r.Session.Name, goesOn(&r.Session))
		}
		for _, f := range r.Fired {
			fmt.Fprintln(w, strings.TrimSuffix(f.Condition.Kind+"="+output.Printable(f.Match), "="))
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
		return exit.With(api.ExitTimeout, fmt.Errorf("none of the conditions held within %s; the session %s", timeout, goesOn(&r.Session)))
	case "ended":
		return api.Errorf(api.CodeEnded, "session %s has ended (%s): the condition can no longer hold", r.Session.Name, output.StateText(&r.Session)).
			WithHint("its screen and output can still be read")
	}
	return nil
}

// several is what is waited for in more than one session.
type several struct {
	api.Wait
	since   bool
	every   bool
	yields  bool
	timeout time.Duration
}

// waitedFor is how a session stands of several that are waited for.
type waitedFor struct {
	Session string `json:"session"` // as it was named
	api.Waited
	Why string `json:"why"`
}

// waitForSeveral waits for the first of several sessions, or for all, and says how each stands.
func (a *app) waitForSeveral(ctx context.Context, c *client.Client, names []string, w *several) error {
	if w.since {
		return exit.Usagef("--since is an offset of one session; leave it out, or wait for one")
	}
	waits := make([]api.Wait, len(names))
	for i, name := range names { // each is there, before any is waited for
		if _, err := c.Session(name).Info(ctx); err != nil {
			return err
		}
		waits[i] = w.Wait
		var err error
		if waits[i].Conds, err = usualConds(ctx, c.Session(name), w.Conds); err != nil {
			return err
		}
	}
	list := make([]waitedFor, len(names))
	errs := make([]error, len(names))
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() {
			list[i].Session = names[i]
			list[i].Waited, errs[i] = c.Session(names[i]).Wait(first, waits[i])
			if errs[i] != nil && first.Err() != nil { // another one was first
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
		if list[i].Outcome == "" { // as it stands now
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
			fmt.Fprintf(out, "%s: %s\n", list[i].Waited.Session.Name, list[i].Why)
		}
	})
	switch {
	case err != nil:
		return err
	case held == len(list), held > 0 && !w.every, w.yields && over == 0:
		return nil
	case over > 0:
		return api.Errorf(api.CodeEnded, "%d of %d sessions have ended without what was waited for", over, len(list)).
			WithHint("their screens and output can still be read")
	}
	return exit.With(api.ExitTimeout, fmt.Errorf("the conditions held in %d of %d sessions within %s", held, len(list), w.timeout))
}

// why says in words how a session stands.
func (w *waitedFor) why() string {
	switch w.Outcome {
	case "fired":
		var held []string
		for _, f := range w.Fired {
			held = append(held, strings.TrimSuffix(f.Condition.Kind+"="+output.Printable(f.Match), "="))
		}
		return strings.Join(held, ", ")
	case "ended":
		return "ended (" + output.StateText(&w.Waited.Session) + ")"
	}
	return goesOn(&w.Waited.Session)
}
