//go:build unix

package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func execVerb(a *app, c *cobra.Command) {
	var x api.Exec
	var flags request.CallFlags
	var asking request.AskFlags
	var answers request.RespondFlags
	var kill, each, stop, hosts bool
	var named string
	inSession := a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		var err error
		if x.Call, err = flags.Call(cmd, &a.settings().Exec, a.JSON); err != nil {
			return err
		}
		x.Asking = asking.Asking()
		x.Job = cmp.Or(x.Job, shortcut.ID)
		if kill {
			x.OnTimeout = "kill"
		}
		if x.Respond, err = answers.Request(a.input()); err != nil {
			return err
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		c := a.caller(b)
		c.Named = named
		if each {
			if x.Respond != nil {
				return exit.Usagef("rules are given with one line; --each has several")
			}
			return c.Batch(cmd.Context(), s, &flags, api.Batch{Call: x.Call, Asking: x.Asking, Lines: args, Wait: x.Wait, StopOnError: stop, Sandbox: x.Sandbox, OnDifference: x.OnDifference})
		}
		x.Line = strings.Join(args, " ")
		return c.Exec(cmd.Context(), s, &flags, x)
	})
	run := func(cmd *cobra.Command, args []string) error {
		if hosts {
			call, err := flags.Call(cmd, &a.settings().Exec, a.JSON)
			if err != nil {
				return err
			}
			call.OnTimeout = "kill" // a session of its own is nobody's to go on with
			return a.execOnEachHost(cmd.Context(), api.Run{Call: call, NewSession: api.NewSession{
				Line: strings.Join(args, " "), Sandbox: x.Sandbox, OnDifference: x.OnDifference,
			}})
		}
		named = args[0]
		return inSession(cmd, args)
	}
	c.Long = `Flags stand before LINE, before or after S. Everything after LINE's first word belongs to LINE; one of exec's
own flags there is refused, unless -- stands before LINE.

Run LINE in a session's shell, whose directory, variables, functions and jobs persist, and print its output.
The exit status is LINE's own. A shell that is running something else refuses, unless --wait is given. When
a timeout expires the line continues in the background, unless --kill is given; the exit status is 124 then,
and the output so far is printed. With --each every argument is a separate line, and the exit status is that
of the last one that ran. When LINE was refused the exit status says why: 113 no such session, 115 the
session has ended, 116 the shell is busy, 117 the program is not a shell, 118 it waits for input (with
--on-input return also while LINE runs), 119 the rules deny it, 123 the person who was asked rejected it, 112
invalid line; 125 when longterm failed or the end was not seen. A REPL has no status
for a line: exec exits with 0 once it is at its prompt again, with a note on standard error. A shell whose statuses longterm
cannot see (ssh, a shell in the shell, as with --foreign) or an unknown program: exec exits with 125, since LINE may have
failed. With --json "exit_code" is null then, "state" is "exited", "outcome" is "stable", and "exit_unknown" is "none" or
"not_reported". Interrupted (Ctrl-C), exec ends LINE, prints the output so far, and exits
with 130. A second Ctrl-C sends the next signal (SIGTERM, then SIGKILL) at once.`
	flags.Register(c, "background")
	f := c.Flags()
	f.BoolVar(&kill, "kill", false, "the same as --on-timeout kill")
	f.BoolVar(&x.Wait, "wait", false, "wait for the shell's prompt")
	f.BoolVar(&x.Foreign, "foreign", false, "when the shell runs a program that waits for input (a REPL, ssh), give LINE to that program; its exit status is not known")
	f.StringVar(&x.Sandbox, "sandbox", "", "refuse unless the session was started in this sandbox profile, or a stricter one")
	f.StringVar(&x.OnDifference, "on-difference", "", "refuse unless the session's sandbox answers what its profile does not list so: deny or ask")
	f.BoolVar(&x.History, "history", false, "record LINE in the shell's history, like typed lines (shells.history)")
	f.BoolVar(&each, "each", false, "every argument is a line: run them one after the other, each with its own timeouts")
	asking.Register(c, &a.agent)
	asking.RegisterTimeout(c)
	answers.Register(c)
	f.BoolVar(&stop, "stop-on-error", false, "with --each, stop after a line that fails")
	f.BoolVar(&hosts, "each-host", false, "instead of in a session, run LINE in a shell of its own on each host of the fleet (as \"longterm fleet run --each-host\" does with a command)")
	f.SetInterspersed(false) // what follows belongs to LINE
	c.RunE = execArgs(func(cmd *cobra.Command, args []string) error { return exit.Own(run(cmd, args)) })
}

// withEachHost are the flags that go with --each-host.
var withEachHost = []string{"each-host", "timeout", "idle-timeout", "sandbox", "on-difference", "max-output", "max-line", "json", "host", "install"}

// execOnEachHost runs a line in a shell of its own on each host of the fleet that takes sessions.
func (a *app) execOnEachHost(ctx context.Context, r api.Run) error {
	hosts, of, err := a.onFleet(ctx)
	if err != nil {
		return err
	}
	fits, err := (&fleets.Want{}).Fits(hosts)
	if err != nil {
		return err
	}
	return fleets.RunEach(ctx, &a.Printer, fits, of, r)
}

// eachHostArgs refuses what makes no sense with --each-host; named: a session stands before it.
func eachHostArgs(cmd *cobra.Command, line []string, named bool) error {
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(withEachHost, f.Name) {
			wrong = exit.Usagef("--%s does not go with --each-host", f.Name)
		}
	})
	switch {
	case wrong != nil:
		return wrong
	case named:
		return exit.Usagef("--each-host takes no session: the line runs in a shell of its own on each host")
	case len(line) == 0:
		return exit.Usagef("a line is needed, as in `longterm exec --each-host -- uptime`")
	case cmd.Flags().ArgsLenAtDash() < 0:
		return misplaced(cmd, line)
	}
	return nil
}

// misplaced refuses a flag of exec's own that stands after LINE's first word: whether it is
// meant for exec or for LINE cannot be told, and either guess does harm.
func misplaced(cmd *cobra.Command, line []string) error {
	for _, word := range line[min(1, len(line)):] {
		name, ok := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "help" && cmd.Flags().Lookup(name) != nil {
			return exit.Usagef("--%s stands after LINE; put it before, or -- before LINE if it is a part of it, as in `exec … -- %s`", name, strings.Join(line, " "))
		}
	}
	return nil
}

// execArgs lets flags stand before and after the session's name, and nowhere else.
func execArgs(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("each-host") {
			if err := eachHostArgs(cmd, args, false); err != nil {
				return err
			}
			return run(cmd, args)
		}
		if len(args) > 0 {
			name := args[0]
			if err := cmd.Flags().Parse(args[1:]); err != nil {
				return exit.Usagef("%w; see `%s --help`", err, cmd.CommandPath())
			}
			if cmd.Flags().Changed("each-host") {
				return eachHostArgs(cmd, nil, true)
			}
			line := cmd.Flags().Args()
			if cmd.Flags().ArgsLenAtDash() < 0 {
				if err := misplaced(cmd, line); err != nil {
					return err
				}
			}
			args = append([]string{name}, line...)
		}
		if len(args) < 2 {
			return exit.Usagef("a session and a line are needed; usage: %s", cmd.UseLine())
		}
		return run(cmd, args)
	}
}
