//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/export"
)

func exportCommand(a *app) *cobra.Command {
	var o export.Flags
	c := &cobra.Command{
		Use: "export S|FILE", Short: "Write what a session printed to a file, as a recording, text or moving picture",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Run(cmd.Context(), &a.Printer, a.session, args[0])
		},
	}
	c.Long = export.Help()
	o.Add(c.Flags())
	return c
}
