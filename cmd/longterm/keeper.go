//go:build unix

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/keeping"
)

// keeperVerb is the keeper's process, which is started by clients, never by hand. Package keeping has run it by now, unless its
// command line is not as ours are, or a test wants it here.
func keeperVerb(a *app, c *cobra.Command) {
	c.DisableFlagParsing = true
	c.RunE = func(_ *cobra.Command, args []string) error {
		l, err := keeping.Parse(args)
		if err != nil {
			return exit.Usage(err)
		}
		return l.Run(openPTY)
	}
}

// openPTY is what keepers open terminals with; nil: the system's. Tests replace it.
var openPTY func() (master, slave *os.File, err error)
