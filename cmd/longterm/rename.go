//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func renameVerb(a *app, c *cobra.Command) {
	c.Long = "Give a session another name. Its id stays the same.\n\n  longterm rename work shop"
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		info, err := s.Edit(cmd.Context(), api.Edit{Name: &args[0]})
		if err != nil {
			return err
		}
		return a.Print(info, nil)
	})
}
