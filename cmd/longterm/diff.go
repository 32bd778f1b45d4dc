//go:build unix

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/client"
)

func diffVerb(a *app, c *cobra.Command) {
	c.Long = `Show what a session with a draft changed, as a unified diff against the files outside. A PATH is relative to the
draft's directory, as longterm changes shows it, or absolute; a directory includes all in it.

  longterm diff work
  longterm diff work src main.go
  longterm diff work:12 work:15

Two runs SESSION:NUMBER are compared as by ` + "`longterm why`" + `: lines, errors and tests of the first that the second does not have.`
	ofDraft := a.onSession(func(cmd *cobra.Command, s *client.Session, paths []string) error {
		d, err := s.Diff(cmd.Context(), paths)
		if err != nil {
			return err
		}
		if err := a.Print(d, func(w io.Writer) { _, _ = io.WriteString(w, output.ForAgent(d.Text)) }); err != nil {
			return err
		}
		if d.Truncated && !a.JSON {
			fmt.Fprintln(a.Stderr, "longterm: diff truncated; name paths to see the rest")
		}
		return nil
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 || !isRun(args[0]) || !isRun(args[1]) {
			return ofDraft(cmd, args)
		}
		w, err := a.explainFailure(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.printComparison(&w)
	}
}

// isRun reports whether an argument names a command of a session.
func isRun(arg string) bool {
	run, err := parseRunRef(arg)
	return err == nil && run.n > 0
}
