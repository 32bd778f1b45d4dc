//go:build unix

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/filecopy"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/client"
)

func getVerb(a *app, c *cobra.Command) {
	var g filecopy.Get
	c.Long = `Copy a file from a session's host. A PATH is absolute, relative to the session's current directory, or the name of a
file that was stored with ` + "`longterm put`" + `. Without a PATH, list the stored files.

  longterm get -H build work dist/app.tar.gz
  longterm get work report.html -o /tmp
  longterm get work notes.txt -o - | less

A file that exists here is replaced only with --force. The copy is compared with its digest, and appears once it is
complete. Only regular files are copied; pack a directory with tar.

Agents and API tokens can copy stored files only, and none that contains secrets.`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, paths []string) error {
		if len(paths) == 0 {
			if g.Out != "" || g.Force {
				return exit.Usagef("-o and --force require a PATH")
			}
			list, err := s.Files(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(list, func(w io.Writer) { filecopy.WritePaths(w, list, output.Printable) })
		}
		if g.Out == "-" && a.JSON {
			return exit.Usagef("-o - excludes --json")
		}
		g.Stdout = a.Stdout
		got, err := g.Run(cmd.Context(), s, paths[0])
		if err != nil || g.Out == "-" {
			return err
		}
		return a.Print(got, func(w io.Writer) { fmt.Fprintln(w, output.Printable(got.Path)) })
	})
	c.Flags().StringVarP(&g.Out, "output", "o", "", "`FILE` or directory to write; -: standard output")
	c.Flags().BoolVar(&g.Force, "force", false, "replace a file that exists")
}
