//go:build unix

package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/filecopy"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/client"
)

func putVerb(a *app, c *cobra.Command) {
	var p filecopy.Put
	c.Long = `Store copies of files with a session, on the session's host, and print their paths there. Programs in the session
can read them, also in a sandbox. No file is replaced: a second shot.png becomes shot-2.png. The files are removed
with the session.

  longterm put work shot.png --type
  longterm put -H build work data.tar
  make log | longterm put work - --as build.log

--type pastes the quoted paths into the session, as ` + "`longterm paste`" + ` does, without Enter. A FILE of - is standard input.
files.max_size of the configuration limits each file, files.max_total all of a session.`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, files []string) error {
		p.Stdin = a.stdin
		done, err := p.Run(cmd.Context(), s, files)
		if len(done) == 0 && err != nil {
			return err
		}
		return errors.Join(a.Print(done, func(w io.Writer) { filecopy.WritePaths(w, done, output.Printable) }), err)
	})
	c.Flags().BoolVar(&p.Type, "type", false, "paste the paths into the session")
	c.Flags().StringVar(&p.As, "as", "", "`NAME` of the stored file")
}
