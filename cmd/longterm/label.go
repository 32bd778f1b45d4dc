//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func labelVerb(a *app, c *cobra.Command) {
	c.Long = "Set labels of a session. Verbs such as ls, wait and kill select sessions by label. An empty VALUE removes a label.\n\n" +
		"  longterm label work project=shop owner="
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		labels, err := flagvalues.Pairs(args, "label")
		if err != nil {
			return err
		}
		info, err := s.Edit(cmd.Context(), api.Edit{Labels: labels})
		if err != nil {
			return err
		}
		return a.Print(info, nil)
	})
}
