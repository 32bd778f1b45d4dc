//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func keysVerb(a *app, c *cobra.Command) {
	var in api.Input
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		in.Keys = args
		return a.typeIn(cmd, s, in)
	})
	c.Long = "Press keys in order: single characters, or names such as Enter, Escape, Tab, BSpace, Up, PageUp, F5, with\n" +
		"modifiers as in C-c, M-x, S-Tab, C-M-Up. The bytes follow the terminal's current modes.\n\n" +
		"  longterm keys work C-c\n" +
		"  longterm keys editor Escape : w q Enter"
	preconditionFlags(c, &in)
	proveFlag(c, &in)
}
