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
	c.Long = `Say how the sessions of this directory's project are: whether they run, are ready, and are as its file says.
Those that run and that the file does not have any more are listed last. Nothing is started. The exit status is 0 if all
that the file has are ready, else 1.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := a.project(cmd.Context(), file, nil)
		if err != nil {
			return err
		}
		states, err := r.Status(cmd.Context())
		if err != nil {
			return err
		}
		up := func(s projectrun.State) bool { return s.Ready || s.Returns || s.State == "running" }
		err = a.Print(states, func(w io.Writer) {
			writeStates(w, states)
			if !slices.ContainsFunc(states, up) {
				fmt.Fprintln(w, "not up; `longterm up` starts it")
			}
		})
		if err == nil && slices.ContainsFunc(states, func(s projectrun.State) bool { return !s.Ready && !s.Unlisted }) {
			err = exit.Silent(1) // that is an answer, and no failure to give one
		}
		return err
	}
	projectFlag(c, &file)
}
