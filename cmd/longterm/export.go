//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/export"
)

func exportVerb(a *app, c *cobra.Command) {
	var o export.Flags
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return o.Run(cmd.Context(), &a.Printer, a.session, args[0])
	}
	c.Long = export.Help()
	o.Add(c.Flags())
	c.Flags().BoolVar(&o.Reveal, "reveal", false, revealHelp)
}
