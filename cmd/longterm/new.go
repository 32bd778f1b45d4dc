//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/shortcut"
	"github.com/longterm-dev/longterm/session/client"
)

func newVerb(a *app, c *cobra.Command) {
	var start request.StartFlags
	var asking request.AskFlags
	c.Long = "Start CMD, or the user's shell, in a session that outlives this terminal, and print the session's id."
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := start.Request(cmd, args)
		if err != nil {
			return err
		}
		n.Asking = asking.Asking()
		if shortcut.Sent {
			return client.WentAway(errors.New("its answer broke off"))
		}
		n.AskID = shortcut.AskID
		b, err := a.connect()
		if err != nil {
			return err
		}
		s, err := b.client.NewSession(cmd.Context(), n)
		if err != nil {
			return exit.Judged(err)
		}
		return a.Print(s, func(w io.Writer) { fmt.Fprintln(w, s.ID) })
	}
	start.Register(c)
	asking.Register(c, &a.agent)
	c.Flags().BoolVar(&start.Stdin, "stdin", false, "with --pipe: have a standard input that send types into, instead of none")
	c.Flags().StringVar(&start.Restore, "restore", "", "what to start when the machine or the keeper went down under it: never, shell or command (default: shells.restore of the configuration)")
}
