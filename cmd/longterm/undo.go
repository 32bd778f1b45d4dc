//go:build unix

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

func undoVerb(a *app, c *cobra.Command) {
	c.Long = `Restore the files of a session's draft to what they were before command N of its shell. Later commands are undone
too. The session must be running. Background jobs count as part of the command that ran when they wrote.

  longterm commands work          # numbers of the commands
  longterm changes work --command 7
  longterm undo work:7`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		run, err := parseRunRef(args[0])
		if err != nil {
			return err
		}
		if run.n == 0 {
			return exit.Usagef("%q: no command; write `longterm undo SESSION:NUMBER`", args[0])
		}
		s, err := a.session(run.session)
		if err != nil {
			return err
		}
		r, err := s.Undo(cmd.Context(), api.Undo{Command: run.n})
		if err != nil {
			return err
		}
		return a.Print(r, func(w io.Writer) {
			for _, p := range r.Paths {
				fmt.Fprintln(w, output.Printable(p))
			}
			fmt.Fprintf(w, "%d paths restored\n", len(r.Paths))
		})
	}
}
