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
	c.Long = `End the sessions that up started for this directory's project: those that are named, or all, the youngest first, also
those that its file does not name any more. What comes after one that is named goes on. Their history stays, and up starts
them again below it; --rm removes it, and what up --replace put aside.`
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
				case e.Before:
					what = "had ended, and is not started again"
				}
				fmt.Fprintf(w, "%s %s\n", e.Called, what)
			}
		})
	}
	projectFlag(c, &file)
	c.Flags().BoolVar(&remove, "rm", false, "remove the sessions and their history, too")
}
