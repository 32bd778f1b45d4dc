//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func signalVerb(a *app, c *cobra.Command) {
	var scope string
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		return s.Signal(cmd.Context(), api.Signal{Signal: args[0], Scope: scope})
	})
	c.Flags().StringVar(&scope, "scope", "foreground", "who gets it: child, group, foreground or all")
	a.Done(c)
}
