//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// typeIn types and prints the cursor that a later wait or output goes on from.
func (a *app) typeIn(cmd *cobra.Command, s *client.Session, in api.Input) error {
	t, err := s.Type(cmd.Context(), in)
	if err != nil {
		return err
	}
	return a.Print(t, nil)
}

func expectFlag(c *cobra.Command, in *api.Input) {
	c.Flags().Uint64Var(&in.ExpectVersion, "expect-version", 0, "refuse when the screen is not at this version any more")
}

func sendVerb(a *app, c *cobra.Command) {
	var in api.Input
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		in.Text = args[0]
		return a.typeIn(cmd, s, in)
	})
	c.Flags().BoolVarP(&in.Enter, "enter", "e", false, "press Enter afterwards")
	c.Flags().BoolVar(&in.EOF, "eof", false, "afterwards close the standard input of a session on pipes (new --pipe --stdin)")
	expectFlag(c, &in)
}
