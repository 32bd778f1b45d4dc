//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func signalVerb(a *app, c *cobra.Command) {
	var scope string
	c.Long = "Send a signal, such as INT or TERM, to processes of a session. To end a session use `longterm kill`.\n\n" +
		"  longterm signal work HUP --scope child"
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		return s.Signal(cmd.Context(), api.Signal{Signal: args[0], Scope: scope})
	})
	c.Flags().StringVar(&scope, "scope", "foreground", "receiving `PROCESSES`: child, group, foreground or all")
	a.Done(c)
}
