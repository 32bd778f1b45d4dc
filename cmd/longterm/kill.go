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
	c.Long = `End the processes of sessions and all their descendants with the kill ladder: interrupt, terminate, hang up,
kill. Each step waits for the grace time, 10s (exec.grace; for agents exec.agent_grace, 2s), or until all processes
that handle its signal have exited. Screens and output are kept until ` + "`longterm rm`" + `.

  longterm kill work
  longterm kill --label build=42

Several sessions end at the same time. If one of the names is unknown, none is ended. --all and --label select
running sessions, including the one in which the command runs. With --json and one name it prints that session, as info
does; several names, --all and --label print "ended" and "failed".`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		several := k.All || len(k.Labels) > 0
		switch {
		case len(args) == 0 && !several:
			return exit.Usagef("no session given; use names, --all or --label")
		case len(args) > 0 && several, k.All && len(k.Labels) > 0:
			return exit.Usagef("names, --all and --label exclude each other")
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
		return a.reportFailures(done.Failed)
	}
	f := c.Flags()
	f.BoolVar(&k.All, "all", false, "all running sessions")
	f.StringArrayVar(&k.Labels, "label", nil, "running sessions with this `LABEL`, NAME or NAME=VALUE; repeatable")
	f.DurationVar(&grace, "grace", 0, request.GraceHelp)
}

// reportFailures prints the failures of several sessions; the first one becomes the verb's error.
func (a *app) reportFailures(list []api.Failed) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list[1:] {
		a.PrintError(&list[i+1].Error, a.JSON)
	}
	return &list[0].Error
}
