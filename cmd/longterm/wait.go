//go:build unix

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func waitVerb(a *app, c *cobra.Command) {
	var conds []string
	var all, anyOf bool
	var since string
	var timeout time.Duration
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		w := api.Wait{All: all, TimeoutMS: timeout.Milliseconds()}
		for _, c := range conds {
			cond, err := request.Condition(c)
			if err != nil {
				return err
			}
			w.Conds = append(w.Conds, cond)
		}
		if len(w.Conds) == 0 {
			return exit.Usagef("nothing to wait for; give --for, as in --for text=ready or --for exit")
		}
		if since != "" {
			n, err := strconv.ParseUint(since, 10, 64)
			if err != nil {
				return exit.Usagef("--since %q is not an output offset", since)
			}
			w.Since = &n
		}
		r, err := s.Wait(cmd.Context(), w)
		if err != nil {
			return err
		}
		return a.waited(&r, timeout)
	})
	c.Long = `Wait until a condition holds, and print which one. Conditions:

  text=TEXT     TEXT appears in new output or on a changed row
  regexp=RE     RE (RE2) matches a line of either; also re=RE
  gone=TEXT     TEXT is on no row of the screen; also gone=re=RE
  prompt        the shell waits for a line
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
Exit status 124 on timeout; 4, at once, when the session has ended and the condition can no longer hold.`
	f := c.Flags()
	f.StringArrayVar(&conds, "for", nil, "condition, repeatable")
	f.BoolVar(&all, "all", false, "wait for all conditions")
	f.BoolVar(&anyOf, "any", false, "wait for any condition (the default)")
	f.StringVar(&since, "since", "", "output offset (cursor) after which text counts")
	f.DurationVar(&timeout, "timeout", time.Minute, "give up after this time")
	c.MarkFlagsMutuallyExclusive("all", "any")
}

// goesOn says what a session is doing in which the condition did not hold.
func goesOn(s *api.Session) string {
	if s.State == "running" {
		return "is still running"
	}
	return "has ended (" + output.StateText(s) + "), but processes that it left hold its terminal"
}

func (a *app) waited(r *api.Waited, timeout time.Duration) error {
	err := a.Print(r, func(w io.Writer) {
		for _, f := range r.Fired {
			fmt.Fprintln(w, strings.TrimSuffix(f.Condition.Kind+"="+output.Printable(f.Match), "="))
		}
	})
	if err != nil {
		return err
	}
	switch r.Outcome {
	case "timeout":
		return exit.With(api.ExitTimeout, fmt.Errorf("none of the conditions held within %s; the session %s", timeout, goesOn(&r.Session)))
	case "ended":
		return api.Errorf(api.CodeEnded, "session %s has ended (%s): the condition can no longer hold", r.Session.Name, output.StateText(&r.Session)).
			WithHint("its screen and output can still be read")
	}
	return nil
}
