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

func sendCommand(a *app) *cobra.Command {
	var in api.Input
	c := a.on("send S TEXT", "Type text as it is", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			in.Text = args[0]
			return a.typeIn(cmd, s, in)
		})
	c.Flags().BoolVarP(&in.Enter, "enter", "e", false, "press Enter afterwards")
	c.Flags().BoolVar(&in.EOF, "eof", false, "afterwards close the standard input of a session on pipes (new --pipe --stdin)")
	expectFlag(c, &in)
	return a.JSONFlag(c)
}

func keysCommand(a *app) *cobra.Command {
	var in api.Input
	c := a.on("keys S KEY…", "Press keys", cobra.MinimumNArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			in.Keys = args
			return a.typeIn(cmd, s, in)
		})
	c.Long = "Press keys, one after the other: single characters, or names such as Enter, Escape, Tab, BSpace, Up,\n" +
		"PageUp, F5, with modifiers as in C-c, M-x, S-Tab, C-M-Up. The bytes follow the terminal's current modes."
	expectFlag(c, &in)
	return a.JSONFlag(c)
}

func pasteCommand(a *app) *cobra.Command {
	var in api.Input
	c := a.on("paste S [FILE]", "Paste a file, or standard input", cobra.RangeArgs(1, 2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			text, err := a.input().Read(args)
			if err != nil {
				return err
			}
			p := string(text)
			in.Paste = &p
			return a.typeIn(cmd, s, in)
		})
	c.Long = "Paste a file, or standard input, as one paste: bracketed when the program asked for that."
	c.Flags().BoolVarP(&in.Enter, "enter", "e", false, "press Enter afterwards")
	expectFlag(c, &in)
	return a.JSONFlag(c)
}
