//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func signalCommand(a *app) *cobra.Command {
	var scope string
	c := a.on("signal S SIGNAL", "Send a signal to a session's processes", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			return s.Signal(cmd.Context(), api.Signal{Signal: args[0], Scope: scope})
		})
	c.Flags().StringVar(&scope, "scope", "foreground", "who gets it: child, group, foreground or all")
	return c
}
