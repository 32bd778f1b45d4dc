package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/bench"
)

func benchVerb(a *app, c *cobra.Command) {

	for _, b := range bench.Benches {
		c.AddCommand(bench.UntilLeft(b(&bench.Program{Printer: &a.Printer, Version: version, KeeperArgv: keeperArgv})))
	}
}
