//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/session/client"
)

func resizeVerb(a *app, c *cobra.Command) {
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		cols, rows, err := values.Size(args[0])
		if err != nil {
			return err
		}
		return s.Resize(cmd.Context(), cols, rows)
	})
	a.Done(c)
}
