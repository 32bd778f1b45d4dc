//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/session/client"
)

func resizeVerb(a *app, c *cobra.Command) {
	c.Long = "Set a session's size in cells. Attached clients with another size show the part that fits.\n\n  longterm resize work 120x40"
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		cols, rows, err := flagvalues.Size(args[0])
		if err != nil {
			return err
		}
		return s.Resize(cmd.Context(), cols, rows)
	})
	a.Done(c)
}
