//go:build unix

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/client"
)

func suggestCommand(a *app) *cobra.Command {
	return a.JSONFlag(a.on("suggest S", "Suggest what to do after a session's newest command", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, _ []string) error {
			list, err := s.Suggest(cmd.Context(), 0)
			if err != nil {
				return err
			}
			return a.Print(list, func(w io.Writer) {
				for _, x := range list {
					fmt.Fprintf(w, "%s  # %s\n", output.Printable(x.Command), output.Printable(x.Reason))
				}
			})
		}))
}
