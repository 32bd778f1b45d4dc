//go:build unix

package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
)

func killVerb(a *app, c *cobra.Command) {
	var grace time.Duration
	var k api.KillSeveral
	c.Long = `End the processes of sessions and all their descendants: interrupt, terminate, hang up, kill. Each step gets the
grace time, 10s (exec.grace of the configuration; for agents exec.agent_grace, 2s), and ends early once all processes that
handle its signal have exited. Screens and output stay until "longterm rm". Several end at the same time; if one of
the names is no session's, none of them is ended. --all and --label end those that run, the session this is typed in too.
With --json one name prints its session, as "info" does; several names, --all and --label print "ended" and "failed".`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		several := k.All || len(k.Labels) > 0
		switch {
		case len(args) == 0 && !several:
			return exit.Usagef("which? name sessions, or give --all or --label")
		case len(args) > 0 && several, k.All && len(k.Labels) > 0:
			return exit.Usagef("give names, --all or --label; one of them")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		k.GraceMS = request.GraceMS(cmd, grace)
		if len(args) == 1 {
			info, err := b.client.Session(args[0]).Kill(cmd.Context(), k.Kill)
			if err != nil {
				return err
			}
			return a.Print(info, func(io.Writer) {})
		}
		k.Sessions = args
		done, err := b.client.KillSeveral(cmd.Context(), k)
		if err != nil {
			return err
		}
		if err := a.Print(done, func(io.Writer) {}); err != nil {
			return err
		}
		return a.failed(done.Failed)
	}
	f := c.Flags()
	f.BoolVar(&k.All, "all", false, "all sessions that run")
	f.StringArrayVar(&k.Labels, "label", nil, "those that run with this label, NAME or NAME=VALUE, repeatable")
	f.DurationVar(&grace, "grace", 0, request.GraceHelp)
}

// failed says which of several sessions did not end: the first as the verb's error, the others before it.
func (a *app) failed(list []api.Failed) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list[1:] {
		a.Tell(&list[i+1].Error, a.JSON)
	}
	return &list[0].Error
}
