//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func pasteVerb(a *app, c *cobra.Command) {
	var in api.Input
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		text, err := a.input().Read(args)
		if err != nil {
			return err
		}
		p := string(text)
		in.Paste = &p
		return a.typeIn(cmd, s, in)
	})
	c.Long = "Paste FILE or standard input as one paste: bracketed if the program has enabled bracketed paste.\n\n" +
		"  longterm paste work notes.txt"
	c.Flags().BoolVarP(&in.Enter, "enter", "e", false, "Enter after the text")
	preconditionFlags(c, &in)
	proveFlag(c, &in)
}
