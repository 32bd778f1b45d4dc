//go:build unix

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/doctor"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
)

func doctorVerb(a *app, c *cobra.Command) {
	var journals, repair, terminal bool
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if terminal {
			return termio.Reset(a.stdin, os.Stdout)
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		d := &doctor.Doctor{Printer: &a.Printer, Dirs: b.dirs, Quiet: b.quiet, Version: version}
		if journals || repair {
			return d.Journals(cmd.Context(), repair)
		}
		return d.Examine(cmd.Context())
	}
	c.Flags().BoolVar(&journals, "journal", false, "check every session's history for damage")
	c.Flags().BoolVar(&repair, "repair", false, "repair damaged histories; the daemon must be stopped (longterm daemon stop; sessions keep running)")
	c.Flags().BoolVar(&terminal, "terminal", false, "reset this terminal: modes, screen, colours and keyboard")
}
