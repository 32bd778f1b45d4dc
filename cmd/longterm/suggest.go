//go:build unix

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/client"
)

func suggestVerb(a *app, c *cobra.Command) {
	c.Long = "Suggest commands to run after a session's newest command, with the reason: to fix its error or, after success, next steps " +
		"from the directory's files and its earlier commands. Nothing runs by itself.\n\n" +
		"  longterm suggest work"
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		list, err := s.Suggest(cmd.Context(), 0)
		if err != nil {
			return err
		}
		if len(list) == 0 && !a.JSON {
			fmt.Fprintln(a.Stderr, "longterm: no suggestions for the newest command; see `longterm errors` for its errors")
		}
		return a.Print(list, func(w io.Writer) {
			for _, x := range list {
				fmt.Fprintf(w, "%s  # %s\n", output.Printable(x.Command), output.Printable(x.Reason))
			}
		})
	})
}
