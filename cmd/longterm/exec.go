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
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/shellquote"
)

func execVerb(a *app, c *cobra.Command) {
	var x api.Exec
	var flags request.CallFlags
	var asking request.ApprovalFlags
	var answers request.RespondFlags
	var kill, each, stop, hosts bool
	var named string
	inSession := a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		var err error
		if x.Call, err = flags.Call(cmd, &a.settings().Exec, a.JSON); err != nil {
			return err
		}
		x.ApprovalOptions = asking.Options()
		x.Job = cmp.Or(x.Job, fastpath.ID)
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
		c.SessionRef = named
		if each {
			if x.Respond != nil {
				return exit.Usagef("response rules exclude --each")
			}
			return c.Batch(cmd.Context(), s, &flags, api.Batch{Call: x.Call, ApprovalOptions: x.ApprovalOptions, Lines: args, Wait: x.Wait, StopOnError: stop, Sandbox: x.Sandbox, OnDifference: x.OnDifference})
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
			call.OnTimeout = "kill" // the new session must not keep running in the background
			return a.execOnEachHost(cmd.Context(), api.Run{Call: call, NewSession: api.NewSession{
				Line: strings.Join(args, " "), Sandbox: x.Sandbox, OnDifference: x.OnDifference,
			}})
		}
		named = args[0]
		return inSession(cmd, args)
	}
	c.Long = `Run LINE in the shell of session S, print its output, and return its exit status. The shell keeps its
directory, variables, functions and jobs between lines.

  longterm exec work make test
  longterm exec work --timeout 5m -- make test --json

Flags go before LINE, before or after S. Everything after LINE's first word belongs to LINE. A flag of exec after
that is an error, unless -- precedes LINE.

A busy shell rejects LINE; --wait waits for its prompt. After a timeout the exit status is 124, the output so far
is printed, and LINE continues in the background; --kill ends it instead. With --each every argument is a
separate line, and the exit status is that of the last line that ran.

Exit status if LINE was rejected: 112 invalid line, 113 no such session, 115 session ended, 116 shell busy,
117 not a shell, 118 waits for input (with --on-input return also while LINE runs), 119 denied by the rules,
123 rejected by the user. 125: longterm failed, or the end of LINE was not seen.

A REPL reports no exit status: exec exits with 0 at its next prompt, with a note on standard error. If longterm
cannot see a status (ssh, a nested shell with --foreign, an unknown program), exec exits with 125, because LINE
may have failed. With --json "exit_code" is null then, "state" is "exited", "outcome" is "stable", and
"exit_unknown" is "none" or "not_reported".

Ctrl-C interrupts LINE; exec prints the output so far and exits with 130. A second Ctrl-C sends the next signal
(SIGTERM, then SIGKILL) at once.`
	flags.Register(c, "background")
	f := c.Flags()
	f.BoolVar(&kill, "kill", false, "short form of --on-timeout kill")
	f.BoolVar(&x.Wait, "wait", false, "wait for the shell's prompt if it is busy")
	f.BoolVar(&x.Foreign, "foreign", false, "pass LINE to the program that waits for input in the shell (a REPL, ssh); no exit status")
	f.StringVar(&x.Sandbox, "sandbox", "", "required sandbox `PROFILE` of the session, or a stricter one")
	f.StringVar(&x.OnDifference, "on-difference", "", "required `ANSWER` of the session's sandbox for accesses that its profile does not list: deny or ask")
	f.BoolVar(&x.History, "history", false, "entry for LINE in the shell's history, as for typed lines (shells.history)")
	f.BoolVar(&each, "each", false, "one line per argument, run in order, each with its own timeouts")
	asking.Register(c, &a.agent)
	asking.RegisterTimeout(c)
	answers.Register(c)
	f.BoolVar(&stop, "stop-on-error", false, "with --each: stop after the first line that fails")
	f.BoolVar(&hosts, "each-host", false, "run LINE in a new shell on each host of the fleet instead of a session (for a command: longterm fleet run --each-host)")
	f.SetInterspersed(false) // the following arguments belong to LINE
	c.RunE = execArgs(func(cmd *cobra.Command, args []string) error { return exit.Internal(run(cmd, args)) })
}

// withEachHost lists the flags that are allowed with --each-host.
var withEachHost = []string{"each-host", "timeout", "idle-timeout", "sandbox", "on-difference", "max-output", "max-line", "json", "host", "install"}

// execOnEachHost runs a line in a new shell on each host of the fleet that accepts sessions.
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

// eachHostArgs rejects arguments that exclude --each-host. named reports that a session precedes it.
func eachHostArgs(cmd *cobra.Command, line []string, named bool) error {
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(withEachHost, f.Name) {
			wrong = exit.Usagef("--%s excludes --each-host", f.Name)
		}
	})
	switch {
	case wrong != nil:
		return wrong
	case named:
		return exit.Usagef("--each-host: no session allowed (LINE runs in a new shell on each host)")
	case len(line) == 0:
		return exit.Usagef("LINE missing; use `longterm exec --each-host -- uptime`")
	case cmd.Flags().ArgsLenAtDash() < 0:
		return checkMisplacedFlags(cmd, line)
	}
	return nil
}

// checkMisplacedFlags rejects a flag of exec after LINE's first word. It could belong to exec or to LINE, and a wrong guess does
// harm.
func checkMisplacedFlags(cmd *cobra.Command, line []string) error {
	for _, word := range line[min(1, len(line)):] {
		name, ok := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "help" && cmd.Flags().Lookup(name) != nil {
			return exit.Usagef("--%s after LINE; move it before LINE, or put -- before LINE if it is part of it, as in `exec … -- %s`", name, shellquote.Line(line))
		}
	}
	return nil
}

// execArgs accepts flags before and after the session's name, and nowhere else.
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
				if err := checkMisplacedFlags(cmd, line); err != nil {
					return err
				}
			}
			args = append([]string{name}, line...)
		}
		if len(args) < 2 {
			return exit.Usagef("session or LINE missing; usage: %s", cmd.UseLine())
		}
		return run(cmd, args)
	}
}
