//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/values"
	"github.com/longterm-dev/longterm/session/client"
)

func resizeCommand(a *app) *cobra.Command {
	return a.on("resize S COLSxROWS", "Change a session's size in cells", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			cols, rows, err := values.Size(args[0])
			if err != nil {
				return err
			}
			return s.Resize(cmd.Context(), cols, rows)
		})
}
