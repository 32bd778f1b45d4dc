//go:build unix

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func discardVerb(a *app, c *cobra.Command) {
	c.Long = `Discard a session's draft with all its changes, or the changes at some paths. The files themselves were never
changed. The session must have ended.

  longterm discard work
  longterm discard work src/main.go`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, paths []string) error {
		r, err := s.Discard(cmd.Context(), api.Discard{Paths: paths})
		if err != nil {
			return err
		}
		return a.Print(r, func(w io.Writer) { output.WriteDraftResult(w, &r, "discarded") })
	})
}
