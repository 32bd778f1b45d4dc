//go:build unix

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
)

func changesVerb(a *app, c *cobra.Command) {
	var command int
	c.Long = `List the files that a session with a draft (new --draft, run --draft) added, changed or deleted. The files
themselves are as before until the changes are committed. Without a session, list the drafts.

  longterm changes work
  longterm commit work        # apply them
  longterm discard work       # or discard them

A conflict is a file that was changed outside too since the draft began; it is not committed. The id at the end
names these changes: with --expect, commit applies no others. The draft of a removed session has the session's id.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			b, err := a.connect()
			if err != nil {
				return err
			}
			list, err := b.client.Drafts(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(list, func(w io.Writer) { output.WriteDrafts(w, list, a.TableLook()) })
		}
		s, err := a.session(args[0])
		if err != nil {
			return err
		}
		d, err := s.Changes(cmd.Context(), command)
		if err != nil {
			return err
		}
		return a.Print(d, func(w io.Writer) { output.WriteChanges(w, &d) })
	}
	c.Flags().IntVar(&command, "command", 0, "only changes during the command with this `NUMBER`")
}
