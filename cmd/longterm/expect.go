//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/expectrun"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/session/expect"
)

func expectVerb(a *app, c *cobra.Command) {
	x := expectrun.Runner{Printer: &a.Printer, Stdin: a.stdin}
	var vars []string
	var schema bool
	c.Long = `Run a script (YAML, docs/expect.md) that starts programs, waits for their questions, answers, and checks.
Each step is shown as it is done. The program runs in a session of its own, which can be watched
meanwhile (longterm attach) and is removed at the end unless --keep is given; or the script uses an
existing session (--session).

With --record, work in the program as usual: what you do becomes a script. What is typed while the
terminal does not echo is not recorded; the script refers to a variable of the environment instead.

Exit status: 0 the script ran to its end, 1 it failed, 2 it has errors or the command line has,
3 no such session, 5 the daemon cannot be reached, 130 interrupted.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if schema {
			_, err := a.Stdout.Write(expect.Schema())
			return err
		}
		return a.expect(cmd, &x, vars, args)
	}
	f := c.Flags()
	f.StringArrayVar(&vars, "var", nil, "NAME=VALUE of a variable, repeatable")
	f.StringVarP(&x.Session, "session", "s", "", "use this session instead of a new one")
	f.StringVarP(&x.Name, "name", "n", "", "name of the new session")
	f.StringVar(&x.JUnit, "junit", "", "write a report as JUnit XML to this file")
	f.StringVar(&x.Recording, "record", "", "record a script to this file")
	f.BoolVar(&x.Check, "check", false, "only check the script")
	f.BoolVar(&schema, "schema", false, "print the JSON Schema of scripts, for editors")
	f.BoolVar(&x.Keep, "keep", false, "keep the session")
	c.MarkFlagsMutuallyExclusive("check", "schema", "record")
	c.MarkFlagsMutuallyExclusive("session", "record")
}

func (a *app) expect(cmd *cobra.Command, x *expectrun.Runner, vars, args []string) error {
	switch {
	case x.Recording != "" && len(args) == 0:
		return exit.Usagef("no command to record; give it after --, as in `longterm expect --record out.yaml -- ssh host`")
	case x.Recording == "" && len(args) != 1:
		return exit.Usagef("one script is needed; usage: %s", cmd.UseLine())
	}
	var script *expect.Script
	if x.Recording == "" {
		x.Path = args[0]
		var err error
		if x.Vars, err = values.Pairs(vars, "--var"); err != nil {
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
