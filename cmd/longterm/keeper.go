//go:build unix

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/keepermain"
)

// keeperVerb returns the hidden verb that runs a keeper; clients start it. Package keepermain has normally run it
// before main, unless the command line has an unusual form or a test calls it here.
func keeperVerb(a *app, c *cobra.Command) {
	c.DisableFlagParsing = true
	c.RunE = func(_ *cobra.Command, args []string) error {
		l, err := keepermain.Parse(args)
		if err != nil {
			return exit.Usage(err)
		}
		return l.Run(openPTY)
	}
}

// openPTY opens the terminals of keepers; nil means the system's. Tests replace it.
var openPTY func() (master, slave *os.File, err error)
