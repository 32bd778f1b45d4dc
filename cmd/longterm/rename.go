//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func renameCommand(a *app) *cobra.Command {
	return a.JSONFlag(a.on("rename S NAME", "Give a session another name", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			info, err := s.Edit(cmd.Context(), api.Edit{Name: &args[0]})
			if err != nil {
				return err
			}
			return a.Print(info, nil)
		}))
}
