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
	c.Long = `Check the daemon, keepers, configuration, rules, journals and disk, and print each problem with its fix.

  longterm doctor
  longterm doctor --terminal      # repair this terminal after a crash`
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
	c.Flags().BoolVar(&journals, "journal", false, "damage check of every session's history")
	c.Flags().BoolVar(&repair, "repair", false, "repair of damaged histories; stop the daemon first (longterm daemon stop; sessions keep running)")
	c.Flags().BoolVar(&terminal, "terminal", false, "reset of this terminal: modes, screen, colours and keyboard")
}
