package bench

import "github.com/spf13/cobra"

// Benches lists the benches available on this system.
var Benches = []func(*Program) *cobra.Command{emulatorCommand, policyCommand, docsCommand}

// CleanUpOnHangup returns c unchanged: benches on Windows start nothing that outlives them.
func CleanUpOnHangup(c *cobra.Command) *cobra.Command { return c }
