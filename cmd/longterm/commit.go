//go:build unix

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func commitVerb(a *app, c *cobra.Command) {
	var b api.Commit
	c.Long = `Apply the file changes in a session's draft, or those at some paths, to the files themselves. If one of them was
changed outside too (conflict), nothing is written. Only the user commits: agents are rejected. End the session first with
longterm kill; longterm restore starts it again afterwards, in the same draft if it has other changes, or else in a new one.

  longterm commit work
  longterm commit work src/main.go --dry-run
  longterm commit work --expect ID      # the changes that longterm changes has shown, no others

A commit is atomic for each file, not for all of them together. One that was interrupted is completed by the next.`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, paths []string) error {
		b.Paths = paths
		r, err := s.Commit(cmd.Context(), b)
		if err != nil {
			return err
		}
		return a.Print(r, func(w io.Writer) { output.WriteDraftResult(w, &r, "committed") })
	})
	f := c.Flags()
	f.StringVar(&b.Expect, "expect", "", "`ID` of the changes seen; others are an error")
	f.BoolVar(&b.DryRun, "dry-run", false, "check everything, list it, and write nothing")
	f.BoolVar(&b.AllowSetID, "allow-setid", false, "files with setuid or setgid bits too")
}
