//go:build unix

package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/projectrun"
)

func downVerb(a *app, c *cobra.Command) {
	var file string
	var remove bool
	c.Long = `End the sessions that ` + "`longterm up`" + ` started for this directory's project: the named ones, or all, newest first, including
sessions that the project file no longer lists. Sessions that depend on a named one keep running.

  longterm down
  longterm down web --rm

The history is kept, and the next up starts the sessions again below it. --rm removes the history, also of
sessions that up --replace replaced.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := a.findProject(file)
		if err != nil {
			return err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return err
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		ended, err := projectrun.Down(cmd.Context(), b.client, dir, args, remove)
		if err != nil {
			return err
		}
		return a.Print(ended, func(w io.Writer) {
			for _, e := range ended {
				what := "ended"
				switch {
				case e.Removed:
					what = "removed"
				case e.HadEnded:
					what = "already ended; automatic restart canceled"
				}
				fmt.Fprintf(w, "%s %s\n", e.SessionName, what)
			}
		})
	}
	projectFlag(c, &file)
	c.Flags().BoolVar(&remove, "rm", false, "removal of the sessions and their history")
}
