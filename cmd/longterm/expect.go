//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/expectrun"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/session/expect"
)

func expectVerb(a *app, c *cobra.Command) {
	x := expectrun.Runner{Printer: &a.Printer, Stdin: a.stdin}
	var vars []string
	var schema bool
	c.Long = `Run a script (YAML, see ` + "`longterm help expect`" + `) that starts programs, waits for their prompts, answers and checks
results. Each step is printed when it is done.

  longterm expect login.yaml --var USER=ann
  longterm expect --record login.yaml -- ssh host

The program runs in a new session, which you can watch (longterm attach) and which is removed at the end unless
--keep is given. --session uses an existing session instead.

With --record, use the program as usual: your input becomes a script. Input that the terminal does not echo,
such as a password, is not recorded; the script uses an environment variable in its place.

Exit status: 0 the script succeeded, 1 it failed, 2 script or command line invalid,
3 no such session, 5 daemon unreachable, 130 interrupted.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if schema {
			_, err := a.Stdout.Write(expect.Schema())
			return err
		}
		return a.expect(cmd, &x, vars, args)
	}
	f := c.Flags()
	f.StringArrayVar(&vars, "var", nil, "variable as `NAME=VALUE`, repeatable")
	f.StringVarP(&x.Session, "session", "s", "", "existing `SESSION` to use instead of a new one")
	f.StringVarP(&x.Name, "name", "n", "", "`NAME` of the new session")
	f.StringVar(&x.JUnit, "junit", "", "`FILE` for a report as JUnit XML")
	f.StringVar(&x.Recording, "record", "", "`FILE` for the recorded script")
	f.BoolVar(&x.Check, "check", false, "check of the script without a run")
	f.BoolVar(&schema, "schema", false, "JSON Schema of scripts, for editors")
	f.BoolVar(&x.Keep, "keep", false, "keep the session after the end")
	c.MarkFlagsMutuallyExclusive("check", "schema", "record")
	c.MarkFlagsMutuallyExclusive("session", "record")
}

func (a *app) expect(cmd *cobra.Command, x *expectrun.Runner, vars, args []string) error {
	switch {
	case x.Recording != "" && len(args) == 0:
		return exit.Usagef("command missing; put it after --, as in `longterm expect --record out.yaml -- ssh host`")
	case x.Recording == "" && len(args) != 1:
		return exit.Usagef("one script required; usage: %s", cmd.UseLine())
	}
	var script *expect.Script
	if x.Recording == "" {
		x.Path = args[0]
		var err error
		if x.Vars, err = flagvalues.Pairs(vars, "--var"); err != nil {
			return err
		}
		if script, err = x.Load(); err != nil || x.Check {
			return err
		}
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	x.Client = b.client
	if x.Recording != "" {
		x.DetachKey = a.settings().Attach.DetachKey
		return x.Record(cmd.Context(), args)
	}
	return x.Run(cmd.Context(), script)
}
