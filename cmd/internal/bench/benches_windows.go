package bench

import "github.com/spf13/cobra"

// Benches are what can be measured here.
var Benches = []func(*Program) *cobra.Command{emulatorCommand, policyCommand, docsCommand}

// UntilLeft is of benches that start what outlives them; those here do not.
func UntilLeft(c *cobra.Command) *cobra.Command { return c }
