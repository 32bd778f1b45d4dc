package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/bench"
)

func benchCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "bench", Short: "Measure longterm on this machine"}
	for _, b := range bench.Benches {
		c.AddCommand(b(&bench.Program{Printer: &a.Printer, Version: version, KeeperArgv: keeperArgv}))
	}
	return c
}
