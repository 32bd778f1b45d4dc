//go:build unix

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/projectrun"
)

func statusVerb(a *app, c *cobra.Command) {
	var file string
	c.Long = `Show for each session of this directory's project whether it is running, ready and up to date with the project file.
Running sessions that the file no longer lists come last. Nothing is started.

  longterm status

The exit status is 0 if all sessions of the file are ready, else 1.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := a.project(cmd.Context(), file, nil)
		if err != nil {
			return err
		}
		states, err := r.Status(cmd.Context())
		if err != nil {
			return err
		}
		up := func(s projectrun.State) bool { return s.Ready || s.RestartPending || s.State == "running" }
		err = a.Print(states, func(w io.Writer) {
			writeStates(w, states, a.TableLook())
			if !slices.ContainsFunc(states, up) {
				fmt.Fprintln(w, "not running; start it with `longterm up`")
			}
		})
		if err == nil && slices.ContainsFunc(states, func(s projectrun.State) bool { return !s.Ready && !s.Unlisted }) {
			err = exit.Silent(1) // the status is the answer, not an error
		}
		return err
	}
	projectFlag(c, &file)
}
